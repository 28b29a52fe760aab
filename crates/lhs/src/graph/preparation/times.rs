//! Days and times as people write them, in seconds since 1970.

/// The seconds of `2026-01-31`, `2026-01-31 12:00`, `2026-01-31T12:00:00.5Z`, `2026/01/31` or `…+02:00`; a time without a zone is
/// taken for universal time. Days like `31.01.2026` or `01/02/2026` are not read: nobody knows which is the month.
pub fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let (day, rest) = text.split_at_checked(10)?;
    let days = days(day)?;
    let rest = rest.strip_prefix(['T', 't', ' ']).map(str::trim_start);
    let clock = match rest {
        None if text.len() == 10 => return Some(days * 86_400.0),
        None => return None,
        Some(clock) => clock,
    };
    let (clock, offset) = split_zone(clock)?;
    let mut parts = clock.split(':');
    let hours: f64 = whole(parts.next()?, 23)?;
    let minutes: f64 = whole(parts.next()?, 59)?;
    let seconds = match parts.next() {
        None => 0.0,
        Some(text) => {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            text.parse().ok().filter(|seconds: &f64| plain && (0.0..61.0).contains(seconds))?
        }
    };
    if parts.next().is_some() {
        return None;
    }
    Some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds - offset)
}

/// Whether a text is a day whose order nobody knows.
pub fn is_ambiguous(text: &str) -> bool {
    let day = text.split([' ', 'T']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split(['.', '/', '-']).collect();
    let digits = |part: &&str, most: usize| {
        (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    matches!(&parts[..], [a, b, c] if digits(a, 2) && digits(b, 2) && digits(c, 4) && c.len() != 1 && c.len() != 3)
}

/// A time as text, to the second, in universal time.
pub fn text(seconds: f64) -> String {
    let whole = seconds.floor() as i64;
    let (days, clock) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    // The civil calendar from a count of days, in eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hours, minutes, seconds) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
}

/// The clock and the seconds by which it is ahead of universal time.
fn split_zone(clock: &str) -> Option<(&str, f64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock.trim_end(), 0.0));
    }
    let clock = clock.strip_suffix(" UTC").unwrap_or(clock);
    let Some(place) = clock.rfind(['+', '-']) else { return Some((clock, 0.0)) };
    let (clock, zone) = clock.split_at(place);
    let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (whole(&digits, 23)?, 0.0),
        4 => (whole(&digits[..2], 23)?, whole(&digits[2..], 59)?),
        _ => return None,
    };
    Some((clock.trim_end(), sign * (hours * 3600.0 + minutes * 60.0)))
}

fn whole(text: &str, most: u32) -> Option<f64> {
    let plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&number: &u32| plain && number <= most).map(f64::from)
}

/// Days since 1970 of `2026-01-31` or `2026/01/31`.
fn days(text: &str) -> Option<f64> {
    let separator = *text.as_bytes().get(4)?;
    if separator != b'-' && separator != b'/' {
        return None;
    }
    let mut parts = text.split(char::from(separator));
    let number = |part: Option<&str>, length: usize| -> Option<i64> {
        let part = part.filter(|part| part.len() == length && part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse().ok()
    };
    let (year, month, day) = (number(parts.next(), 4)?, number(parts.next(), 2)?, number(parts.next(), 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month - 1).ok()?)?;
    if parts.next().is_some() || !(1..=length).contains(&day) {
        return None;
    }
    // Days before the year, in a calendar whose years begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some((era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        for (written, expected) in [
            ("1970-01-01", 0.0),
            ("2026-11-18", 1_794_960_000.0),
            ("2026/11/18 00:00", 1_794_960_000.0),
            ("2026-11-18T01:02:03Z", 1_794_963_723.0),
            ("2026-11-18T01:02:03.5+01:00", 1_794_960_123.5),
            ("2024-02-29 12:00:00 UTC", 1_709_208_000.0),
            ("1969-12-31T23:59:59", -1.0),
        ] {
            assert_eq!(seconds(written), Some(expected), "{written}");
        }
        for wrong in [
            "",
            "2026-13-01",
            "2026-02-29",
            "18.11.2026",
            "2026-11-18x",
            "2026-11-18T25:00",
            "20261118",
            "2026-11-18T1",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn text_reads_back() {
        for time in [0.0, 1_794_963_723.0, -1.0, 951_782_400.0, 4_102_444_799.0] {
            assert_eq!(seconds(&text(time)), Some(time));
        }
        assert_eq!(text(951_782_400.0), "2000-02-29T00:00:00Z");
    }

    #[test]
    fn days_of_unknown_order_are_seen() {
        for day in ["31.01.2026", "1/2/26", "01-02-2026", "01/02/2026 12:00"] {
            assert!(is_ambiguous(day), "{day}");
        }
        for other in ["2026-01-31", "1.5", "a/b/c", "1/2", "1.2.3.4"] {
            assert!(!is_ambiguous(other), "{other}");
        }
    }
}
