//! The graph encoder and classifier: channels that are kept apart, and a masked autoencoder beside them.
//!
//! A node's own code `H = relu(X W_x + b_x) ‖ relu(P W_p + b_p) [n,w]` comes from its features `X` and its
//! neighbour row `P`, whom it is joined to, one column per known node (`structure::views::NeighbourRows`; more layers
//! of the same kind, if asked for, work on each of the two). The codes are that, its means one and two hops away over
//! the latent graph `S`, and over the given graph `A` (both row-stochastic, without self loops), side by side; a linear
//! head classifies them. So a node's own code is never averaged away, and each channel is weighed for itself
//! (`channel_selection` says which are read):
//! `scores = H W₀ + S H W₁ + S² H W₂ + A H W₃ + A² H W₄ + b`.
//! Where edges have a direction, the rows of those that a node leads to and of those that lead to it have codes of their own, and
//! hops along and against it have weights of their own. For what linear hops cannot tell there may be layers over either graph
//! (`stack`), whose scores are added.
//! Averages and weights commute, so the code is first multiplied by all weights and then travels as a few
//! columns, `H W₀ + S (H W₁ + S (H W₂)) + …`: the hops cost next to nothing, and no code of all channels is stored.
//!
//! Beside it, a share θ of the nodes is masked (their own code replaced by a learned token), short codes over the
//! latent graph alone are masked again, and a graph convolution must restore what the nodes look like: the loss is the
//! scaled cosine error `mean (1 - cos)^γ` over the masked nodes. Its target are the rows of the view, their principal
//! directions, since every column of a target costs time in every step.
//! Cost per epoch: `O(nnz(X) h + edges h + n w c)` and `O(edges c)` per hop for `c` columns; reconstruction adds a
//! second pass.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::{Lhs, stack};
use crate::autograd::{Sparse, Var};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph, normalise};
use crate::linalg::random::{derive, generator, glorot, hash};
use crate::linalg::{Mat, SparseMat};
use crate::structure::{Profiles, Structure};
use crate::training::{Input, Network, Parameters, dropout_before};

/// Width of the codes that the decoder reads: narrow, since every training step pays for them.
pub(super) const DECODED: usize = 32;

/// The channel of a node's own features.
pub const FEATURES: &str = "own features";
/// The channel of a node's neighbour row.
pub const PROFILE: &str = "whom it is joined to";
/// The same where edges have a direction.
pub const PROFILE_ALONG: &str = "whom it leads to";
/// The channel of the row of those that lead to a node.
pub const PROFILE_AGAINST: &str = "who leads to it";
/// The channel of the hops over the given graph.
pub const GIVEN: &str = "hops over the given graph";
/// The same where edges have a direction.
pub const ALONG: &str = "hops along the given edges";
/// The channel of the hops against the direction of edges.
pub const AGAINST: &str = "hops against the given edges";
/// The channel of the hops over the latent graph.
pub const LATENT: &str = "hops over the latent graph";
/// The channel of the layers over the given graph.
pub const GIVEN_LAYERS: &str = "layers over the given graph";
/// The channel of the layers over the latent graph.
pub const LATENT_LAYERS: &str = "layers over the latent graph";
/// What is added for every node alike.
pub const BIAS: &str = "bias, the same for all";

/// The masked autoencoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReconstructionConfig {
    /// Weight beside the cross-entropy (the paper's β), 0 (none) or above.
    pub weight: f32,
    /// Share of the nodes that are masked (the paper's θ), 0..1.
    pub mask: f32,
    /// Sharpness of the error (the paper's γ), 1 or above.
    pub exponent: f32,
}

impl Default for ReconstructionConfig {
    fn default() -> Self {
        ReconstructionConfig { weight: 0.5, mask: 0.5, exponent: 2.0 }
    }
}

