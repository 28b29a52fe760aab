//! The discriminator and both encoders: from a graph and its features to embeddings.

use std::sync::Arc;

use super::Greet;
use super::compared::Compared;
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern};
use crate::models::parts::random_walk::returns;
use crate::models::parts::scaling::{diagonal, symmetric, where_set};
use crate::models::parts::{Make, Take, attention, noise};
use crate::training::{Input, MemoKey, Parameters, Session};

/// Steps of the random walks that describe a node.
const STEPS: usize = 16;
/// Width of the discriminator's hidden layer.
const DISCRIMINATOR: usize = 128;

/// A graph as the encoders read it.
pub(super) struct Reading {
    pub input: Input,
    /// Random-walk returns, `[n, STEPS]`.
    pub returns: Var,
    /// The edges and a self loop at every node.
    pub pattern: Arc<Pattern>,
    /// 1 at the self loops.
    pub loops: Var,
    pub compared: Compared,
}

/// How likely each edge joins like with like, and both ways to propagate over it.
pub(super) struct Channels {
    /// `[nnz, 1]`.
    pub homophilic: Var,
    pub low: Sparse,
    pub high: Sparse,
}

impl Greet {
    pub(super) fn parameters(&self, features: usize, seed: u64) -> Parameters {
        let mut make = Make::new(seed);
        make.linear("discriminator.features", features, DISCRIMINATOR);
        make.weight("discriminator.returns", STEPS, DISCRIMINATOR);
        make.linear("discriminator.edge", DISCRIMINATOR, 1);
        for view in ["low", "high"] {
            make.linear(&format!("{view}.encoder"), features, self.hidden);
            for layer in 0..self.projection_layers {
                make.linear(&format!("{view}.projection{layer}"), self.hidden, self.hidden);
            }
        }
        make.done()
    }

    pub(super) fn read(
        &self,
        graph: &Graph,
        features: &Features,
        session: &mut Session<'_>,
    ) -> Result<Reading> {
        let returns = session.shared(
            || MemoKey::new("greet, returns").graph(graph).setting(STEPS),
            |_| Ok(returns(graph, STEPS)),
        )?;
        let pattern = normalise::with_self_loops(graph).pattern;
        Ok(Reading {
            input: Input::scaled(features, self.normalise_features),
            returns: Var::constant((*returns).clone()),
            loops: Var::constant(diagonal(&pattern)),
            compared: Compared::on(&pattern),
            pattern,
        })
    }

    /// Splits the edges; `noise_seed` is `None` when predicting.
    pub(super) fn channels(
        &self,
        reading: &Reading,
        take: &mut Take<'_>,
        noise_seed: Option<u64>,
    ) -> Channels {
        let hidden = take.linear_of(&reading.input).add(&reading.returns.matmul(take.one())).relu();
        let ends = take.linear(&hidden); // t [n, 1]
        let mut scores = attention::sums(&reading.pattern, &ends, &ends); // [nnz, 1]
        if let Some(seed) = noise_seed {
            scores = scores.add(&Var::constant(noise::logistic(scores.rows(), 1, seed)));
        }
        let homophilic = scores.sigmoid();
        let ones = Var::constant(Mat::full(scores.rows(), 1, 1.0));
        let scaled = |weights: &Var| {
            symmetric(&Sparse::new(Arc::clone(&reading.pattern), where_set(&reading.loops, &ones, weights)))
        };
        let low = scaled(&homophilic);
        let high = scaled(&ones.sub(&homophilic)).values.scale(-self.sharpness);
        let high = Sparse::new(Arc::clone(&reading.pattern), where_set(&reading.loops, &ones, &high));
        Channels { homophilic, low, high }
    }

    /// `P^hops relu(X W + b)`.
    pub(super) fn encode(&self, reading: &Reading, own: [&Var; 2], propagation: &Sparse) -> Var {
        let own = self.first(reading, own);
        (0..self.hops).fold(own, |rows, _| propagation.matmul(&rows))
    }

