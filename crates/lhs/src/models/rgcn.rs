//! RGCN: nodes are represented by Gaussians, whose variance absorbs the effect of an attack (Zhu et al. 2019).
//!
//! `M' = Â (elu(M W_μ) ⊙ α)`, `Σ' = Â₂ (relu(Σ W_σ) ⊙ α ⊙ α)` with `α = exp(-γ Σ)`, so that nodes of high variance
//! count little; `Â = D^-1/2 (A + I) D^-1/2`, `Â₂ = D^-1 (A + I) D^-1`. Scores are drawn from the last Gaussian. The
//! loss has a term `KL(N(M₁, Σ₁) ‖ N(0, I))` of the first layer.
//! Cost per epoch: three times that of a [`super::gcn`].
//!
//! Departs from the paper: predictions use the mean, so that they do not depend on chance; weight decay pulls on the
//! weights of both layers and not of the first alone.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{ParamBuilder, ParamReader, noise};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::SparseMat;
use crate::linalg::random::derive;
use crate::training::memory_plan::{Amounts, DataSizes};
use crate::training::{Input, Parameters, Session, TrainingConfig, dropout_before};

/// Keeps logarithm and root of a variance finite.
const TINY: f32 = 1e-8;

network_settings! {
    /// Settings of RGCN.
    pub struct Rgcn {
        /// How fast attention falls with the variance (the paper's γ), 0 or above.
        pub variance_attention: f32 = 1.0,
        /// Weight of the divergence from a standard normal distribution (the paper's β₁), 0 or above.
        pub divergence_weight: f32 = 5e-4,
    }
    shared {
        hidden: 32,
        dropout: 0.6,
        normalise_features: true,
        training: TrainingConfig::default(),
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for Rgcn {
    const NAME: &'static str = "rgcn";
    const SUMMARY: &'static str =
        "GCN with Gaussian representations, uncertain nodes count less (Zhu et al. 2019)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [16, 32, 64, 128],
            [
                ("variance_attention", SearchSpace::choice([0.1, 0.5, 1.0, 2.0])),
                ("divergence_weight", SearchSpace::LogUniform(1e-6, 1e-3)),
            ],
        )
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    for_means: Sparse,
    for_variances: Sparse,
}

/// Means and variances, `[n, width]` each.
struct Gaussian {
    mean: Var,
    variance: Var,
}

impl Architecture for Rgcn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::not_negative("variance_attention", self.variance_attention)?;
        settings::not_negative("divergence_weight", self.divergence_weight)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        for layer in 0..self.layers {
            let from = if layer == 0 { sizes.features } else { self.hidden };
            let to = if layer + 1 == self.layers { sizes.classes } else { self.hidden };
            builder.weight(&format!("layer{layer}.mean"), from, to);
            builder.weight(&format!("layer{layer}.variance"), from, to);
        }
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let one = Amounts::layered(sizes, self.hidden, self.layers, 2 * TAPE_COPIES);
        Amounts { parameters: one.parameters * 2usize, ..one }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let loops = normalise::with_self_loops(&graph.to_undirected());
        let for_means = normalise::symmetrically_scaled(loops.clone());
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            for_variances: Sparse::constant(&twice_scaled(&loops, &for_means)),
            for_means: Sparse::constant(&for_means),
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.classified(prepared, self.first(prepared, parameters, dropout_seed), parameters, dropout_seed)
    }

    fn training_scores(&self, prepared: &Prepared, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        let first = self.first(prepared, parameters, Some(seed));
        let Gaussian { mean, variance } = &first;
        let width = mean.cols() as f32;
        let divergence = mean.mul(mean).add(variance).sub(&variance.add_scalar(TINY).ln()).sum();
        let extra = divergence.scale(0.5 * self.divergence_weight / width);
        (self.classified(prepared, first, parameters, Some(seed)), Some(extra))
    }
}

impl Rgcn {
    /// Class scores from the Gaussians of the features.
    fn classified(
        &self,
        prepared: &Prepared,
        mut hidden: Gaussian,
        parameters: &[Var],
        dropout_seed: Option<u64>,
    ) -> Var {
        let mut reader = ParamReader::from(&parameters[2..]);
        for layer in 1..self.layers {
            let spread = self.spread(prepared, &hidden);
            let (rate, seed) = dropout_before(layer, self.dropout, dropout_seed);
            hidden = Gaussian {
                mean: spread.mean.dropout(rate, seed).matmul(reader.one()).elu(),
                variance: spread.variance.dropout(rate, derive(seed, &[1])).matmul(reader.one()).relu(),
            };
        }
        let Gaussian { mean, variance } = self.spread(prepared, &hidden);
        let Some(seed) = dropout_seed else { return mean };
        let noise = noise::normal(mean.rows(), mean.cols(), derive(seed, &[u64::MAX]));
        mean.add(&variance.add_scalar(TINY).pow(0.5).mul(&Var::constant(noise))) // [n, classes]
    }

    /// The Gaussians of the features.
    fn first(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Gaussian {
        let (rate, seed) = dropout_before(0, self.dropout, dropout_seed);
        let input = prepared.input.dropout(rate, seed);
        Gaussian { mean: input.matmul(&parameters[0]).elu(), variance: input.matmul(&parameters[1]).relu() }
    }

    /// What a node hears from its neighbours and itself, the less the less certain it is.
    fn spread(&self, prepared: &Prepared, hidden: &Gaussian) -> Gaussian {
        let attention = hidden.variance.scale(-self.variance_attention).exp();
        let squared = attention.mul(&attention);
        Gaussian {
            mean: prepared.for_means.matmul(&hidden.mean.mul(&attention)),
            variance: prepared.for_variances.matmul(&hidden.variance.mul(&squared)),
        }
    }
}

/// `D^-1 M D^-1` from `M` and `D^-1/2 M D^-1/2`.
fn twice_scaled(mat: &SparseMat, scaled: &SparseMat) -> SparseMat {
    let values = scaled.values.iter().zip(&mat.values).map(|(scaled, value)| scaled * scaled / value);
    SparseMat::new(mat.pattern.clone(), values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn uncertain_neighbours_count_less() {
        let graph = Graph::from_edges(2, &[(0, 1)]).unwrap().0;
        let config = Rgcn::default();
        let prepared = config.prepare(&graph, &Features::none(2), &mut Session::default()).unwrap();
        let column = |a: f32, b: f32| Var::constant(Mat::column(&[a, b]));
        let hidden = Gaussian { mean: column(1.0, 1.0), variance: column(0.0, 2f32.ln()) };
        let found = config.spread(&prepared, &hidden);
        // Both degrees are 2: (1 + 1/2) / 2, and (0 + ln 2 / 4) / 4.
        assert!((found.mean.value().get(0, 0) - 0.75).abs() < 1e-6);
        assert!((found.variance.value().get(0, 0) - 2f32.ln() / 16.0).abs() < 1e-6);
    }
}
