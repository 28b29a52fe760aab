//! DICE: delete internally, connect externally (Waniek et al. 2018).
//!
//! Of `rate` flips per edge, about half remove an edge within a class, the others join two classes; when one kind
//! runs out, the other takes its place. All labels are known to the attacker.
//! Cost: a constant number of draws per flip.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::edges::{EdgeEdits, share_of_edges};
use super::random::{add, remove};
use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::Result;
use crate::graph::{Dataset, Split};
use crate::linalg::random::{derive, generator};

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiceConfig {
    /// Flips per edge, 0..=1.
    pub rate: f64,
    /// Share of the flips that join two classes, 0..=1.
    pub connect: f64,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

impl Default for DiceConfig {
    fn default() -> Self {
        DiceConfig { rate: 0.25, connect: 0.5, may_isolate: false }
    }
}

impl Attack for DiceConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)?;
        in_range("connect", self.connect, 1.0)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, _: &Split) -> usize {
        share_of_edges(self.rate, dataset.graph())
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        let (dataset, labels) = (context.dataset, context.dataset.labels());
        let budget = self.budget(dataset, context.split);
        let mut rng = generator(derive(seed, &[1]), 0);
        let wanted = budget - (0..budget).filter(|_| rng.random_bool(self.connect)).count();
        let mut edits = EdgeEdits::new(dataset.graph(), self.may_isolate);
        let same = |a: u32, b: u32| {
            labels.get(a as usize).is_some() && labels.get(a as usize) == labels.get(b as usize)
        };
        let differ = |a: u32, b: u32| match (labels.get(a as usize), labels.get(b as usize)) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        };
        // Too few edges within a class are no error: what is missing is added elsewhere.
        let _ = remove(&mut edits, same, wanted, seed);
        let missing = budget - edits.len();
        add(&mut edits, differ, missing, seed)?;
        Ok(edits.into_flips().into())
    }
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "dice",
    summary: "removes edges within classes, joins different ones",
    defaults: registry::defaults::<DiceConfig>,
    build: registry::build::<DiceConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn friends_go_and_strangers_come() {
        let dataset =
            SynthConfig { nodes: 300, homophily: 0.7, ..SynthConfig::default() }.generate(0).unwrap();
        let context = AttackContext::new(&dataset, &dataset.splits()[0]);
        let attacked = DiceConfig { rate: 0.3, ..DiceConfig::default() }.perturb(&context, 0).unwrap();
        let class = |node: u32| dataset.labels().get(node as usize);
        assert!(attacked.removed.iter().all(|&(a, b)| class(a) == class(b)));
        assert!(attacked.added.iter().all(|&(a, b)| class(a) != class(b)));
        let (added, removed) = (attacked.added.len(), attacked.removed.len());
        assert_eq!(added + removed, attacked.record.budget);
        assert!(added.abs_diff(removed) < attacked.record.budget / 4, "{added} and {removed}");
    }
}
