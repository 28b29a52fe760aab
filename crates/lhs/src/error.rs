//! Errors that let the user fix what is wrong: they carry the file, the place in it and the remedy.

use std::io;
use std::path::{Path, PathBuf};

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, with the values needed to mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file holds something that cannot be used.
    #[error("{}{}: {problem}{}", file.display(), at(place), hint(remedy))]
    Input {
        /// The file as the user named it.
        file: PathBuf,
        /// Where in the file: `line 812`, `member node_features`; may be empty.
        place: String,
        /// What is wrong there.
        problem: String,
        /// What to do about it; may be empty.
        remedy: String,
    },
    /// Data handed over in memory, or already read, that cannot be used.
    #[error("{problem}{}", hint(remedy))]
    Data {
        /// What is wrong.
        problem: String,
        /// What to do about it; may be empty.
        remedy: String,
    },
    /// A setting that does not exist or has a value out of range.
    #[error("setting `{key}`: {problem}{}", hint(remedy))]
    Setting {
        /// The dotted path of the setting.
        key: String,
        /// What is wrong with it.
        problem: String,
        /// What to do about it; may be empty.
        remedy: String,
    },
    /// The loss of a training left the numbers: other settings may help.
    #[error("training diverged in epoch {epoch} of {stage}: the loss is {loss}{}", hint(DIVERGED))]
    Diverged {
        /// Which part of the training.
        stage: String,
        /// Counted from 0.
        epoch: usize,
        /// What became of the loss.
        loss: f32,
    },
    /// The operating system refused to read or write.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done: `read`, `write`, `create`.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The network or the server behind an address failed.
    #[error("{url}: {problem}{}", hint(remedy))]
    Network {
        /// The address asked for.
        url: String,
        /// What happened.
        problem: String,
        /// What to do about it; may be empty.
        remedy: String,
    },
    /// The user asked to stop; what was finished is saved.
    #[error("interrupted{}", hint(remedy))]
    Interrupted {
        /// How to go on.
        remedy: String,
    },
}

/// What to do when training diverges.
const DIVERGED: &str = "lower the learning rate (setting `training.learning_rate`), for example to 0.001";

fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(": {place}") }
}

fn hint(remedy: &str) -> String {
    if remedy.is_empty() { String::new() } else { format!("\n  hint: {remedy}") }
}

/// A remedy for a name that does not exist: the nearest that does, or all of them.
pub fn nearest(wrong: &str, names: &[&str]) -> String {
    let best = names.iter().max_by(|a, b| {
        strsim::jaro_winkler(wrong, a).total_cmp(&strsim::jaro_winkler(wrong, b)).then(b.cmp(a))
    });
    match best {
        Some(name) if strsim::jaro_winkler(wrong, name) > 0.75 => format!("did you mean `{name}`?"),
        _ => format!("choose one of: {}", names.join(", ")),
    }
}

/// Names so like a wrong one that it may be a slip of the finger, the likest first.
pub fn near<'a>(wrong: &str, names: &'a [String], most: usize) -> Vec<&'a str> {
    const SLIP: f64 = 0.9;
    let likeness = names.iter().map(|name| (strsim::jaro_winkler(wrong, name), name.as_str()));
    let mut found: Vec<(f64, &str)> = likeness.filter(|(likeness, _)| *likeness >= SLIP).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

impl Error {
    /// A problem in a file, at a place, with its remedy.
    pub fn input(
        file: impl Into<PathBuf>,
        place: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Input {
            file: file.into(),
            place: place.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// A problem in data that has no file of its own.
    pub fn data(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Data { problem: problem.into(), remedy: remedy.into() }
    }

    /// A setting that cannot be used.
    pub fn setting(key: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Setting { key: key.into(), problem: problem.into(), remedy: remedy.into() }
    }

    /// A failed system call, for use with `map_err(Error::io("read", path))`.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Error::Io { path, action, source }
    }

    /// Names the file that the data came from, where the error does not name one yet.
    pub fn in_file(self, file: &Path) -> Self {
        match self {
            Error::Data { problem, remedy } => Error::input(file, "", problem, remedy),
            other => other,
        }
    }

    /// Whether other input or settings would help: false when the machine failed, or somebody asked to stop.
    pub fn can_be_mended(&self) -> bool {
        match self {
            Error::Input { .. } | Error::Data { .. } | Error::Setting { .. } | Error::Diverged { .. } => true,
            Error::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Error::Network { .. } | Error::Interrupted { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_error_names_file_place_and_remedy() {
        let error = Error::input("edges.csv", "line 812", "node 2709 out of range", "renumber it");
        assert_eq!(error.to_string(), "edges.csv: line 812: node 2709 out of range\n  hint: renumber it");
        assert!(error.can_be_mended());
    }

    #[test]
    fn the_nearest_name_is_offered() {
        assert_eq!(nearest("dropuot", &["dropout", "hidden"]), "did you mean `dropout`?");
        assert_eq!(nearest("xyz", &["gcn", "mlp"]), "choose one of: gcn, mlp");
    }

    #[test]
    fn only_slips_of_the_finger_are_near() {
        let names = ["account-17", "account-71", "shop"].map(String::from);
        assert_eq!(near("acount-17", &names, 1), ["account-17"]);
        assert!(near("zebra", &names, 3).is_empty());
    }

    #[test]
    fn data_errors_learn_their_file_once() {
        let error = Error::data("one class only", "").in_file(Path::new("a.npz"));
        assert_eq!(error.to_string(), "a.npz: one class only");
        let again = error.in_file(Path::new("b.npz"));
        assert_eq!(again.to_string(), "a.npz: one class only");
    }
}
