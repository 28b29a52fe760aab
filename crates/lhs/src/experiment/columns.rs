//! The feature columns of some data, matched to those that a model learned from: by name where both sides have names.

use std::borrow::Cow;

use super::data::DataRecord;
use crate::error::{Error, Result};
use crate::graph::preparation::{Preparation, Rule, Scaling};
use crate::graph::{Dataset, Features};
use crate::linalg::{Mat, SparseMat};

/// The data with its columns in the order of the training data, and a remark where they were put right.
pub(super) fn matched<'a>(
    dataset: &'a Dataset,
    learned: &DataRecord,
) -> Result<(Cow<'a, Features>, Option<String>)> {
    same_preparation(dataset.preparation(), learned.preparation.as_ref())?;
    let features = dataset.features();
    let (Some(here), Some(there)) = (dataset.feature_names(), &learned.feature_names) else {
        return Ok((Cow::Borrowed(features), None));
    };
    if here == there.as_slice() {
        return Ok((Cow::Borrowed(features), None));
    }
    let missing: Vec<&String> = there.iter().filter(|name| !here.contains(name)).collect();
    let additional: Vec<&String> = here.iter().filter(|name| !there.contains(name)).collect();
    if !missing.is_empty() || !additional.is_empty() {
        let mut problems = Vec::new();
        if !missing.is_empty() {
            problems.push(format!("these feature columns are missing: {}", list(&missing)));
        }
        if !additional.is_empty() {
            problems.push(format!("these were not there in training: {}", list(&additional)));
        }
        return Err(Error::data(
            problems.join("; "),
            "give the columns that the model learned from, by their names, in any order",
        ));
    }
    let places =
        there.iter().map(|name| here.iter().position(|own| own == name).unwrap_or(0)).collect::<Vec<_>>();
    let note = "feature columns were matched by name, their order differs".to_string();
    Ok((Cow::Owned(reordered(features, &places)), Some(note)))
}

/// Refuses features that were scaled, or had their gaps filled, otherwise than those of the training data.
fn same_preparation(here: Option<&Preparation>, there: Option<&Preparation>) -> Result<()> {
    let scales = |preparation: &Preparation| {
        let scaled =
            |rule: &Rule| !matches!(rule, Rule::Number { scale: Scaling::None, .. } | Rule::Words { .. });
        preparation.columns.iter().any(|column| scaled(&column.rule))
    };
    let same = match (here, there) {
        (Some(here), Some(there)) => here.columns == there.columns || !(scales(here) || scales(there)),
        (Some(one), None) | (None, Some(one)) => !scales(one),
        (None, None) => true,
    };
    if same {
        return Ok(());
    }
    Err(Error::data(
        "the features were scaled otherwise than those that the model learned from",
        "give the raw data, or a copy made from the data that the model learned from",
    ))
}

fn list(names: &[&String]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    shown.join(", ") + &more
}

/// The columns at these places, in this order.
fn reordered(features: &Features, places: &[usize]) -> Features {
    match features {
        Features::Dense(mat) => Features::Dense(Mat::from_fn(mat.rows(), places.len(), |row, column| {
            mat.get(row, places[column])
        })),
        Features::Sparse(mat) => {
            let mut to = vec![0u32; mat.cols()];
            places.iter().enumerate().for_each(|(new, &old)| to[old] = new as u32);
            let mut entries = Vec::with_capacity(mat.values.len());
            for node in 0..mat.rows() {
                let start = entries.len();
                let row = features.row_nonzeros(node).into_iter();
                entries.extend(row.map(|(column, value)| (node as u32, to[column as usize], value)));
                entries[start..].sort_unstable_by_key(|entry: &(u32, u32, f32)| entry.1);
            }
            Features::Sparse(SparseMat::from_triplets(mat.rows(), places.len(), entries))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Data;
    use crate::graph::synth::SynthConfig;
    use crate::graph::{DatasetParts, Details};

    fn named(names: [&str; 3], features: Features) -> Dataset {
        let made =
            SynthConfig { nodes: 40, features: 3, splits: 1, ..SynthConfig::default() }.generate(0).unwrap();
        let details = Details { feature_names: Some(names.map(String::from).to_vec()), ..Details::default() };
        Dataset::new(DatasetParts { features, details, ..made.into_parts() }).unwrap()
    }

    #[test]
    fn columns_are_found_by_name_and_strangers_are_named() {
        let mat = Mat::from_fn(40, 3, |row, column| (row * 3 + column) as f32 + 1.0);
        let moved = Mat::from_fn(40, 3, |row, column| mat.get(row, [2, 0, 1][column]));
        let learned = Data::new(named(["age", "size", "rank"], Features::Dense(mat.clone()))).unwrap();
        let other = named(["rank", "age", "size"], Features::Dense(moved.clone()));
        let (found, note) = matched(&other, &learned.record).unwrap();
        assert_eq!(*found, Features::Dense(mat.clone()));
        assert!(note.is_some());
        let sparse = |mat: &Mat| {
            let entries = (0..40u32).flat_map(|r| (0..3u32).map(move |c| (r, c)));
            let entries = entries.map(|(r, c)| (r, c, mat.get(r as usize, c as usize))).collect();
            Features::Sparse(SparseMat::from_triplets(40, 3, entries))
        };
        let other = named(["rank", "age", "size"], sparse(&moved));
        assert_eq!(*matched(&other, &learned.record).unwrap().0, sparse(&mat));
        let strange = named(["age", "weight", "size"], Features::Dense(mat));
        let error = matched(&strange, &learned.record).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "these feature columns are missing: `rank`; these were not there in training: `weight`"
            ),
            "{error}"
        );
    }
}
