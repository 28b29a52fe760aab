//! LHS: learns a latent homophilic structure and classifies nodes on it (AAAI 2024).
//!
//! [`edge_trust`] weighs the given edges by how plausible they are, where that serves the validation nodes;
//! [`StructureConfig`] induces and refines a graph in which neighbours share a class;
//! [`encoder`] reads a node's own features, its neighbour row, and both graphs in channels of their own, those that
//! [`channel_selection`] finds worth reading, and through layers over them where [`Lhs::given_layers`] or
//! [`Lhs::latent_layers`] pay; a `committee` of encoders that learn in different ways is elected. On another graph edges are
//! weighed and the structure is found again, by what was learned, before the encoders read it.

pub mod channel_selection;
mod committee;
pub mod edge_trust;
pub mod encoder;
mod flips;
mod hardened;
mod judge;
mod layers;
mod memory;
pub mod plausibility;
mod rows;
mod stack;
mod summary;
mod trial;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{FittedModel, FlipQuestion, Model, ModelInfo, NodeClassifier, SavedModel, SearchSpace, settings};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::structure::{Bases, Choices, FittedStructure, Structure, StructureConfig, settle};
use crate::training::{Auto, DataSizes, MemoryPlan, OfCopies, Session, Task, Tensors, TrainingConfig};
use channel_selection::{ChannelSelection, ChannelSet, Fixed};
use committee::Member;
use edge_trust::{EdgeTrust, EdgeWeights, weigh};
use encoder::{Channels, ReconstructionConfig};
use hardened::Given;
use plausibility::Plausibility;

/// Hops over a graph that is worth reading.
const HOPS: usize = 2;
/// Settings of LHS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lhs {
    /// Width of a node's own code, for its features and for its profile each, 1 or more.
    pub hidden: usize,
    /// Layers of these codes, 1 or more.
    pub layers: usize,
    /// Nodes in a step of learning: 0 for all at once, or `auto`: all in a graph of up to 50,000 nodes, 8,192 in a larger one. In
    /// batches what comes over hops is computed beforehand, and neither layers nor committees, reconstruction, hardening or, unless
    /// it is given, trust are tried.
    pub batch: Auto<usize>,
    /// Encoders that learn from different starts, and whose probabilities are averaged, 1 or more, or `auto`: on graphs of up
    /// to 10,000 nodes a committee of encoders that learn in different ways, elected at the validation nodes; 1 on larger ones.
    pub ensemble_size: Auto<usize>,
    /// Hops over the latent graph, 0 or more, or `auto`.
    pub latent_hops: Auto<usize>,
    /// Hops over the given graph, 0 or more, or `auto`.
    pub given_hops: Auto<usize>,
    /// Whether the encoder reads neighbour rows, whom a node is joined to: `true`, `false` or `auto`.
    pub profile: Auto<bool>,
    /// Residual, non-linear layers over the latent graph, 0 (none) or more, or `auto`: as many as pay at the validation nodes.
    pub latent_layers: Auto<usize>,
    /// The same over the given graph.
    pub given_layers: Auto<usize>,
    /// Whether layers learn with little to hinder them: whole inputs, a fifth of the codes dropped, no weight decay; `true`, `false`
    /// or `auto`: what serves the validation nodes.
    pub gentle_layers: Auto<bool>,
    /// Every given edge is weighed by its plausibility to this power, 0 (not at all) or above, or `auto`: what serves the
    /// validation nodes.
    pub trust: Auto<f32>,
    /// Share of the inputs dropped while training, 0..1.
    pub input_dropout: f32,
    /// Share of the codes dropped while training, 0..1.
    pub dropout: f32,
    /// Share of what a layer adds dropped while training, 0..1.
    pub layer_dropout: f32,
    /// How often, while training, all that comes over one of the two graphs is left out, 0..1: the other
    /// channels learn to do without it.
    pub channel_dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How much copies of the graph that an attacker changed count in training, 0 (nothing) to 1, or `auto`.
    pub hardening: Auto<f32>,
    /// The latent structure.
    pub structure: StructureConfig,
    /// The masked autoencoder.
    pub reconstruction: ReconstructionConfig,
    /// How encoder and head are trained.
    pub training: TrainingConfig,
}

