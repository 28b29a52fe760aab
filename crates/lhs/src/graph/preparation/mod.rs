//! How raw columns, with gaps, words and amounts, become features; kept, so that other data is treated alike.
//!
//! A [`Profile`] says what a raw column holds; [`Preparation::fit`] decides what is done to each; a [`ColumnRule`] does it, to
//! the data that it was fitted on and to any other. Scaled numbers are rounded to 1/4096: whether an amount
//! is in euros or in cents then changes no bit.

mod profile;
pub mod times;

use serde::{Deserialize, Serialize};

use super::Features;
use crate::error::{Error, Result};
use crate::linalg::Mat;
pub use profile::{Profile, Raw, is_gap};

/// Steps in which scaled numbers are kept.
const STEPS: f64 = 4096.0;
/// Numbers at evenly spaced ranks that a scaling by rank keeps, at most.
const LANDMARKS: usize = 257;
/// Beyond this skewness, ranks say more than distances.
const SKEWED: f64 = 2.0;

/// What becomes of gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// The column's mean stands in them.
    Mean,
    /// The column's median stands in them.
    Median,
    /// A zero stands in them.
    Zero,
    /// The column's mean stands in them, and a feature of their own says where they are.
    Flag,
}

/// How numbers are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Columns of measured numbers to mean 0 and deviation 1, very skewed ones by rank; two-valued columns and sparse
    /// data stay as they are.
    #[default]
    Auto,
    /// To mean 0 and deviation 1.
    Standard,
    /// By rank.
    Rank,
    /// Not at all.
    None,
}

/// What to do with raw columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PreparationConfig {
    /// What becomes of gaps.
    pub missing: Missing,
    /// Words of a column with a feature of their own, at most; the others share one.
    pub categories: usize,
    /// Columns whose numbers are names, such as postal codes.
    pub as_words: Vec<String>,
    /// How numbers are scaled.
    pub scale: Scale,
}

impl Default for PreparationConfig {
    fn default() -> Self {
        PreparationConfig {
            missing: Missing::default(),
            categories: 32,
            as_words: Vec::new(),
            scale: Scale::default(),
        }
    }
}

/// What is done to each raw column, in the order of the features that come of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// The columns that are read.
    pub columns: Vec<ColumnRule>,
    /// Columns that were there and are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What is done to a raw column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnRule {
    /// What the column is called.
    pub name: String,
    /// What is done to it.
    #[serde(flatten)]
    pub rule: Rule,
}

/// What can be done to a raw column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Rule {
    /// It holds numbers.
    Number {
        /// How they are written.
        #[serde(default)]
        written: Written,
        /// What stands in a gap; without it a gap is an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<f64>,
        /// Whether a second feature says where the gaps are.
        #[serde(default)]
        flag: bool,
        /// How the numbers are scaled.
        scale: Scaling,
    },
    /// It holds words: a feature for each of them, 1 where it stands.
    Words {
        /// Those with a feature of their own.
        values: Vec<String>,
        /// Whether a feature stands for all others, also those that were never seen.
        other: bool,
        /// What a gap is: an error, no word at all, or a feature of its own.
        gaps: Gaps,
    },
}

/// How numbers are written in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    /// Like 3.5.
    #[default]
    Plain,
    /// Like 3,5.
    DecimalComma,
    /// As days or times like 2026-01-31 or 2026-01-31T12:00:00Z; they count in seconds since 1970.
    Time,
}

/// What gaps among words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// Not allowed.
    Refused,
    /// No word at all.
    NoWord,
    /// A feature of their own.
    Feature,
}

/// How numbers are scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// As they are.
    None,
    /// To mean 0 and deviation 1.
    Standard {
        /// What is taken off.
        mean: f64,
        /// What is divided by.
        deviation: f64,
    },
    /// To their rank among the numbers that were learned from, spread evenly over -1..=1.
    Rank {
        /// Numbers at evenly spaced ranks, ascending.
        quantiles: Vec<f64>,
    },
}

/// Why a cell cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is empty, and nothing says what should stand there.
    Gap,
    /// It is not a number.
    NotANumber,
}

impl Scaling {
    fn apply(&self, number: f64) -> f32 {
        let scaled = match self {
            Scaling::None => return number as f32,
            Scaling::Standard { mean, deviation } => (number - mean) / deviation,
            Scaling::Rank { quantiles } => rank(number, quantiles),
        };
        // Far away is far away: beyond this, steps of 1/4096 have no meaning in single precision.
        ((scaled.clamp(-1e4, 1e4) * STEPS).round() / STEPS) as f32
    }
}