impl ReconstructionConfig {
    /// Checks the ranges; `prefix` is the path of these settings.
    pub fn validate(&self, prefix: &str) -> Result<()> {
        let check = |good: bool, key: &str, value: f32, range: &str| {
            let problem = format!("{value} is out of range");
            if good {
                Ok(())
            } else {
                Err(Error::setting(format!("{prefix}.{key}"), problem, format!("choose {range}")))
            }
        };
        check(
            self.weight >= 0.0 && self.weight.is_finite(),
            "weight",
            self.weight,
            "0 or a positive number",
        )?;
        check((0.0..1.0).contains(&self.mask), "mask", self.mask, "a share from 0 up to, not including, 1")?;
        check(self.exponent >= 1.0 && self.exponent.is_finite(), "exponent", self.exponent, "1 or more")
    }
}

/// Which channels an encoder has, and how wide they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Channels {
    /// Feature columns.
    pub features: usize,
    /// Columns of the neighbour rows, the nodes of the training graph; 0 when they are not read. Where edges have a
    /// direction, the rows are of those that a node leads to.
    pub profile: usize,
    /// The same of those that lead to a node.
    pub incoming_profile: usize,
    /// Hops over the latent graph.
    pub latent_hops: usize,
    /// Hops over the given graph; where edges have a direction, along it.
    pub given_hops: usize,
    /// Hops against the direction.
    pub incoming_hops: usize,
    /// Layers over the latent graph.
    pub latent_layers: usize,
    /// Layers over the given graph.
    pub given_layers: usize,
    /// Whether layers learn with little to hinder them.
    pub gentle: bool,
    /// Whether the direction of edges is read.
    pub directed: bool,
    /// Columns of the rows to restore; 0 without reconstruction.
    pub target: usize,
    /// Columns of what comes over a hop where that was computed beforehand (`rows`); 0 where codes travel.
    pub rows: usize,
}

impl Channels {
    /// The codes: what their weights are called, and the columns that they read.
    fn codes(&self) -> impl Iterator<Item = (String, usize)> {
        let own = [
            ("features", self.features),
            ("profile", self.profile),
            ("incoming_profile", self.incoming_profile),
        ];
        let own = own.into_iter().map(|(name, columns)| (name.to_string(), columns));
        let hops =
            [("given", self.given_hops), ("incoming", self.incoming_hops), ("latent", self.latent_hops)];
        let rows = self.rows;
        let hops = hops
            .into_iter()
            .flat_map(move |(name, hops)| (1..=hops).map(move |hop| (format!("{name}.{hop}"), rows)));
        own.chain(hops).filter(|(_, columns)| *columns > 0)
    }

    /// How often codes travel, over all graphs.
    fn travels(&self) -> usize {
        if self.rows > 0 { 0 } else { self.latent_hops + self.given_hops + self.incoming_hops }
    }

    /// Whether the latent graph is looked at.
    pub fn read_latent(&self) -> bool {
        self.latent_hops > 0 || self.latent_layers > 0
    }

    /// The layers: over the latent graph, over the given one.
    fn stacks(&self) -> [(&'static str, usize); 2] {
        [("latent_layers", self.latent_layers), ("given_layers", self.given_layers)]
    }
}

/// What the weights of a layer of a channel's code are called.
pub fn weight_name(channel: &str, layer: usize) -> String {
    format!("{channel}.{layer}.weight")
}

/// Fresh weights.
pub fn parameters(config: &Lhs, channels: &Channels, classes: usize, seed: u64) -> Parameters {
    let hidden = config.hidden;
    let mut rng = generator(seed, 0);
    let mut parameters = Parameters::default();
    let mut width = 0;
    for (name, columns) in channels.codes() {
        for layer in 0..config.layers {
            let from = if layer == 0 { columns } else { hidden };
            parameters.weight(weight_name(&name, layer), glorot(&mut rng, from, hidden));
            parameters.bias(format!("{name}.{layer}.bias"), Mat::zeros(1, hidden));
        }
        width += hidden;
    }
    let count = 1 + channels.travels();
    parameters.weight("head.weight", glorot(&mut rng, width, count * classes));
    parameters.bias("head.bias", Mat::zeros(1, classes));
    if channels.target > 0 {
        parameters.bias("token", Mat::zeros(1, width));
        let columns = (1 + channels.latent_hops) * DECODED;
        parameters.weight("decoder.code", glorot(&mut rng, width, columns));
        parameters.weight("decoder.weight", glorot(&mut rng, DECODED, channels.target));
        parameters.bias("decoder.bias", Mat::zeros(1, channels.target));
    }
    for (name, layers) in channels.stacks() {
        if layers > 0 {
            let graphs = if name == "given_layers" && channels.directed { 2 } else { 1 };
            let sizes = stack::Sizes { width, hidden, layers, graphs, classes };
            stack::add_parameters(&mut parameters, name, &sizes, &mut rng);
        }
    }
    parameters
}

/// The network on one graph with its structure.
pub struct Encoder<'a> {
    config: &'a Lhs,
    channels: Channels,
    /// What the own codes read.
    inputs: Vec<Input>,
    /// Row-stochastic latent graph.
    latent: Sparse,
    /// Row-stochastic given graph; where its direction is read, along it.
    given: Sparse,
    /// Row-stochastic, against the direction.
    incoming: Option<Sparse>,
    /// The latent graph with self loops, for the decoder.
    decoder: Sparse,
    /// Unit rows to restore.
    target: Mat,
}

