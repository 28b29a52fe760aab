//! The suites that come with the binary. To ship another, put it into `suites/` and name it here.

/// Name of a suite, and its text.
pub const SUITES: &[(&str, &str)] = &[
    ("clean", include_str!("../../suites/clean.toml")),
    ("methods", include_str!("../../suites/methods.toml")),
    ("defaults", include_str!("../../suites/defaults.toml")),
    ("evasion", include_str!("../../suites/evasion.toml")),
    ("resilience", include_str!("../../suites/resilience.toml")),
    ("poisoning", include_str!("../../suites/poisoning.toml")),
    ("clustering", include_str!("../../suites/clustering.toml")),
    ("right_shift", include_str!("../../suites/right_shift.toml")),
    ("ablation", include_str!("../../suites/ablation.toml")),
    ("smoke", include_str!("../../suites/smoke.toml")),
];

/// The text of a shipped suite.
pub fn suite(name: &str) -> Option<&'static str> {
    SUITES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Suite;
    use std::path::Path;

    #[test]
    fn all_shipped_suites_can_be_read() {
        for (name, text) in SUITES {
            let suite = Suite::parse(text, Path::new(name)).unwrap();
            assert!(!suite.title.is_empty());
        }
    }
}
