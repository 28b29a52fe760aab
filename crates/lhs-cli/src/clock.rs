//! When and by which command something was begun, for whoever reads the results later.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The present time as RFC 3339 has it, in UTC.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    rfc3339(seconds)
}

fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day, so many days after 1970 began.
fn date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

/// The command as it was typed. Of a script that hosts the command line, the arguments of the process are others.
static TYPED: OnceLock<String> = OnceLock::new();

/// Remembers the command, whose first argument is the name of the program.
pub fn remember(args: &[OsString]) {
    let words = args.iter().skip(1).map(|word| quoted(&word.to_string_lossy()));
    let typed = std::iter::once("lhs".to_string()).chain(words).collect::<Vec<_>>().join(" ");
    // A second command of one process would be as good a name for what the first has left.
    let _ = TYPED.set(typed);
}

/// The command as it was typed, quoted so that a shell reads it the same.
pub fn command() -> String {
    TYPED.get().cloned().unwrap_or_default()
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_by_the_calendar() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(rfc3339(1_767_225_599), "2025-12-31T23:59:59Z");
        assert_eq!(rfc3339(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        assert_eq!(
            ["a.npz", "", "two words", "it's"].map(quoted),
            ["a.npz", "''", "'two words'", r"'it'\''s'"]
        );
    }
}