impl<'a> Encoder<'a> {
    /// Puts a graph with its structure before the network.
    pub fn new(
        config: &'a Lhs,
        channels: Channels,
        graph: &Graph,
        features: &Features,
        structure: &Structure,
    ) -> Self {
        let features = if config.normalise_features {
            Input::new(&normalise::row_normalised(features))
        } else {
            Input::new(features)
        };
        let rows = |profiles: &Profiles| Input::Sparse(Sparse::constant(&profiles.neighbour_rows));
        let mut inputs = Vec::new();
        if channels.features > 0 {
            inputs.push(features);
        }
        if channels.profile > 0 {
            inputs.push(rows(&structure.inputs.profiles));
        }
        if channels.incoming_profile > 0 {
            inputs.extend(structure.inputs.incoming.as_ref().map(rows));
        }
        let average = |graph: &Graph| Sparse::constant(&normalise::row_stochastic(graph));
        Encoder {
            config,
            channels,
            inputs,
            latent: average(structure.latent()),
            given: if channels.directed { average(graph) } else { average(&graph.to_undirected()) },
            incoming: channels.directed.then(|| average(&graph.reversed())),
            decoder: Sparse::constant(&normalise::symmetric_with_self_loops(structure.latent())),
            target: target(channels, structure),
        }
    }

    /// Of nodes that are rows: all that they read, in the order of the codes.
    pub(super) fn of_rows(config: &'a Lhs, channels: Channels, inputs: Vec<Input>) -> Self {
        let nowhere = || Sparse::constant(&SparseMat::from_triplets(0, 0, Vec::new()));
        Encoder {
            config,
            channels,
            inputs,
            latent: nowhere(),
            given: nowhere(),
            incoming: None,
            decoder: nowhere(),
            target: Mat::zeros(0, 0),
        }
    }

    /// Each node's own code, `[n,w]`.
    fn own(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let (rate, seed) = dropout_before(0, self.config.input_dropout, dropout_seed);
        let layers = parameters.chunks(2 * self.config.layers);
        let code = |(number, (input, layers)): (u64, (&Input, &[Var]))| {
            // The first has the seeds themselves.
            let varied = |seed: u64, by: u64| if number == 0 { seed } else { derive(seed, &[by]) };
            let read = input.dropout(rate, varied(seed, number)).matmul(&layers[0]);
            self.code(read, layers, dropout_seed.map(|seed| varied(seed, 3 + number)))
        };
        let parts: Vec<Var> = (0..).zip(self.inputs.iter().zip(layers)).map(code).collect();
        Var::concat_cols(&parts.iter().collect::<Vec<_>>())
    }