impl Default for Lhs {
    fn default() -> Self {
        Lhs {
            hidden: 64,
            layers: 1,
            batch: Auto::CHOOSE,
            ensemble_size: Auto::CHOOSE,
            latent_hops: Auto::CHOOSE,
            given_hops: Auto::CHOOSE,
            profile: Auto::CHOOSE,
            latent_layers: Auto::CHOOSE,
            given_layers: Auto::CHOOSE,
            gentle_layers: Auto::CHOOSE,
            trust: Auto::CHOOSE,
            input_dropout: 0.5,
            dropout: 0.6,
            layer_dropout: 0.3,
            channel_dropout: 0.2,
            normalise_features: false,
            hardening: Auto::Given(0.0),
            structure: StructureConfig::default(),
            reconstruction: ReconstructionConfig::default(),
            training: TrainingConfig { weight_decay: Auto::CHOOSE, ..TrainingConfig::default() },
        }
    }
}

impl ModelInfo for Lhs {
    const NAME: &'static str = "lhs";
    const SUMMARY: &'static str =
        "latent homophilic structures (AAAI 2024): learns a graph whose neighbours agree, predicts on it";
    const READS_DIRECTION: bool = true;
    const REMEMBERS_NODES: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        vec![
            ("hidden", SearchSpace::choice([64, 128])),
            ("layers", SearchSpace::choice([1, 2])),
            ("latent_hops", SearchSpace::Choice(vec!["auto".into(), 0.into(), 1.into(), 2.into()])),
            ("given_hops", SearchSpace::Choice(vec!["auto".into(), 0.into(), 1.into(), 2.into()])),
            ("profile", SearchSpace::Choice(vec!["auto".into(), true.into(), false.into()])),
            // Layers are dear: one trial in three has them.
            ("given_layers", SearchSpace::choice([0, 0, 4])),
            ("gentle_layers", SearchSpace::choice([false, true])),
            ("input_dropout", SearchSpace::Uniform(0.0, 0.8)),
            ("dropout", SearchSpace::Uniform(0.0, 0.8)),
            ("channel_dropout", SearchSpace::Uniform(0.0, 0.5)),
            ("normalise_features", SearchSpace::choice([false, true])),
            ("reconstruction.weight", SearchSpace::choice([0.0, 0.5, 1.0])),
            ("structure.rounds", SearchSpace::choice([0, 2])),
            ("structure.directions_per_class", SearchSpace::choice([8, 0])),
            ("training.learning_rate", SearchSpace::LogUniform(1e-3, 2e-2)),
            ("training.weight_decay", SearchSpace::LogUniform(1e-5, 1e-1)),
        ]
    }
}

/// LHS after learning.
#[derive(Clone, Debug)]
pub struct FittedLhs {
    config: Lhs,
    edge_trust: EdgeTrust,
    /// What weighs edges; none where they are left as they are.
    edge_weights: Option<EdgeWeights>,
    structure: FittedStructure,
    /// Which of the known nodes it learned from.
    learned_from: Vec<bool>,
    /// The training graph and its structure, which need not be found again.
    seen: Option<Seen>,
    selection: ChannelSelection,
    /// Whether it learned on copies that attack it; none where that was not asked for.
    hardened: Option<bool>,
    /// Share of the edges between training nodes that join nodes of one class; none where there is no such edge.
    agreeing_edges: Option<f32>,
    channels: Channels,
    /// The first learned as set.
    members: Vec<Member>,
}

/// The training graph.
#[derive(Clone, Debug)]
struct Seen {
    /// As it was given.
    given: Graph,
    /// With its edges weighed.
    weighed: Graph,
    structure: Structure,
}

/// All that is known before an encoder is trained.
struct Prepared {
    fitted: FittedStructure,
    structure: Structure,
    selection: ChannelSelection,
    channels: Channels,
    /// The copies of the graph that are learned on, too, their edges weighed, with their structures.
    copies: OfCopies<(Graph, Structure)>,
}

impl Lhs {
    /// What the settings fix of the channels.
    fn fixed(&self, feature_columns: usize) -> Fixed {
        Fixed {
            // Without features, the profile is all there is.
            profile: if feature_columns == 0 { Some(true) } else { self.profile.given() },
            given: self.given_hops.given().map(|hops| hops > 0),
            latent: self.latent_hops.given().map(|hops| hops > 0),
        }
    }

