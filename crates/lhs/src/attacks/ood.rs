//! Out-of-distribution sample: of the test nodes only those with many neighbours of other classes are scored.
//!
//! Edges stay as they are. Every test node of known heterophily `H` gets a key
//! `(1 - rate) * u + rate * rank(H)`, with `u` uniform in 0..1 and `rank` its place among the test nodes, 0..1; the
//! `share` of the test nodes with the largest keys is the sample. At `rate` 1 it is the rightmost part of the
//! distribution of `H`, near 0 an even sample. Cost: sorting the test nodes.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::{Error, Result};
use crate::graph::heterophily::node_heterophily;
use crate::linalg::random::generator;

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OodConfig {
    /// How far to the right the sample lies, 0..=1; 0 keeps all test nodes.
    pub rate: f64,
    /// Share of the test nodes in the sample, above 0, up to 1.
    pub share: f64,
}

impl Default for OodConfig {
    fn default() -> Self {
        OodConfig { rate: 1.0, share: 0.5 }
    }
}

impl Attack for OodConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)?;
        in_range("share", self.share, 1.0)?;
        if self.share == 0.0 {
            return Err(Error::setting(
                "share",
                "an empty sample cannot be scored",
                "choose above 0, up to 1",
            ));
        }
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        if self.rate == 0.0 {
            return Ok(Change::default());
        }
        let of = node_heterophily(context.dataset.graph(), context.dataset.labels());
        let mut rng = generator(seed, 0);
        // Equal H in random order: who has the lower number must not matter.
        let mut nodes: Vec<(f32, f64, u32)> = context
            .split
            .test
            .iter()
            .map(|&node| (of[node as usize], rng.random::<f64>(), node))
            .filter_map(|(h, drawn, node)| h.map(|h| (h, drawn, node)))
            .collect();
        if nodes.is_empty() {
            return Err(Error::data("no test node has labelled neighbours", "choose another split"));
        }
        nodes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let last = (nodes.len() - 1).max(1) as f64;
        let mut keys: Vec<(f64, u32)> = (0u32..)
            .zip(&nodes)
            .map(|(place, &(_, _, node))| {
                ((1.0 - self.rate) * rng.random::<f64>() + self.rate * f64::from(place) / last, node)
            })
            .collect();
        keys.sort_by(|a, b| b.0.total_cmp(&a.0));
        let count = ((self.share * context.split.test.len() as f64).round() as usize).clamp(1, keys.len());
        let mut test: Vec<u32> = keys[..count].iter().map(|(_, node)| *node).collect();
        test.sort_unstable();
        Ok(Change { test: Some(test), ..Change::default() })
    }
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "ood",
    summary: "scores the test nodes whose neighbours differ most; edges stay as they are",
    defaults: registry::defaults::<OodConfig>,
    build: registry::build::<OodConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn a_stronger_sample_lies_further_to_the_right() {
        let dataset =
            SynthConfig { nodes: 600, homophily: 0.6, ..SynthConfig::default() }.generate(0).unwrap();
        let context = AttackContext::new(&dataset, &dataset.splits()[0]);
        let at = |rate| OodConfig { rate, ..OodConfig::default() }.perturb(&context, 3).unwrap();
        let means = [0.0, 0.3, 0.6, 1.0].map(|rate| at(rate).record.heterophily_after.unwrap());
        assert!(means.is_sorted_by(|a, b| a < b), "{means:?}");
        assert_eq!(at(1.0).split.test.len(), (context.split.test.len() as f64 / 2.0).round() as usize);
        assert!(OodConfig { rate: 1.0, share: 0.0 }.validate().is_err());
    }
}
