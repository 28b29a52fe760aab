//! The discriminator and both encoders: from a graph and its features to embeddings.

use std::sync::Arc;

use super::Greet;
use super::compared::Compared;
use super::random_walk::returns;
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern};
use crate::models::parts::scaling::{diagonal, symmetric, where_set};
use crate::models::parts::{ParamBuilder, ParamReader, attention, noise};
use crate::training::{Input, MemoKey, Parameters, Session};

/// Steps of the random walks that describe a node.
const STEPS: usize = 16;
/// Width of the discriminator's hidden layer.
const DISCRIMINATOR: usize = 128;

/// A graph as the encoders read it.
pub(super) struct Prepared {
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
        let mut builder = ParamBuilder::new(seed);
        builder.linear("discriminator.features", features, DISCRIMINATOR);
        builder.weight("discriminator.returns", STEPS, DISCRIMINATOR);
        builder.linear("discriminator.edge", DISCRIMINATOR, 1);
        for view in ["low", "high"] {
            builder.linear(&format!("{view}.encoder"), features, self.hidden);
            for layer in 0..self.projection_layers {
                builder.linear(&format!("{view}.projection{layer}"), self.hidden, self.hidden);
            }
        }
        builder.done()
    }

    /// What both encoders need of a graph.
    pub(super) fn prepare(
        &self,
        graph: &Graph,
        features: &Features,
        session: &mut Session<'_>,
    ) -> Result<Prepared> {
        let returns = session.shared(
            || MemoKey::new("greet, returns").graph(graph).setting(STEPS),
            |_| Ok(returns(graph, STEPS)),
        )?;
        let pattern = normalise::with_self_loops(graph).pattern;
        Ok(Prepared {
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
        prepared: &Prepared,
        reader: &mut ParamReader<'_>,
        noise_seed: Option<u64>,
    ) -> Channels {
        let hidden = reader.linear_of(&prepared.input).add(&prepared.returns.matmul(reader.one())).relu();
        let ends = reader.linear(&hidden); // t [n, 1]
        let mut scores = attention::sums(&prepared.pattern, &ends, &ends); // [nnz, 1]
        if let Some(seed) = noise_seed {
            scores = scores.add(&Var::constant(noise::logistic(scores.rows(), 1, seed)));
        }
        let homophilic = scores.sigmoid();
        let ones = Var::constant(Mat::full(scores.rows(), 1, 1.0));
        let scaled = |weights: &Var| {
            symmetric(&Sparse::new(Arc::clone(&prepared.pattern), where_set(&prepared.loops, &ones, weights)))
        };
        let low = scaled(&homophilic);
        let high = scaled(&ones.sub(&homophilic)).values.scale(-self.sharpness);
        let high = Sparse::new(Arc::clone(&prepared.pattern), where_set(&prepared.loops, &ones, &high));
        Channels { homophilic, low, high }
    }

    /// `P^hops relu(X W + b)`.
    pub(super) fn encode(&self, prepared: &Prepared, own: [&Var; 2], propagation: &Sparse) -> Var {
        let own = self.first(prepared, own);
        (0..self.hops).fold(own, |rows, _| propagation.matmul(&rows))
    }

    /// `relu(X W + b)`, `[n, hidden]`.
    pub(super) fn first(&self, prepared: &Prepared, [weight, bias]: [&Var; 2]) -> Var {
        prepared.input.matmul(weight).add_row(bias).relu()
    }

    /// Both embeddings side by side, rows of length 1, `[n, 2 hidden]`.
    fn embedding(&self, prepared: &Prepared, channels: &Channels, encoders: &Encoders<'_>) -> Var {
        let low = self.encode(prepared, encoders.low.own, &channels.low);
        let high = self.encode(prepared, encoders.high.own, &channels.high);
        Var::concat_cols(&[&low, &high]).unit_rows()
    }

    /// The embedding that the classifier reads.
    pub(super) fn embed(&self, prepared: &Prepared, parameters: &[Var]) -> Var {
        let mut reader = ParamReader::from(parameters);
        let channels = self.channels(prepared, &mut reader, None);
        self.embedding(prepared, &channels, &self.encoders(&mut reader))
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
    pub(super) fn encoders<'a>(&self, reader: &mut ParamReader<'a>) -> Encoders<'a> {
        let mut one = || Encoder {
            own: [reader.one(), reader.one()],
            projection: (0..self.projection_layers).map(|_| [reader.one(), reader.one()]).collect(),
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
    pub fn path(config: &Greet) -> Prepared {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let features = Features::from_dense(Mat::from_fn(4, 3, |row, col| ((row + col) % 3) as f32));
        config.prepare(&graph, &features, &mut Session::default()).unwrap()
    }

    #[test]
    fn a_node_hears_only_those_that_it_points_to() {
        let config = Greet { hops: 1, ..Greet::default() };
        let parameters = config.parameters(3, 1).constants();
        let first_node = |edge: (u32, u32), other: f32| {
            let graph = Graph::build(2, &[edge], None, true).unwrap().0;
            let rows = Mat::from_slice(2, 3, &[1.0, 2.0, 3.0, other, 1.0, 1.0]);
            let prepared =
                config.prepare(&graph, &Features::from_dense(rows), &mut Session::default()).unwrap();
            config.embed(&prepared, &parameters).value().row(0).to_vec()
        };
        assert_ne!(first_node((0, 1), 1.0), first_node((0, 1), 5.0));
        assert_eq!(first_node((1, 0), 1.0), first_node((1, 0), 5.0));
    }

    #[test]
    fn surely_homophilic_edges_are_a_gcn_and_leave_nothing_to_sharpen() {
        let config = Greet { hidden: 2, ..Greet::default() };
        let prepared = path(&config);
        let mut parameters = config.parameters(3, 1).constants();
        parameters[4] = Var::constant(Mat::full(1, 1, 40.0)); // the bias of the edges' scores
        let found = config.channels(&prepared, &mut ParamReader::from(&parameters), None);
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let expected = normalise::symmetric_with_self_loops(&graph);
        for (found, expected) in found.low.values.value().as_slice().iter().zip(&expected.values) {
            assert!((found - expected).abs() < 1e-5);
        }
        let identity = prepared.loops.value().as_slice();
        for (found, expected) in found.high.values.value().as_slice().iter().zip(identity) {
            assert!((found - expected).abs() < 1e-5);
        }
    }
}