    /// The channels that are worth reading, and what closed-form classifiers get right with them.
    fn channel_set(&self, feature_columns: usize, selection: &ChannelSelection) -> (ChannelSet, f32) {
        selection.best(self.fixed(feature_columns))
    }

    fn channels(&self, task: &Task<'_>, structure: &Structure, selection: &ChannelSelection) -> Channels {
        let set = self.channel_set(task.features.dim(), selection).0;
        let in_batches = self.batch_size(task).is_some();
        let profiles = &structure.inputs.profiles;
        let known = if in_batches { profiles.directions.cols() } else { profiles.neighbour_rows.cols() };
        let hops = |given: Auto<usize>, read: bool| if read { given.given().unwrap_or(HOPS) } else { 0 };
        let channels = Channels {
            features: task.features.dim(),
            profile: if set.profile { known } else { 0 },
            incoming_profile: if set.incoming_profile { known } else { 0 },
            latent_hops: hops(self.latent_hops, set.latent),
            given_hops: hops(self.given_hops, set.given),
            incoming_hops: hops(self.given_hops, set.incoming),
            latent_layers: if in_batches { 0 } else { self.latent_layers.given().unwrap_or(0) },
            given_layers: if in_batches { 0 } else { self.given_layers.given().unwrap_or(0) },
            gentle: self.gentle_layers.given().unwrap_or(false),
            directed: structure.inputs.incoming.is_some(),
            target: 0,
            rows: if in_batches { rows::base_columns(task.features, structure) } else { 0 },
        };
        // What nobody reads need not be restored from.
        if self.reconstruction.weight == 0.0 || !channels.read_latent() || in_batches {
            return channels;
        }
        let target = if channels.features > 0 {
            structure.inputs.features.cols()
        } else {
            structure.inputs.profile_directions().cols()
        };
        Channels { target, ..channels }
    }
}

impl Model for Lhs {
    type Fitted = FittedLhs;
    const LEARNS_FROM_COPIES: bool = true;

    fn validate(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("layers", self.layers)?;
        settings::at_least_one("ensemble_size", self.ensemble_size.given().unwrap_or(1))?;
        settings::not_negative("trust", self.trust.given().unwrap_or(0.0))?;
        settings::share_below_one("input_dropout", self.input_dropout)?;
        settings::share_below_one("dropout", self.dropout)?;
        settings::share_below_one("layer_dropout", self.layer_dropout)?;
        settings::share_below_one("channel_dropout", self.channel_dropout)?;
        settings::share("hardening", self.hardening.given().unwrap_or(0.0))?;
        self.structure.validate("structure")?;
        self.reconstruction.validate("reconstruction")?;
        self.training.validate("training")
    }

    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        memory::plan(self, sizes)
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedLhs> {
        self.validate()?;
        self.ensure_fits(&DataSizes::of(task))?;
        let batch = self.batch_size(task);
        self.check_batch(batch, task)?;
        let (edge_trust, edge_weights) = self.edge_trust(task, seed, session)?;
        let given = task;
        let graph = weigh(&edge_weights, given)?;
        let task = &Task { graph: &graph, ..task.clone() };
        let mut prepared = self.prepare(task, true, seed, session)?;
        let as_given = (given, &edge_weights);
        prepared.copies = given.copies.map(|graph| self.copy(as_given, &prepared, graph))?;
        let prepared = self.hardened(as_given, task, prepared, seed, session)?;
        let hardened = (self.hardening.given() != Some(0.0)).then_some(!prepared.copies.train.is_empty());
        let (channels, members) = match batch {
            Some(batch) => {
                let learned = self.learned_in_batches(task, &prepared, batch, seed, session)?;
                (prepared.channels, vec![Member::alone(self, prepared.channels, learned)])
            }
            None => {
                let (channels, first) = self.with_layers(task, &prepared, seed, session)?;
                (channels, self.committee(task, &prepared, (channels, first), seed, session)?)
            }
        };
        let Prepared { fitted, structure, selection, .. } = prepared;
        Ok(FittedLhs {
            config: self.clone(),
            edge_trust,
            edge_weights,
            structure: fitted,
            learned_from: task.train.marked_among(task.graph.num_nodes()),
            seen: Some(Seen { given: given.graph.clone(), weighed: task.graph.clone(), structure }),
            selection,
            hardened,
            agreeing_edges: summary::agreeing_edges(task),
            channels,
            members,
        })
    }
}