    /// `relu(X W + b)`, `[n, hidden]`.
    pub(super) fn first(&self, reading: &Reading, [weight, bias]: [&Var; 2]) -> Var {
        reading.input.matmul(weight).add_row(bias).relu()
    }

    /// Both embeddings side by side, rows of length 1, `[n, 2 hidden]`.
    fn embedding(&self, reading: &Reading, channels: &Channels, encoders: &Encoders<'_>) -> Var {
        let low = self.encode(reading, encoders.low.own, &channels.low);
        let high = self.encode(reading, encoders.high.own, &channels.high);
        Var::concat_cols(&[&low, &high]).unit_rows()
    }

    /// The embedding that the classifier reads.
    pub(super) fn embed(&self, reading: &Reading, parameters: &[Var]) -> Var {
        let mut take = Take::from(parameters);
        let channels = self.channels(reading, &mut take, None);
        self.embedding(reading, &channels, &self.encoders(&mut take))
    }
}

/// Parameters of the encoders.
pub(super) struct Encoders<'a> {
    pub low: Encoder<'a>,
    pub high: Encoder<'a>,
}

pub(super) struct Encoder<'a> {
    pub own: [&'a Var; 2],
    pub projection: Vec<[&'a Var; 2]>,
}

impl Greet {
    pub(super) fn encoders<'a>(&self, take: &mut Take<'a>) -> Encoders<'a> {
        let mut one = || Encoder {
            own: [take.one(), take.one()],
            projection: (0..self.projection_layers).map(|_| [take.one(), take.one()]).collect(),
        };
        Encoders { low: one(), high: one() }
    }
}

impl Encoder<'_> {
    /// What the contrastive loss sees of some embeddings, rows of length 1.
    pub(super) fn projected(&self, rows: Var) -> Var {
        let project = |rows: Var, (layer, [weight, bias]): (usize, &[&Var; 2])| {
            let rows = if layer > 0 { rows.relu() } else { rows };
            rows.matmul(weight).add_row(bias)
        };
        self.projection.iter().enumerate().fold(rows, project).unit_rows()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A path of four nodes.
    pub fn path(config: &Greet) -> Reading {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let features = Features::from_dense(Mat::from_fn(4, 3, |row, col| ((row + col) % 3) as f32));
        config.read(&graph, &features, &mut Session::default()).unwrap()
    }

    #[test]
    fn a_node_hears_only_those_that_it_points_to() {
        let config = Greet { hops: 1, ..Greet::default() };
        let parameters = config.parameters(3, 1).constants();
        let first_node = |edge: (u32, u32), other: f32| {
            let graph = Graph::build(2, &[edge], None, true).unwrap().0;
            let rows = Mat::from_slice(2, 3, &[1.0, 2.0, 3.0, other, 1.0, 1.0]);
            let reading = config.read(&graph, &Features::from_dense(rows), &mut Session::default()).unwrap();
            config.embed(&reading, &parameters).value().row(0).to_vec()
        };
        assert_ne!(first_node((0, 1), 1.0), first_node((0, 1), 5.0));
        assert_eq!(first_node((1, 0), 1.0), first_node((1, 0), 5.0));
    }

    #[test]
    fn surely_homophilic_edges_are_a_gcn_and_leave_nothing_to_sharpen() {
        let config = Greet { hidden: 2, ..Greet::default() };
        let reading = path(&config);
        let mut parameters = config.parameters(3, 1).constants();
        parameters[4] = Var::constant(Mat::full(1, 1, 40.0)); // the bias of the edges' scores
        let found = config.channels(&reading, &mut Take::from(&parameters), None);
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let expected = normalise::symmetric_with_self_loops(&graph);
        for (found, expected) in found.low.values.value().as_slice().iter().zip(&expected.values) {
            assert!((found - expected).abs() < 1e-5);
        }
        let identity = reading.loops.value().as_slice();
        for (found, expected) in found.high.values.value().as_slice().iter().zip(identity) {
            assert!((found - expected).abs() < 1e-5);
        }
    }
}
