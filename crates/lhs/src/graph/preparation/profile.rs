//! What a raw column holds: counted in one pass, so that the column need not be kept.

use std::collections::HashMap;

use super::{Gaps, Missing, PreparationConfig, Rule, SKEWED, Scale, Scaling, Written, times};
use crate::error::{Error, Result};

/// More different words than this are not counted any further.
const MOST_WORDS: usize = 100_000;
/// From this share on, a column is one of numbers, and the rest are slips.
const MOSTLY: f64 = 0.9;
/// After so many numbers without anything else, a column is one of numbers.
const SURELY: usize = 1000;
/// Fewer values say nothing about what a column is.
const ENOUGH: usize = 10;

/// A cell of a raw column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raw<'a> {
    /// There is nothing.
    Gap,
    /// A number.
    Number(f64),
    /// A text, which may be a number.
    Text(&'a str),
}

impl<'a> Raw<'a> {
    /// A cell of a text table.
    pub fn of(text: &'a str) -> Self {
        if is_gap(text) { Raw::Gap } else { Raw::Text(text) }
    }
}

/// Whether a text says that nothing is known.
pub fn is_gap(text: &str) -> bool {
    const GAPS: [&str; 10] = ["", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "\\n", "?"];
    GAPS.iter().any(|gap| text.eq_ignore_ascii_case(gap))
}

/// What a raw column holds.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Cells without a value.
    pub gaps: usize,
    /// The row of the first of them.
    pub first_gap: u64,
    /// Cells with a value.
    filled: usize,
    /// Of these, those that are 0.
    pub zeros: usize,
    plain: Moments,
    comma: Moments,
    /// Numbers like 1,234, of which nobody knows whether they are large.
    grouped: usize,
    time: Moments,
    ambiguous_days: usize,
    /// Whether its numbers are names.
    holds_names: bool,
    words: HashMap<String, usize>,
    too_many_words: bool,
    /// The first cell that is neither a number nor a time.
    odd: Option<(u64, String)>,
    /// The first number too large to compute with.
    infinite: Option<(u64, String)>,
}

/// What is done to a column.
pub(super) enum Decision {
    Read(Rule),
    LeaveOut(String),
}

/// Count, mean and higher moments, updated value by value, and whether there are more than two values.
#[derive(Clone, Debug, Default)]
struct Moments {
    count: usize,
    mean: f64,
    second: f64,
    third: f64,
    /// The first two values.
    values: [Option<f64>; 2],
    more: bool,
}

impl Moments {
    fn add(&mut self, value: f64) {
        let before = self.count as f64;
        self.count += 1;
        let n = self.count as f64;
        let delta = value - self.mean;
        let step = delta / n;
        let term = delta * step * before;
        self.mean += step;
        self.third += term * step * (n - 2.0) - 3.0 * step * self.second;
        self.second += term;
        match self.values {
            [None, _] => self.values[0] = Some(value),
            [Some(first), None] if first != value => self.values[1] = Some(value),
            [Some(first), Some(second)] if first != value && second != value => self.more = true,
            _ => {}
        }
    }

    fn deviation(&self) -> f64 {
        (self.second / self.count.max(1) as f64).sqrt()
    }

    fn skewness(&self) -> f64 {
        let deviation = self.deviation();
        if deviation > 0.0 { self.third / self.count.max(1) as f64 / deviation.powi(3) } else { 0.0 }
    }
}

impl Profile {
    /// Of a column whose numbers are names, or not.
    pub fn new(holds_names: bool) -> Self {
        Profile { holds_names, ..Profile::default() }
    }

    /// Counts a cell; `row` says where it stands.
    pub fn observe(&mut self, raw: Raw<'_>, row: u64) {
        match raw {
            Raw::Gap => {
                if self.gaps == 0 {
                    self.first_gap = row;
                }
                self.gaps += 1;
            }
            Raw::Number(number) => self.number(number, row),
            Raw::Text(text) => self.text(text, row),
        }
    }

    fn number(&mut self, number: f64, row: u64) {
        self.filled += 1;
        self.zeros += usize::from(number == 0.0);
        if number.is_finite() && number.abs() <= f64::from(f32::MAX) {
            self.plain.add(number);
        } else {
            self.infinite.get_or_insert((row, number.to_string()));
        }
    }

    fn text(&mut self, text: &str, row: u64) {
        let number = text.parse::<f64>();
        // Words that also are numbers to a program, such as `infinity`, begin with a letter.
        if let Ok(number) = number
            && text.bytes().any(|byte| byte.is_ascii_digit())
        {
            self.number(number, row);
        } else {
            self.filled += 1;
            if number.is_ok() {
                self.infinite.get_or_insert((row, text.to_string()));
            } else if let Some(number) = comma_number(text) {
                self.comma.add(number);
                self.grouped += usize::from(is_grouped(text));
                self.odd.get_or_insert((row, text.to_string()));
            } else if let Some(seconds) = times::seconds(text) {
                self.time.add(seconds);
            } else {
                self.ambiguous_days += usize::from(times::is_ambiguous(text));
                self.odd.get_or_insert((row, text.to_string()));
            }
        }
        // A column of numbers alone needs no list of them.
        if self.filled <= SURELY || self.odd.is_some() || self.holds_names {
            self.word(text);
        }
    }

    fn word(&mut self, text: &str) {
        if let Some(count) = self.words.get_mut(text) {
            *count += 1;
        } else if self.words.len() < MOST_WORDS {
            self.words.insert(text.to_string(), 1);
        } else {
            self.too_many_words = true;
        }
    }

    /// Cells with a value.
    pub fn values(&self) -> usize {
        self.filled
    }