/// Where a number stands among ascending landmarks, -1..=1; of equal landmarks, in their middle.
fn rank(number: f64, quantiles: &[f64]) -> f64 {
    let last = quantiles.len().saturating_sub(1).max(1) as f64;
    let below = quantiles.partition_point(|&q| q < number);
    let until = quantiles.partition_point(|&q| q <= number);
    let place = if until > below {
        (below + until - 1) as f64 / 2.0
    } else if below == 0 {
        0.0
    } else if below == quantiles.len() {
        last
    } else {
        let (low, high) = (quantiles[below - 1], quantiles[below]);
        (below - 1) as f64 + (number - low) / (high - low)
    };
    2.0 * place / last - 1.0
}

impl ColumnRule {
    /// How many features come of the column.
    pub fn width(&self) -> usize {
        match &self.rule {
            Rule::Number { flag, .. } => 1 + usize::from(*flag),
            Rule::Words { values, other, gaps } => {
                values.len() + usize::from(*other) + usize::from(*gaps == Gaps::Feature)
            }
        }
    }

    /// The names of these features.
    pub fn names(&self) -> Vec<String> {
        let name = &self.name;
        match &self.rule {
            Rule::Number { flag: false, .. } => vec![name.clone()],
            Rule::Number { flag: true, .. } => vec![name.clone(), format!("{name} (missing)")],
            Rule::Words { values, other, gaps } => {
                let mut names: Vec<String> = values.iter().map(|value| format!("{name}={value}")).collect();
                names.extend(other.then(|| format!("{name} (other)")));
                names.extend((*gaps == Gaps::Feature).then(|| format!("{name} (missing)")));
                names
            }
        }
    }

    /// Writes the features of a cell; `out` is as wide as [`ColumnRule::width`] says.
    pub fn write(&self, raw: Raw<'_>, out: &mut [f32]) -> Result<(), Refused> {
        out.fill(0.0);
        match &self.rule {
            Rule::Number { written, fill, flag, scale } => {
                let number = match raw {
                    Raw::Gap => {
                        if *flag {
                            out[1] = 1.0;
                        }
                        fill.ok_or(Refused::Gap)?
                    }
                    Raw::Number(number) => number,
                    Raw::Text(text) => written.read(text).ok_or(Refused::NotANumber)?,
                };
                out[0] = scale.apply(number);
                if out[0].is_finite() { Ok(()) } else { Err(Refused::NotANumber) }
            }
            Rule::Words { values, other, gaps } => {
                let text = match raw {
                    Raw::Gap => {
                        return match gaps {
                            Gaps::Refused => Err(Refused::Gap),
                            Gaps::NoWord => Ok(()),
                            Gaps::Feature => {
                                out[out.len() - 1] = 1.0;
                                Ok(())
                            }
                        };
                    }
                    Raw::Number(number) => &number.to_string(),
                    Raw::Text(text) => text,
                };
                match values.binary_search_by(|value| value.as_str().cmp(text)) {
                    Ok(place) => out[place] = 1.0,
                    Err(_) if *other => out[values.len()] = 1.0,
                    Err(_) => {}
                }
                Ok(())
            }
        }
    }

    /// Whether a word is one that was seen before; numbers always are.
    pub fn knows(&self, text: &str) -> bool {
        match &self.rule {
            Rule::Number { .. } => true,
            Rule::Words { values, .. } => values.binary_search_by(|value| value.as_str().cmp(text)).is_ok(),
        }
    }
}

impl Written {
    /// The number that a text is.
    pub fn read(self, text: &str) -> Option<f64> {
        match self {
            Written::Plain => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Written::DecimalComma => {
                let plain = if text.contains(',') { text.replacen(',', ".", 1) } else { text.to_string() };
                plain.parse().ok().filter(|number: &f64| number.is_finite())
            }
            Written::Time => times::seconds(text),
        }
    }
}

/// What was decided, and what the user should hear of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// What is done to each column; complete unless [`Preparation::wants_values`] names some.
    pub preparation: Preparation,
    /// Remarks.
    pub notes: Vec<String>,
}

