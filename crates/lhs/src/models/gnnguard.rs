//! GNNGuard: a GCN that trusts an edge as far as its ends are alike, layer by layer (Zhang and Zitnik 2020).
//!
//! Before each layer edge `uv` gets `s_uv = cos(h_u, h_v)`, 0 below a threshold; `d_u` counts those left at `u`. Then
//! `α_uv = d_u / (d_u + 1) · s_uv / Σ_w s_uw`, `α_uu = 1 / (d_u + 1)`, and the layer is `relu(α H W + b)`. An edge that
//! was dropped stays dropped in later layers. With a memory `β`, `α` is blended with that of the layer before.
//! Cost per epoch: that of a [`super::gcn`] and `O(edges * hidden)` for the cosines.
//!
//! Departs from the paper: the memory is a setting and not learned, and there is no learned pruning, both as in the
//! authors' code; their code exponentiates `α` and normalises it once more, which is left out.

use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use std::sync::Arc;

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::mlp::{layered_parameters, layered_search};
use super::parts::similarity::Rows;
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern, sddmm};
use crate::training::{Input, Parameters, Session, TrainingConfig, dropout_before};

network_settings! {
    /// Settings of GNNGuard.
    pub struct GnnGuard {
        /// Edges of a lower cosine than this are dropped, 0..=1.
        pub threshold: f32 = 0.1,
        /// Share of the layer before in the weights of an edge (the paper's β), 0..1.
        pub memory: f32 = 0.0,
    }
    shared {
        hidden: 16,
        /// Share of the hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for GnnGuard {
    const NAME: &'static str = "gnnguard";
    const SUMMARY: &'static str =
        "GCN whose edges count as far as their ends are alike (Zhang and Zitnik 2020)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        let mut search = layered_search([16, 32, 64, 128]);
        search.push(("threshold", SearchSpace::choice([0.0, 0.05, 0.1, 0.2])));
        search.push(("memory", SearchSpace::Uniform(0.0, 0.9)));
        search
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    /// The edges and a self loop at every node.
    pattern: Arc<Pattern>,
    /// What the features say of each entry.
    first: Vec<f32>,
}

impl Architecture for GnnGuard {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::share("threshold", self.threshold)?;
        settings::share_below_one("memory", self.memory)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        layered_parameters(sizes.features, self.hidden, sizes.classes, self.layers, seed)
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let usual = Amounts::layered(sizes, self.hidden, self.layers, TAPE_COPIES);
        usual.and(sizes.propagation(), Count(0), product([sizes.entries, self.layers, 3]))
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let pattern = normalise::with_self_loops(&graph.to_undirected()).pattern;
        let rows = Rows::of(features);
        let ends = (0..pattern.rows()).flat_map(|a| pattern.row(a).iter().map(move |&b| (a as u32, b)));
        let cosines = ends.map(|(a, b)| rows.cosine(a, b)).collect();
        let first = defended(&pattern, cosines, self.threshold);
        Ok(Prepared { input: Input::scaled(features, self.normalise_features), pattern, first })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut weights = prepared.first.clone();
        let mut propagation = prepared.propagation(&weights);
        let mut hidden = propagation.matmul(&prepared.input.matmul(&parameters[0])).add_row(&parameters[1]);
        for layer in 1..self.layers {
            hidden = hidden.relu();
            weights = self.next_weights(&prepared.pattern, &weights, hidden.value());
            propagation = prepared.propagation(&weights);
            let (rate, seed) = dropout_before(layer, self.dropout, dropout_seed);
            let (weight, bias) = (&parameters[2 * layer], &parameters[2 * layer + 1]);
            hidden = propagation.matmul(&hidden.dropout(rate, seed).matmul(weight)).add_row(bias);
        }
        hidden // [n, classes]
    }
}

impl Prepared {
    fn propagation(&self, weights: &[f32]) -> Sparse {
        Sparse::new(Arc::clone(&self.pattern), Var::constant(Mat::column(weights)))
    }
}

impl GnnGuard {
    /// The weights of a layer, from those of the layer before and the rows that it passes on.
    fn next_weights(&self, pattern: &Arc<Pattern>, before: &[f32], rows: &Mat) -> Vec<f32> {
        let unit = Var::constant(rows.clone()).unit_rows();
        let mut cosines = sddmm(pattern, unit.value(), unit.value()).as_slice().to_vec();
        cosines.iter_mut().zip(before).filter(|(_, before)| **before == 0.0).for_each(|(cos, _)| *cos = 0.0);
        let mut weights = defended(pattern, cosines, self.threshold);
        for (weight, before) in weights.iter_mut().zip(before) {
            *weight = self.memory * before + (1.0 - self.memory) * *weight;
        }
        weights
    }
}

/// `α` from the similarities at the entries of a pattern with self loops; every row sums to 1.
fn defended(pattern: &Pattern, mut weights: Vec<f32>, threshold: f32) -> Vec<f32> {
    for row in 0..pattern.rows() {
        let own = pattern.row(row).partition_point(|&other| (other as usize) < row);
        let weights = &mut weights[pattern.row_range(row)];
        weights[own] = 0.0;
        weights.iter_mut().filter(|weight| **weight < threshold).for_each(|weight| *weight = 0.0);
        let left = weights.iter().filter(|weight| **weight > 0.0).count() as f32;
        let sum: f32 = weights.iter().sum();
        if sum > 0.0 {
            weights.iter_mut().for_each(|weight| *weight *= left / ((left + 1.0) * sum));
        }
        weights[own] = 1.0 / (left + 1.0);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path 0-1-2 with self loops.
    fn path() -> Arc<Pattern> {
        normalise::with_self_loops(&Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap().0).pattern
    }

    #[test]
    fn weights_are_those_worked_out_by_hand() {
        // Entries: 00 01, 10 11 12, 21 22.
        let found = defended(&path(), vec![1.0, 0.6, 0.6, 1.0, 0.2, 0.05, 1.0], 0.1);
        let expected = [0.5, 0.5, 0.5, 1.0 / 3.0, 1.0 / 6.0, 0.0, 1.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
    }

    #[test]
    fn what_was_dropped_stays_dropped() {
        let config = GnnGuard::default();
        let before = [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0];
        let alike = Mat::full(3, 2, 1.0);
        let found = config.next_weights(&path(), &before, &alike);
        assert_eq!(found, [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0]);
        let half = GnnGuard { memory: 0.5, ..config };
        let opposite = Mat::from_slice(3, 1, &[1.0, -1.0, 1.0]);
        assert_eq!(half.next_weights(&path(), &before, &opposite), [0.75, 0.25, 0.25, 0.75, 0.0, 0.0, 1.0]);
    }
}