    /// The code of a channel, from its inputs times the weights of its first layer on.
    fn code(&self, read: Var, layers: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut code = read.add_row(&layers[1]).relu();
        for (number, layer) in (5..).zip(layers[2..].chunks_exact(2)) {
            let (rate, seed) = dropout_before(number, self.config.dropout, dropout_seed);
            code = code.dropout(rate, seed).matmul(&layer[0]).add_row(&layer[1]).relu();
        }
        code
    }

    /// The own code and what it becomes on its hops over some graphs, times one weight matrix each:
    /// `[n,w] x [w, (1 + hops)*c] -> [n,c]`.
    fn weighed(own: &Var, weights: &Var, graphs: &[(&Sparse, usize, f32)]) -> Var {
        let all = own.matmul(weights); // [n, (1 + hops)*c]
        let count = 1 + graphs.iter().map(|(_, hops, _)| hops).sum::<usize>();
        let columns = all.cols() / count;
        let mut sum = all.slice_cols(0, columns);
        let mut first = 1;
        for (graph, hops, scale) in graphs {
            if *scale > 0.0
                && let Some(travelled) = Self::travelled(&all, columns, first, graph, *hops)
            {
                sum = sum.add(&if *scale == 1.0 { travelled } else { travelled.scale(*scale) });
            }
            first += hops;
        }
        sum
    }

    /// What comes over one graph, of codes times weights whose channels from `first` on are its hops, `[n,c]`; nothing
    /// without hops. From the farthest hop inwards: `S (H W₁ + S (H W₂))`.
    fn travelled(all: &Var, columns: usize, first: usize, graph: &Sparse, hops: usize) -> Option<Var> {
        let travel = |far: Option<Var>, hop: usize| {
            let here = all.slice_cols((first + hop) * columns, columns);
            Some(graph.matmul(&far.map_or(here.clone(), |far| far.add(&here))))
        };
        (0..hops).rev().fold(None, travel)
    }

    /// The weight of a graph in a step: 0 when it is left out, and as much more in the others.
    fn kept(&self, graph: u32, dropout_seed: Option<u64>) -> f32 {
        let rate = self.config.channel_dropout;
        match dropout_seed {
            Some(seed) if rate > 0.0 => {
                let drawn = f64::from(hash(derive(seed, &[3]), graph)) / 2f64.powi(32);
                if drawn < f64::from(rate) { 0.0 } else { 1.0 / (1.0 - rate) }
            }
            _ => 1.0,
        }
    }

    /// Where the head's parameters begin.
    fn head(&self) -> usize {
        2 * self.config.layers * self.inputs.len()
    }

    /// The hops: the graph, how many, its number.
    fn hops(&self) -> impl Iterator<Item = (&Sparse, usize, u32)> {
        let hops = |hops: usize| if self.channels.rows > 0 { 0 } else { hops };
        let Channels { latent_hops, given_hops, incoming_hops, .. } = self.channels;
        let [latent_hops, given_hops, incoming_hops] = [latent_hops, given_hops, incoming_hops].map(hops);
        let two = [(&self.latent, latent_hops, 0), (&self.given, given_hops, 1)];
        two.into_iter().chain(self.incoming.as_ref().map(|incoming| (incoming, incoming_hops, 2)))
    }

    /// The layers that there are: their graphs, where their parameters stand, their number.
    fn stacks(&self) -> impl Iterator<Item = (Vec<&Sparse>, std::ops::Range<usize>, u32)> {
        let decoder = if self.channels.target > 0 { 4 } else { 0 };
        let graphs = [vec![&self.latent], [&self.given].into_iter().chain(&self.incoming).collect()];
        let mut first = self.head() + 2 + decoder;
        let places = self.channels.stacks().map(|(_, layers)| {
            let place = first..first + stack::num_parameters(layers);
            first = place.end;
            place
        });
        let all =
            graphs.into_iter().zip(places).zip(0..).map(|((graphs, place), number)| (graphs, place, number));
        all.filter(|(_, place, _)| !place.is_empty())
    }