impl Preparation {
    /// Decides what is done to columns with these names and profiles.
    pub fn fit(columns: &[(String, Profile)], config: &PreparationConfig) -> Result<Fitted> {
        refuse_gaps(columns, config)?;
        let scale = scale_for(columns, config);
        let mut fitted = Fitted { preparation: Preparation::default(), notes: Vec::new() };
        for (name, profile) in columns {
            match profile.rule(name, config, scale)? {
                profile::Decision::Read(rule) => {
                    fitted.preparation.columns.push(ColumnRule { name: name.clone(), rule });
                }
                profile::Decision::LeaveOut(why) => {
                    fitted.preparation.left_out.push(name.clone());
                    fitted.notes.push(format!("column `{name}` is left out: {why}"));
                }
            }
        }
        fitted.notes.extend(fitted.preparation.in_words());
        Ok(fitted)
    }

    /// The columns whose values must be seen before the preparation is complete: for ranks and medians.
    pub fn wants_values(&self) -> Vec<usize> {
        let wants = |rule: &ColumnRule| match &rule.rule {
            Rule::Number { fill, scale, .. } => {
                fill.is_some_and(f64::is_nan)
                    || matches!(scale, Scaling::Rank { quantiles } if quantiles.is_empty())
            }
            Rule::Words { .. } => false,
        };
        (0..self.columns.len()).filter(|&column| wants(&self.columns[column])).collect()
    }

    /// Completes a column from all its values.
    pub fn complete(&mut self, column: usize, mut values: Vec<f64>) {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len().saturating_sub(1)) as f64;
            values.get(place.round() as usize).copied().unwrap_or(0.0)
        };
        if let Rule::Number { fill, scale, .. } = &mut self.columns[column].rule {
            if fill.is_some_and(f64::is_nan) {
                *fill = Some(at(0.5));
            }
            if let Scaling::Rank { quantiles } = scale {
                let count = values.len().clamp(1, LANDMARKS);
                let last = (count - 1).max(1) as f64;
                *quantiles = (0..count).map(|place| at(place as f64 / last)).collect();
            }
        }
    }

    /// The names of all features, in order.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(ColumnRule::names).collect()
    }

    /// How many features there are.
    pub fn width(&self) -> usize {
        self.columns.iter().map(ColumnRule::width).sum()
    }

    /// What is done, in a few sentences.
    pub fn in_words(&self) -> Vec<String> {
        let named = |wanted: &dyn Fn(&Rule) -> bool| -> Vec<&str> {
            self.columns.iter().filter(|column| wanted(&column.rule)).map(|c| c.name.as_str()).collect()
        };
        let number = |wanted: fn(&Scaling, Option<f64>) -> bool| move |rule: &Rule| matches!(rule, Rule::Number { scale, fill, .. } if wanted(scale, *fill));
        let said = [
            (named(&number(|s, _| matches!(s, Scaling::Standard { .. }))), "scaled to mean 0, deviation 1"),
            (named(&number(|s, _| matches!(s, Scaling::Rank { .. }))), "scaled by rank, being very skewed"),
            (named(&|rule| matches!(rule, Rule::Words { .. })), "one feature per word"),
            (
                named(&|rule| matches!(rule, Rule::Number { written: Written::Time, .. })),
                "read as times, in seconds",
            ),
            (
                named(&|rule| matches!(rule, Rule::Number { written: Written::DecimalComma, .. })),
                "read with a decimal comma",
            ),
        ];
        let said = said.into_iter().filter(|(columns, _)| !columns.is_empty());
        said.map(|(columns, what)| format!("{}: {what}", list(&columns))).collect()
    }

    /// Prepares a matrix of numbers whose columns have these names; gaps are NaN.
    pub fn apply(&self, raw: &Mat, names: &[String]) -> Result<Mat> {
        let places = self.columns.iter().map(|column| {
            names.iter().position(|name| *name == column.name).ok_or_else(|| {
                Error::data(
                    format!("there is no feature column `{}`", column.name),
                    "give data with the columns that the model learned from",
                )
            })
        });
        let places = places.collect::<Result<Vec<usize>>>()?;
        let mut out = Mat::zeros(raw.rows(), self.width());
        for node in 0..raw.rows() {
            let mut start = 0;
            for (rule, &place) in self.columns.iter().zip(&places) {
                let value = f64::from(raw.get(node, place));
                let cell = if value.is_nan() { Raw::Gap } else { Raw::Number(value) };
                rule.write(cell, &mut out.row_mut(node)[start..start + rule.width()]).map_err(|_| {
                    Error::data(
                        format!("column `{}` of node {node} is {value}", rule.name),
                        "features must be finite numbers; say how gaps are filled (mean, median, zero or flag)",
                    )
                })?;
                start += rule.width();
            }
        }
        Ok(out)
    }
}