impl Lhs {
    /// Refuses what cannot be done in batches.
    fn check_batch(&self, batch: Option<usize>, task: &Task<'_>) -> Result<()> {
        let asked = [
            ("hardening", self.hardening.given() != Some(0.0)),
            ("latent_layers", self.latent_layers.given().is_some_and(|layers| layers > 0)),
            ("given_layers", self.given_layers.given().is_some_and(|layers| layers > 0)),
            ("ensemble_size", self.ensemble_size.given().is_some_and(|size| size > 1)),
            ("batch", !task.copies.train.is_empty()),
        ];
        match asked.into_iter().find(|(_, asked)| *asked && batch.is_some()) {
            None => Ok(()),
            Some(("batch", _)) => Err(Error::setting(
                "batch",
                "copies of the graph are learned from with all nodes at once",
                "choose batch = 0",
            )),
            Some((key, _)) => Err(Error::setting(
                key,
                "it needs all nodes at once, and this graph is learned from in batches",
                format!("leave {key} out, or choose batch = 0, which takes more memory and time"),
            )),
        }
    }

    /// A copy of a task's graph, weighed and with the structure that was found on the graph itself.
    fn copy(
        &self,
        (task, edge_weights): Given<'_>,
        prepared: &Prepared,
        graph: &Graph,
    ) -> Result<(Graph, Structure)> {
        let never_latent = self.latent_hops.given() == Some(0) && self.latent_layers.given() == Some(0);
        let graph = weigh(edge_weights, &Task { graph, ..task.clone() })?.into_owned();
        let structure = if never_latent {
            prepared.fitted.without_latent(&graph, task.features)?
        } else {
            prepared.fitted.apply(&graph, task.features)?
        };
        Ok((graph, structure))
    }

    /// The structure, and which channels are worth reading.
    fn prepare(
        &self,
        task: &Task<'_>,
        refine: bool,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Prepared> {
        let seed = derive(seed, &[2]);
        let prepared = |(fitted, structure): (FittedStructure, Structure)| {
            let selection = ChannelSelection::measure(task, &structure, self.fixed(task.features.dim()));
            let channels = self.channels(task, &structure, &selection);
            settle(task.graph.num_nodes());
            let copies = OfCopies::none();
            Prepared { fitted, structure, selection, channels, copies }
        };
        let first = prepared(self.structure.induce(task, seed, session)?);
        let must_pay = self.structure.rounds_must_pay;
        if !refine || self.structure.rounds == 0 || (must_pay && !first.channels.read_latent()) {
            return Ok(first);
        }
        let induced = (first.fitted.clone(), first.structure.clone());
        let refined = prepared(self.structure.refine(induced, task, seed, session)?);
        let score = |prepared: &Prepared| self.channel_set(task.features.dim(), &prepared.selection).1;
        Ok(if must_pay && score(&refined) < score(&first) { first } else { refined })
    }
}

impl NodeClassifier for FittedLhs {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        let (weighed, structure) = self.prepared(graph, features)?;
        let mut mean = Mat::zeros(graph.num_nodes(), self.num_classes());
        for member in &self.members {
            let found = member.probabilities(&weighed, features, &structure);
            add_scaled(&mut mean, &found, member.share);
        }
        Ok(mean)
    }

    fn saved(&self) -> Result<SavedModel> {
        let mut contents = self.structure.contents();
        for (number, member) in (1..).zip(&self.members) {
            let encoder = member.parameters.tensors().into_iter();
            contents.tensors.extend(encoder.map(|(name, value)| (format!("encoder.{number}.{name}"), value)));
        }
        let state = State {
            channels: self.channels,
            classes: self.num_classes(),
            members: self.members.iter().map(MemberState::of).collect(),
            selection: self.selection.clone(),
            hardened: self.hardened,
            agreeing_edges: self.agreeing_edges,
            edge_trust: self.edge_trust.clone(),
            structure: self.structure.choices().clone(),
        };
        if let Some(EdgeWeights { plausibility, bases, .. }) = &self.edge_weights {
            bases.save(GIVEN, &mut contents);
            contents.tensors.insert(PLAUSIBILITY.into(), plausibility.weights().clone());
        }
        let learned_from = self.learned_from.iter().map(|&from| u64::from(from)).collect();
        contents.lists.insert(LEARNED_FROM.into(), learned_from);
        SavedModel::new(&self.config, &state, contents)
    }