    /// What the layers over some graphs leave of the own codes, `[n,h]`.
    fn deep(&self, own: &Var, graphs: &[&Sparse], parameters: &[Var], number: u32, seed: Option<u64>) -> Var {
        let dropout = |layer: u64| {
            let seed = seed.map(|seed| derive(seed, &[20 + u64::from(number)]));
            dropout_before(layer as usize, self.config.layer_dropout, seed)
        };
        stack::codes(own, graphs, parameters, dropout)
    }
}

/// The given graph as an encoder sees it, with edges that gradients may flow into.
pub(super) struct Seen {
    /// Neighbour rows.
    pub(super) profile: Sparse,
    /// Those of the reversed graph.
    pub(super) incoming_profile: Option<Sparse>,
    /// Row-stochastic.
    pub(super) given: Sparse,
    /// Row-stochastic, against the direction.
    pub(super) incoming: Option<Sparse>,
}

impl Encoder<'_> {
    /// The same with another given graph before it.
    pub(super) fn seeing(mut self, seen: Seen) -> Self {
        let mut place = usize::from(self.channels.features > 0);
        if self.channels.profile > 0 {
            self.inputs[place] = Input::Sparse(seen.profile);
            place += 1;
        }
        if let (true, Some(incoming)) = (self.channels.incoming_profile > 0, seen.incoming_profile) {
            self.inputs[place] = Input::Sparse(incoming);
        }
        self.given = seen.given;
        self.incoming = self.incoming.and(seen.incoming);
        self
    }
}

impl Network for Encoder<'_> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.classified(&self.own(parameters, dropout_seed), parameters, dropout_seed)
    }

    fn training_scores(&self, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        let own = self.own(parameters, Some(seed));
        (self.classified(&own, parameters, Some(seed)), self.reconstruction(&own, parameters, seed))
    }
}

impl Encoder<'_> {
    /// Class scores from the own codes.
    fn classified(&self, own: &Var, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let (rate, seed) = dropout_before(1, self.config.dropout, dropout_seed);
        let head = self.head();
        let graphs: Vec<_> =
            self.hops().map(|(graph, hops, number)| (graph, hops, self.kept(number, dropout_seed))).collect();
        let own = own.dropout(rate, seed);
        let linear = Self::weighed(&own, &parameters[head], &graphs).add_row(&parameters[head + 1]);
        self.stacks().fold(linear, |sum, (graphs, place, number)| {
            let parameters = &parameters[place];
            let codes = self.deep(&own, &graphs, parameters, number, dropout_seed);
            sum.add(&stack::scores(&codes, parameters))
        })
    }

    /// How badly the rows of masked nodes are restored from what the others know.
    fn reconstruction(&self, own: &Var, parameters: &[Var], seed: u64) -> Option<Var> {
        if self.channels.target == 0 {
            return None;
        }
        let settings = &self.config.reconstruction;
        let (masked, visible) = mask(self.target.rows(), settings.mask, derive(seed, &[7]));
        if masked.is_empty() {
            return None;
        }
        let first = self.head() + 2;
        let [token, code, weight, bias] = &parameters[first..first + 4] else { return None };
        let visible = Var::constant(visible);
        let hidden = visible.scale(-1.0).add_scalar(1.0);
        let own = own.mul_col(&visible).add(&hidden.matmul(token)); // [n,w]
        let codes = Self::weighed(&own, code, &[(&self.latent, self.channels.latent_hops, 1.0)]);
        let spread = self.decoder.matmul(&codes.mul_col(&visible)); // [n,e], masked again
        let target = Rc::new(self.target.select_rows(&masked));
        let restored = spread.gather_rows(&masked.into()).relu().matmul(weight).add_row(bias); // [masked,d]
        let error = restored.cosine_error(&target, settings.exponent);
        Some(error.scale(settings.weight))
    }
}

