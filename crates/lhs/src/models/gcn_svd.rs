//! GCN-SVD: a GCN over the low-rank approximation of the adjacency matrix (Entezari et al. 2020).
//!
//! `Â = D^-1/2 (U S Vᵀ + I) D^-1/2` with the leading singular triplets `U S Vᵀ ≈ A` and their row sums `D`. Attacks
//! tend to live in the high ranks. `Â` is never written out: rows are propagated through the factors.
//! Cost: a truncated SVD once, then `O(nnz(X) * hidden + n * rank * hidden)` per epoch.
//!
//! Departs from the paper: the approximation may have rows of negative sum, which have no square root; their degree
//! counts as 0.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::gcn::Gcn;
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{EigenOptions, Mat, Svd, truncated_svd};
use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use crate::training::{Input, MemoKey, Parameters, Session, TrainingConfig};

/// How precisely the triplets are found, relative to the square of the largest singular value.
const TOLERANCE: f32 = 1e-5;

network_settings! {
    /// Settings of GCN-SVD.
    pub struct GcnSvd {
        /// Singular triplets kept of the adjacency matrix, 1 or more.
        pub rank: usize = 50,
    }
    shared {
        hidden: 64,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for GcnSvd {
    const NAME: &'static str = "gcn-svd";
    const SUMMARY: &'static str = "GCN over a low-rank approximation of the graph (Entezari et al. 2020)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        let mut search = super::mlp::layered_search([32, 64, 128, 256]);
        search.push(("rank", SearchSpace::choice([5, 10, 15, 50, 100, 200])));
        search
    }
}

impl GcnSvd {
    fn gcn(&self) -> Gcn {
        Gcn {
            hidden: self.hidden,
            layers: self.layers,
            dropout: self.dropout,
            normalise_features: self.normalise_features,
            hardening: 0.0,
            training: self.training.clone(),
        }
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    propagation: LowRank,
}

impl Architecture for GcnSvd {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("rank", self.rank)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        self.gcn().parameters(sizes, seed)
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let rank = self.rank.min(sizes.nodes);
        let usual = Amounts::layered(sizes, self.hidden, self.layers, TAPE_COPIES);
        usual.and(product([rank, sizes.nodes, 6]), Count(0), product([rank, self.hidden, self.layers]))
    }

    fn prepare(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Prepared> {
        let factors = session.shared(
            || MemoKey::new("gcn-svd").graph(graph).setting(self.rank),
            |_| {
                let options = EigenOptions { tolerance: TOLERANCE, ..EigenOptions::default() };
                Ok(truncated_svd(&normalise::adjacency(&graph.to_undirected()), self.rank, &options))
            },
        )?;
        let input = Input::scaled(features, self.normalise_features);
        Ok(Prepared { input, propagation: LowRank::of(&factors) })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let propagate = |x: &Var| prepared.propagation.matmul(x);
        self.gcn().scores_by(&prepared.input, parameters, dropout_seed, propagate)
    }
}

/// `left rightᵀ + diag(own)`.
struct LowRank {
    left: Var,
    right: Var,
    own: Var,
}

impl LowRank {
    /// `D^-1/2 (U S Vᵀ + I) D^-1/2`.
    fn of(svd: &Svd) -> Self {
        let column = |mat: Mat| Var::constant(mat);
        let values = column(Mat::from_slice(1, svd.values.len(), &svd.values));
        let left = column(svd.left.clone()).mul_row(&values); // U S [n, rank]
        let right = column(svd.right.clone()); // V [n, rank]
        let sums = left.matmul_nt(&right.sum_columns()); // U S Vᵀ 1 [n, 1]
        let inverse = sums.relu().add_scalar(1.0).pow(-0.5); // D^-1/2
        LowRank { left: left.mul_col(&inverse), right: right.mul_col(&inverse), own: inverse.mul(&inverse) }
    }

    fn matmul(&self, x: &Var) -> Var {
        self.left.matmul(&self.right.matmul_tn(x)).add(&x.mul_col(&self.own)) // [n, width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_all_ranks_it_propagates_as_a_gcn_does() {
        let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]).unwrap().0;
        let svd = truncated_svd(&normalise::adjacency(&graph), 6, &EigenOptions::default());
        let x = Var::constant(Mat::from_fn(6, 2, |row, col| (row * 2 + col) as f32 - 4.0));
        let found = LowRank::of(&svd).matmul(&x);
        let expected =
            crate::autograd::Sparse::constant(&normalise::symmetric_with_self_loops(&graph)).matmul(&x);
        for (found, expected) in found.value().as_slice().iter().zip(expected.value().as_slice()) {
            assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
        }
    }
}