    fn diagnostics(&self) -> Vec<String> {
        let mut lines = self.structure.choices().diagnostics();
        lines.extend(self.edge_trust.diagnosis());
        lines.extend(summary::channels(self));
        lines
    }

    fn summary(&self) -> Vec<String> {
        summary::of(self)
    }

    /// The mean over the members, whose probabilities are averaged after the softmax: with one member, the softmax of the
    /// sum is what [`NodeClassifier::predict`] gives; with several it is near.
    fn channel_scores(&self, graph: &Graph, features: &Features) -> Result<Option<Vec<(String, Mat)>>> {
        let (weighed, structure) = self.prepared(graph, features)?;
        let mut sums: Vec<(String, Mat)> = Vec::new();
        for member in &self.members {
            for (name, scores) in member.channel_scores(&weighed, features, &structure) {
                let place = sums.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                    sums.push((name.to_string(), Mat::zeros(scores.rows(), scores.cols())));
                    sums.len() - 1
                });
                add_scaled(&mut sums[place].1, &scores, member.share);
            }
        }
        // What is the same for all stands last, also where a later member reads more than the first.
        sums.sort_by_key(|(name, _)| name == encoder::BIAS);
        Ok(Some(sums))
    }

    /// The codes of the first member: members begin at random, and their columns have no common meaning.
    fn embeddings(&self, graph: &Graph, features: &Features) -> Result<Option<Mat>> {
        let (weighed, structure) = self.prepared(graph, features)?;
        Ok(Some(self.members[0].codes(&weighed, features, &structure)))
    }

    fn edge_gradient(
        &self,
        graph: &Graph,
        features: &Features,
        question: &FlipQuestion<'_>,
    ) -> Result<Option<Vec<f32>>> {
        if self.channels.rows > 0 {
            return Ok(None);
        }
        self.gradient_of_flips(graph, features, question).map(Some)
    }

    fn edge_trust(&self) -> Option<EdgeTrust> {
        Some(self.edge_trust.clone())
    }

    fn kept_edges<'a>(&self, graph: &'a Graph, features: &Features) -> Result<Cow<'a, Graph>> {
        self.weighed(graph, features)
    }

    fn structure(&self, graph: &Graph, features: &Features) -> Result<Option<Structure>> {
        FittedLhs::structure(self, graph, features).map(Some)
    }
}

impl FittedLhs {
    /// What was chosen for the latent structure: views, how nodes are joined, rounds.
    pub fn choices(&self) -> &Choices {
        self.structure.choices()
    }

    /// Which channels the encoders read.
    pub fn channels(&self) -> Channels {
        self.channels
    }

    /// How well each set of channels does at the training nodes, each left out.
    pub fn channel_selection(&self) -> &ChannelSelection {
        &self.selection
    }

    /// How far the plausibility of edges is believed.
    pub fn edge_trust(&self) -> &EdgeTrust {
        &self.edge_trust
    }

    /// The latent structure of a graph, which need not be the training graph.
    pub fn structure(&self, graph: &Graph, features: &Features) -> Result<Structure> {
        settings::same_columns(features, self.channels.features)?;
        match self.remembered(graph, features) {
            Some(seen) => Ok(seen.structure.clone()),
            None => self.structure.apply(&*self.weighed(graph, features)?, features),
        }
    }