impl Encoder<'_> {
    /// What each channel adds to the class scores, `[n,classes]` each; a channel that is not read is left out.
    pub fn channel_scores(&self, parameters: &[Var]) -> Vec<(&'static str, Mat)> {
        let own = self.own(parameters, None);
        let (head, bias) = (&parameters[self.head()], &parameters[self.head() + 1]);
        let classes = bias.cols();
        let all = own.matmul(head);
        let mut parts: Vec<(&'static str, Mat)> = Vec::new();
        let mut first = 0;
        for (name, _) in self.channels.codes() {
            let kind = name.split('.').next().unwrap_or_default();
            let name = match (kind, self.channels.directed) {
                ("features", _) => FEATURES,
                ("profile", false) => PROFILE,
                ("profile", true) => PROFILE_ALONG,
                ("incoming_profile", _) => PROFILE_AGAINST,
                ("given", false) => GIVEN,
                ("given", true) => ALONG,
                ("incoming", _) => AGAINST,
                _ => LATENT,
            };
            let rows: Vec<u32> = (first..first + self.config.hidden as u32).collect();
            let weights = Var::constant(head.value().select_rows(&rows)).slice_cols(0, classes);
            let code = own.slice_cols(first as usize, self.config.hidden);
            let scores = code.matmul(&weights).value().clone();
            match parts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => super::add_scaled(sum, &scores, 1.0),
                None => parts.push((name, scores)),
            }
            first += self.config.hidden as u32;
        }
        let mut first = 1;
        let mut over_graphs = Vec::new();
        for (graph, hops, number) in self.hops() {
            let name = match (number, self.channels.directed) {
                (0, _) => LATENT,
                (1, false) => GIVEN,
                (1, true) => ALONG,
                _ => AGAINST,
            };
            let travelled = Self::travelled(&all, classes, first, graph, hops);
            over_graphs.extend(travelled.map(|scores| (name, scores.value().clone())));
            first += hops;
        }
        // The given graph before the latent one.
        let latent_first = over_graphs.first().is_some_and(|(name, _)| *name == LATENT);
        over_graphs.rotate_left(usize::from(latent_first));
        parts.extend(over_graphs);
        for (graphs, place, number) in self.stacks() {
            let parameters = &parameters[place];
            let codes = self.deep(&own, &graphs, parameters, number, None);
            let name = if number == 0 { LATENT_LAYERS } else { GIVEN_LAYERS };
            parts.push((name, stack::scores(&codes, parameters).value().clone()));
        }
        let everywhere = Var::constant(Mat::zeros(own.rows(), classes)).add_row(bias);
        parts.push((BIAS, everywhere.value().clone()));
        parts
    }

    /// Each node's own code, its means over the hops (over the latent graph, then over the given one), and what the layers
    /// make of it, side by side, `[n, (1 + hops) * w + stacks * h]`.
    pub fn codes(&self, parameters: &[Var]) -> Mat {
        let own = self.own(parameters, None);
        let mut parts = vec![own.value().clone()];
        for (graph, hops, _) in self.hops() {
            let mut far = own.clone();
            for _ in 0..hops {
                far = graph.matmul(&far);
                parts.push(far.value().clone());
            }
        }
        for (graphs, place, number) in self.stacks() {
            parts.push(self.deep(&own, &graphs, &parameters[place], number, None).value().clone());
        }
        Mat::side_by_side(&parts)
    }
}

/// What the decoder must restore: the rows of the views that are read, scaled to length 1.
fn target(channels: Channels, structure: &Structure) -> Mat {
    if channels.target == 0 {
        return Mat::zeros(structure.inputs.features.rows(), 0);
    }
    let inputs = &structure.inputs;
    if channels.features > 0 { inputs.features.clone() } else { inputs.profile_directions() }
}

/// The nodes to mask, and a column that is 1 at the others. As many in every step: buffers of one size are
/// used again.
fn mask(num_nodes: usize, share: f32, seed: u64) -> (Vec<u32>, Mat) {
    let count = (share * num_nodes as f32) as usize;
    let mut masked: Vec<u32> = rand::seq::index::sample(&mut generator(seed, 0), num_nodes, count)
        .into_iter()
        .map(|node| node as u32)
        .collect();
    masked.sort_unstable();
    let mut visible = Mat::full(num_nodes, 1, 1.0);
    masked.iter().for_each(|&node| visible.as_mut_slice()[node as usize] = 0.0);
    (masked, visible)
}
