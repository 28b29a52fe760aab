//! The latent structure: a graph in which neighbours share a class, induced from what each node looks like.
//!
//! [`views`] turns features or edges into one row of numbers per node; [`self_expression`] writes every row as
//! a combination of the others; [`low_rank`] keeps the leading directions of that; [`latent_graph`] joins the
//! nodes that point the same way. [`induce`] goes the whole way. Nothing here looks at a label.

pub mod latent_graph;
pub mod low_rank;
pub mod self_expression;
pub mod views;

use serde::{Deserialize, Serialize};

pub use latent_graph::LatentGraph;
pub use self_expression::SelfExpression;
pub use views::View;

use crate::error::{Error, Result};
use crate::linalg::Mat;

/// How a structure is induced from one row per node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InduceConfig {
    /// Penalty of the self-expression (the paper's λ₁), above 0.
    pub ridge: f32,
    /// Leading directions kept per class (the paper's rank is 4C+1), 1 or more.
    pub directions_per_class: usize,
    /// Entries of the latent graph below this cosine are dropped (the paper's σ), 0..=1.
    pub threshold: f32,
    /// Neighbours kept per node, 1 or more.
    pub top_k: usize,
}

impl Default for InduceConfig {
    fn default() -> Self {
        InduceConfig { ridge: 0.7, directions_per_class: 4, threshold: 0.8, top_k: 5 }
    }
}

impl InduceConfig {
    /// Checks the ranges.
    pub fn validate(&self) -> Result<()> {
        let check = |good: bool, key: &str, value: f32, remedy: &str| {
            if good { Ok(()) } else { Err(Error::setting(key, format!("{value} is out of range"), remedy)) }
        };
        check(self.ridge > 0.0 && self.ridge.is_finite(), "ridge", self.ridge, "choose a positive number")?;
        let directions = self.directions_per_class;
        check(directions >= 1, "directions_per_class", directions as f32, "choose 1 or more")?;
        check((0.0..=1.0).contains(&self.threshold), "threshold", self.threshold, "choose a cosine, 0 to 1")?;
        check(self.top_k >= 1, "top_k", self.top_k as f32, "choose 1 or more")
    }

    /// The rank of the low-rank filter, `4C + 1` by default, at most the number of nodes.
    pub fn rank(&self, num_classes: usize, num_nodes: usize) -> usize {
        (self.directions_per_class * num_classes + 1).min(num_nodes)
    }
}

/// Induces a latent graph from one row per node, `[n,d]`.
/// Cost: `O(n d²)` for the self-expression, `O(n d r)` per product of the eigensolver, `O(n² r)` multiply-adds
/// in tiles for the search; memory `O(n (d + r + top_k))`.
pub fn induce(rows: &Mat, num_classes: usize, config: &InduceConfig) -> Result<LatentGraph> {
    config.validate()?;
    let expression = SelfExpression::new(rows, config.ridge);
    let directions = low_rank::directions(&expression, config.rank(num_classes, rows.rows()));
    Ok(LatentGraph::from_directions(&directions, config.threshold, config.top_k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn a_heterophilic_graph_has_a_homophilic_latent_one() {
        let dataset = SynthConfig { nodes: 500, mean_degree: 40.0, homophily: 0.1, ..SynthConfig::default() }
            .generate(1)
            .unwrap();
        let rows = View::Adjacency.rows(dataset.graph(), dataset.features(), 32);
        let latent = induce(&rows, dataset.num_classes(), &InduceConfig::default()).unwrap();
        let homophily = latent.weighted_homophily(dataset.labels(), 0..500).unwrap();
        assert!(homophily > 0.6, "{homophily}");
    }

    #[test]
    fn degenerate_inputs_give_finite_graphs() {
        let same = Mat::full(20, 3, 1.0);
        let zero = Mat::zeros(20, 3);
        let few = Mat::from_fn(3, 40, |r, c| ((r * 7 + c) % 5) as f32);
        for rows in [same, zero, few, Mat::zeros(4, 0)] {
            let latent = induce(&rows, 5, &InduceConfig::default()).unwrap();
            assert!(latent.weights.values.iter().all(|w| w.is_finite() && (0.0..=1.0).contains(w)));
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let wrong = InduceConfig { threshold: 1.5, ..InduceConfig::default() };
        assert!(wrong.validate().unwrap_err().to_string().contains("threshold"));
    }
}
