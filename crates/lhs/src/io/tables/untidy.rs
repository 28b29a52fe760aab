//! Made-up tables as untidy as real ones: with gaps, and with columns of words.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::write;
use crate::error::{Error, Result};
use crate::graph::Dataset;
use crate::io::atomic;

/// Words of a made-up column.
const WORDS: [&str; 6] = ["north", "south", "east", "west", "centre", "abroad"];
/// How often a node has the word of its class instead of any.
const TELLING: f64 = 0.3;

/// How untidy tables are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Untidy {
    /// Share of the numbers that are missing, 0..1.
    pub missing: f64,
    /// Columns of words.
    pub words: usize,
}

impl Untidy {
    /// Checks the ranges.
    pub fn validate(&self) -> Result<()> {
        if (0.0..1.0).contains(&self.missing) {
            return Ok(());
        }
        let problem = format!("{} is out of range", self.missing);
        Err(Error::setting("missing", problem, "choose a share from 0 up to, not including, 1"))
    }

    /// Writes a dataset as tables, with gaps and words among its features.
    pub fn write(&self, dataset: &Dataset, folder: &Path, seed: u64) -> Result<()> {
        self.validate()?;
        write(dataset, folder)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let path = folder.join("features.csv");
        let mut text = "node".to_string();
        (0..dataset.features().dim()).for_each(|column| text += &format!(",f{column}"));
        (0..self.words).for_each(|column| text += &format!(",w{column}"));
        text.push('\n');
        for node in 0..dataset.num_nodes() {
            text += &dataset.node_id(node);
            let mut row = vec![0f32; dataset.features().dim()];
            dataset
                .features()
                .row_nonzeros(node)
                .iter()
                .for_each(|&(column, value)| row[column as usize] = value);
            for value in row {
                text.push(',');
                if !rng.random_bool(self.missing) {
                    text += &value.to_string();
                }
            }
            let class = dataset.labels().get(node).unwrap_or(0) as usize;
            for column in 0..self.words {
                let any = rng.random_range(0..WORDS.len());
                let word = if rng.random_bool(TELLING) { (class + column) % WORDS.len() } else { any };
                text.push(',');
                text += WORDS[word];
            }
            text.push('\n');
        }
        atomic::write_bytes(&path, text.as_bytes())
    }
}