/// Names for a remark: all of a few, or some of many.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 6;
    let columns = if names.len() == 1 { "column" } else { "columns" };
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{columns} {}{more}", shown.join(", "))
}

fn refuse_gaps(columns: &[(String, Profile)], config: &PreparationConfig) -> Result<()> {
    if config.missing != Missing::Error {
        return Ok(());
    }
    // A column that is nothing but gaps is left out.
    let gaps: Vec<&(String, Profile)> =
        columns.iter().filter(|(_, p)| p.gaps > 0 && p.values() > 0).collect();
    let Some((_, first)) = gaps.iter().min_by_key(|(_, profile)| profile.first_gap) else { return Ok(()) };
    let total: usize = gaps.iter().map(|(_, profile)| profile.gaps).sum();
    let each: Vec<String> =
        gaps.iter().take(6).map(|(name, profile)| format!("`{name}` {}", profile.gaps)).collect();
    let more = if gaps.len() > 6 { format!(" and {} more columns", gaps.len() - 6) } else { String::new() };
    let values = if total == 1 { "1 value is" } else { &format!("{total} values are") };
    Err(Error::data(
        format!("{values} missing: {}{more} (the first in row {})", each.join(", "), first.first_gap),
        "say how gaps are filled (`missing`: mean, median, zero or flag), or ignore these columns",
    ))
}

/// What `auto` stands for. Sparse numbers, such as counts of words, are left alone: centred, they would be dense.
fn scale_for(columns: &[(String, Profile)], config: &PreparationConfig) -> Scale {
    const SPARSE_BELOW: f64 = 0.25;
    if config.scale != Scale::Auto {
        return config.scale;
    }
    let numeric = columns.iter().filter(|(_, profile)| profile.is_numeric());
    let (nonzero, all) = numeric.fold((0, 0), |(nonzero, all), (_, profile)| {
        (nonzero + profile.values() - profile.zeros, all + profile.values())
    });
    if (nonzero as f64) < SPARSE_BELOW * all as f64 { Scale::None } else { Scale::Auto }
}

/// Features of numbers, scaled and with their gaps filled as asked; `None` where nothing is done to them.
pub fn prepare_matrix(
    features: &Features,
    names: &[String],
    config: &PreparationConfig,
) -> Result<Option<(Features, Fitted)>> {
    let Features::Dense(mat) = features else {
        return match config.scale {
            Scale::Standard | Scale::Rank => Err(Error::data(
                "the features are sparse: scaling them would make them dense",
                "leave them as they are (`scale`: none)",
            )),
            Scale::Auto | Scale::None => Ok(None),
        };
    };
    let gaps = mat.as_slice().iter().any(|value| value.is_nan());
    if mat.cols() == 0 || (config.scale == Scale::None && !gaps) {
        return Ok(None);
    }
    let profiles: Vec<(String, Profile)> = (0..mat.cols())
        .map(|column| {
            let mut profile = Profile::default();
            for node in 0..mat.rows() {
                let value = f64::from(mat.get(node, column));
                profile.observe(if value.is_nan() { Raw::Gap } else { Raw::Number(value) }, node as u64);
            }
            (names[column].clone(), profile)
        })
        .collect();
    let mut fitted = Preparation::fit(&profiles, config)?;
    let untouched =
        |column: &ColumnRule| matches!(&column.rule, Rule::Number { scale: Scaling::None, flag: false, .. });
    if !gaps && fitted.preparation.columns.iter().all(untouched) && fitted.preparation.left_out.is_empty() {
        return Ok(None);
    }
    for column in fitted.preparation.wants_values() {
        let name = &fitted.preparation.columns[column].name;
        let place = names.iter().position(|own| own == name).unwrap_or(column);
        let values = (0..mat.rows()).map(|node| f64::from(mat.get(node, place)));
        fitted.preparation.complete(column, values.filter(|value| !value.is_nan()).collect());
    }
    let prepared = fitted.preparation.apply(mat, names)?;
    Ok(Some((Features::from_dense(prepared), fitted)))
}

#[cfg(test)]
mod tests;