    /// A graph with its edges weighed, and its structure, as far as any member reads it.
    fn prepared<'a>(&self, graph: &'a Graph, features: &Features) -> Result<(Cow<'a, Graph>, Structure)> {
        let read_latent = self.members.iter().any(|member| member.channels.read_latent());
        let structure = if read_latent || self.remembered(graph, features).is_some() {
            self.structure(graph, features)?
        } else {
            settings::same_columns(features, self.channels.features)?;
            self.structure.without_latent(&*self.weighed(graph, features)?, features)?
        };
        Ok((self.weighed(graph, features)?, structure))
    }

    /// A graph with its edges weighed.
    fn weighed<'a>(&self, graph: &'a Graph, features: &Features) -> Result<Cow<'a, Graph>> {
        let Some(weights) = &self.edge_weights else { return Ok(Cow::Borrowed(graph)) };
        if let Some(seen) = self.remembered(graph, features) {
            return Ok(Cow::Owned(seen.weighed.clone()));
        }
        let known = self.structure.known(features);
        let learned_from = |known: &Option<u32>| known.is_some_and(|node| self.learned_from[node as usize]);
        let marked: Vec<bool> = known.iter().map(learned_from).collect();
        weights.weigh(graph, features, &known, &marked)
    }

    /// The training graph, if it is this one.
    fn remembered(&self, graph: &Graph, features: &Features) -> Option<&Seen> {
        self.seen.as_ref().filter(|seen| seen.given == *graph && self.structure.was_learned_on(features))
    }

    fn num_classes(&self) -> usize {
        self.members[0].parameters.tensors().get("head.bias").map_or(0, Mat::cols)
    }
}

/// What is saved beside matrices.
#[derive(Serialize, Deserialize)]
struct State {
    channels: Channels,
    classes: usize,
    members: Vec<MemberState>,
    selection: ChannelSelection,
    #[serde(default)]
    hardened: Option<bool>,
    #[serde(default)]
    agreeing_edges: Option<f32>,
    edge_trust: EdgeTrust,
    structure: Choices,
}

/// What is saved of a member beside its matrices.
#[derive(Serialize, Deserialize)]
struct MemberState {
    way: String,
    share: f32,
    channels: Channels,
    settings: Lhs,
}

impl MemberState {
    fn of(member: &Member) -> Self {
        let Member { way, config, channels, share, .. } = member.clone();
        MemberState { way, share, channels, settings: config }
    }
}

/// `sum += scale * added`.
fn add_scaled(sum: &mut Mat, added: &Mat, scale: f32) {
    sum.as_mut_slice().iter_mut().zip(added.as_slice()).for_each(|(sum, value)| *sum += scale * value);
}

/// Where the views of the graph are kept that edges are weighed by.
const GIVEN: &str = "given";
/// The tensor of the models of plausibility.
const PLAUSIBILITY: &str = "plausibility";

/// The list that says, with 1, which of the known nodes were learned from.
const LEARNED_FROM: &str = "learned_from";

impl FittedModel for FittedLhs {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let config: Lhs = saved.settings()?;
        let state: State = saved.state()?;
        let State { channels, classes, members, selection, hardened, agreeing_edges, edge_trust, structure } =
            state;
        let structure = FittedStructure::restore(structure, &saved.contents)?;
        let learned_from: Vec<bool> = saved.list(LEARNED_FROM)?.iter().map(|&from| from > 0).collect();
        if learned_from.len() != structure.num_known() || members.is_empty() {
            return Err(saved.damaged("its parts do not fit together"));
        }
        let member = |(number, state): (usize, MemberState)| {
            let MemberState { way, share, channels, settings } = state;
            let prefix = format!("encoder.{number}.");
            let own =
                |(name, value): (&String, &Mat)| Some((name.strip_prefix(&prefix)?.into(), value.clone()));
            let own: Tensors = saved.contents.tensors.iter().filter_map(own).collect();
            let mut parameters = encoder::parameters(&settings, &channels, classes, 0);
            parameters.restore(&own)?;
            Ok(Member { way, config: settings, channels, share, parameters })
        };
        let members = (1..).zip(members).map(member).collect::<Result<_>>()?;
        let edge_weights = saved.contents.tensors.get(PLAUSIBILITY).map(|weights| {
            let plausibility = Plausibility::from_weights(weights);
            Ok(EdgeWeights {
                trust: edge_trust.trust,
                plausibility: plausibility
                    .ok_or_else(|| saved.damaged("the weights of plausibility do not fit"))?,
                bases: Bases::restore(GIVEN, &saved.contents)?.into(),
            })
        });
        let edge_weights = edge_weights.transpose()?;
        Ok(FittedLhs {
            config,
            edge_trust,
            edge_weights,
            structure,
            learned_from,
            seen: None,
            selection,
            hardened,
            agreeing_edges,
            channels,
            members,
        })
    }
}