    /// Whether all values are numbers.
    pub fn is_numeric(&self) -> bool {
        self.filled > 0 && self.plain.count == self.filled
    }

    pub(super) fn rule(&self, name: &str, config: &PreparationConfig, scale: Scale) -> Result<Decision> {
        if self.filled == 0 {
            return Ok(Decision::LeaveOut("it is empty".into()));
        }
        if self.holds_names {
            return Ok(self.words(config));
        }
        if let Some((row, text)) = &self.infinite {
            return Err(wrong(name, *row, text, "is not a finite number", "write numbers like 0.5 or -3e2"));
        }
        if self.plain.count == self.filled {
            return Ok(Decision::Read(self.numbers(&self.plain, Written::Plain, config, scale)));
        }
        if self.time.count == self.filled {
            return Ok(Decision::Read(self.numbers(&self.time, Written::Time, config, scale)));
        }
        if self.comma.count > 0 && self.plain.count + self.comma.count == self.filled {
            return self.comma_numbers(name, config, scale);
        }
        let numbers = self.plain.count + self.comma.count + self.time.count;
        if self.filled >= ENOUGH && numbers as f64 >= MOSTLY * self.filled as f64 {
            let (row, text) = self.odd.clone().unwrap_or_default();
            let remedy = "write numbers like 0.5 and gaps as nothing, or name the column among those whose numbers are \
                          names (`as_words`)";
            return Err(wrong(name, row, &text, "stands among numbers", remedy));
        }
        if self.filled >= ENOUGH && self.ambiguous_days as f64 >= MOSTLY * self.filled as f64 {
            let (row, text) = self.odd.clone().unwrap_or_default();
            let remedy = "write days like 2026-01-31, or ignore the column";
            return Err(wrong(
                name,
                row,
                &text,
                "is a day, and nobody knows which part is the month",
                remedy,
            ));
        }
        Ok(self.words(config))
    }

    fn comma_numbers(&self, name: &str, config: &PreparationConfig, scale: Scale) -> Result<Decision> {
        if self.grouped == self.comma.count {
            let (row, text) = self.odd.clone().unwrap_or_default();
            let remedy = "write it as 1234 or as 1.234, whichever is meant";
            return Err(wrong(name, row, &text, "may be above a thousand or about one", remedy));
        }
        // Those without a comma are numbers, too.
        let mut all = self.comma.clone();
        let share = self.plain.count as f64 / self.filled as f64;
        let mean = share * self.plain.mean + (1.0 - share) * self.comma.mean;
        let between = self.plain.count as f64 * (self.plain.mean - mean).powi(2)
            + self.comma.count as f64 * (self.comma.mean - mean).powi(2);
        all.second += self.plain.second + between;
        (all.count, all.mean, all.more) = (self.filled, mean, true);
        Ok(Decision::Read(self.numbers(&all, Written::DecimalComma, config, scale)))
    }

    fn numbers(&self, moments: &Moments, written: Written, config: &PreparationConfig, scale: Scale) -> Rule {
        let deviation = moments.deviation();
        let standard = Scaling::Standard {
            mean: moments.mean,
            deviation: if deviation > 0.0 { deviation } else { 1.0 },
        };
        let rank = Scaling::Rank { quantiles: Vec::new() };
        let scale = match scale {
            // Seconds since 1970 do not fit into single precision.
            _ if written == Written::Time && scale == Scale::None => standard,
            Scale::None => Scaling::None,
            Scale::Standard => standard,
            Scale::Rank => rank,
            Scale::Auto if !moments.more => Scaling::None,
            Scale::Auto if moments.skewness().abs() > SKEWED => rank,
            Scale::Auto => standard,
        };
        let fill = match config.missing {
            Missing::Error => None,
            Missing::Mean | Missing::Flag => Some(moments.mean),
            // To be completed.
            Missing::Median => Some(f64::NAN),
            Missing::Zero => Some(0.0),
        };
        Rule::Number { written, fill, flag: config.missing == Missing::Flag && self.gaps > 0, scale }
    }

    fn words(&self, config: &PreparationConfig) -> Decision {
        let distinct = self.words.len();
        if distinct > config.categories
            && self.filled >= ENOUGH
            && (self.too_many_words || 2 * distinct > self.filled)
        {
            return Decision::LeaveOut(format!(
                "{} of its {} values are different, so it names the rows instead of describing them",
                if self.too_many_words { format!("more than {distinct}") } else { distinct.to_string() },
                self.filled
            ));
        }
        let mut counted: Vec<(&String, usize)> =
            self.words.iter().map(|(word, count)| (word, *count)).collect();
        counted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let mut values: Vec<String> =
            counted.iter().take(config.categories).map(|(word, _)| word.to_string()).collect();
        values.sort();
        let gaps = match config.missing {
            Missing::Error => Gaps::Refused,
            Missing::Flag if self.gaps > 0 => Gaps::Feature,
            _ => Gaps::NoWord,
        };
        Decision::Read(Rule::Words { values, other: distinct > config.categories, gaps })
    }
}

fn wrong(name: &str, row: u64, text: &str, problem: &str, remedy: &str) -> Error {
    Error::data(format!("row {row}, column `{name}`: `{text}` {problem}"), remedy)
}

/// The number that a text with one comma between digits is.
fn comma_number(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once(',')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(part) || !digits(whole.strip_prefix(['-', '+']).unwrap_or(whole)) {
        return None;
    }
    Written::DecimalComma.read(text)
}

/// Whether a number with a comma may as well be one of thousands.
fn is_grouped(text: &str) -> bool {
    text.split_once(',').is_some_and(|(whole, part)| part.len() == 3 && whole.len() <= 4)
}
