//! LHS: learns a latent homophilic structure and classifies nodes on it (AAAI 2024).
//!
//! [`StructureConfig::fit`] induces and refines a graph in which neighbours share a class;
//! [`encoder`] reads a node's own features, its neighbour row, and both graphs in channels of their own.
//! On another graph the structure is found again, by what was learned, before the encoder reads it.

pub mod channel_selection;
pub mod encoder;
mod memory;
mod summary;
pub mod tampering;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{FittedModel, Model, ModelInfo, NodeClassifier, SavedModel, SearchSpace, settings};
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::random::derive;
use crate::linalg::{Mat, release_buffers};
use crate::structure::{Choices, FittedStructure, Structure, StructureConfig};
use crate::training::{
    Auto, DataSizes, EpochRecord, MemoryPlan, Observer, Parameters, Session, Supervised, Task, Tensors,
    TrainingConfig, argmax, probabilities, train,
};
use channel_selection::{ChannelSelection, ChannelSet, Fixed};
use encoder::{Channels, Encoder, ReconstructionConfig};
use tampering::Tampering;

/// Up to this many nodes, several members are worth their time.
const FEW_NODES: usize = 10_000;
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
    /// Encoders that learn on the same structure from different starts, and whose probabilities are averaged, 1
    /// or more, or `auto`: 3 on graphs of up to 10,000 nodes, where chance weighs most, 1 on larger ones.
    pub ensemble_size: Auto<usize>,
    /// Hops over the latent graph, 0 or more, or `auto`.
    pub latent_hops: Auto<usize>,
    /// Hops over the given graph, 0 or more, or `auto`.
    pub given_hops: Auto<usize>,
    /// Whether the encoder reads neighbour rows, whom a node is joined to: `true`, `false` or `auto`.
    pub profile: Auto<bool>,
    /// Given edges with less support (short paths around them) than this are left out, 0 or above, or `auto`: none,
    /// unless the edges of the training nodes look tampered with.
    pub least_support: Auto<f32>,
    /// Share of the inputs dropped while training, 0..1.
    pub input_dropout: f32,
    /// Share of the codes dropped while training, 0..1.
    pub dropout: f32,
    /// How often, while training, all that comes over one of the two graphs is left out, 0..1: the other
    /// channels learn to do without it.
    pub channel_dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
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
            ensemble_size: Auto::CHOOSE,
            latent_hops: Auto::CHOOSE,
            given_hops: Auto::CHOOSE,
            profile: Auto::CHOOSE,
            least_support: Auto::CHOOSE,
            input_dropout: 0.5,
            dropout: 0.6,
            channel_dropout: 0.2,
            normalise_features: false,
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
    const REMEMBERS_NODES: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        vec![
            ("hidden", SearchSpace::choice([64, 128])),
            ("layers", SearchSpace::choice([1, 2])),
            ("latent_hops", SearchSpace::Choice(vec!["auto".into(), 0.into(), 1.into(), 2.into()])),
            ("given_hops", SearchSpace::Choice(vec!["auto".into(), 0.into(), 1.into(), 2.into()])),
            ("profile", SearchSpace::Choice(vec!["auto".into(), true.into(), false.into()])),
            ("input_dropout", SearchSpace::Uniform(0.0, 0.8)),
            ("dropout", SearchSpace::Uniform(0.0, 0.8)),
            ("channel_dropout", SearchSpace::Uniform(0.0, 0.5)),
            ("normalise_features", SearchSpace::choice([false, true])),
            ("reconstruction.weight", SearchSpace::choice([0.0, 0.5, 1.0])),
            ("structure.rounds", SearchSpace::choice([0, 2])),
            ("training.learning_rate", SearchSpace::LogUniform(1e-3, 2e-2)),
            ("training.weight_decay", SearchSpace::LogUniform(1e-5, 1e-1)),
        ]
    }
}

/// LHS after learning.
#[derive(Clone, Debug)]
pub struct FittedLhs {
    config: Lhs,
    tampering: Tampering,
    structure: FittedStructure,
    /// Which of the known nodes it learned from.
    learned_from: Vec<bool>,
    /// The training graph, without the edges left out, and its structure, which need not be found again.
    seen: Option<(Graph, Structure)>,
    selection: ChannelSelection,
    /// Share of the edges between training nodes that join nodes of one class; none where there is no such edge.
    agreeing_edges: Option<f32>,
    channels: Channels,
    /// One set per member.
    members: Vec<Parameters>,
}

impl Lhs {
    /// The channels that are worth reading, and the accuracy of leaving out with them.
    fn channel_set(&self, feature_columns: usize, selection: &ChannelSelection) -> (ChannelSet, f32) {
        selection.best(Fixed {
            // Without features, the profile is all there is.
            profile: if feature_columns == 0 { Some(true) } else { self.profile.given() },
            given: self.given_hops.given().map(|hops| hops > 0),
            latent: self.latent_hops.given().map(|hops| hops > 0),
        })
    }

    fn num_members(&self, graph: &Graph) -> usize {
        let usual = if graph.num_nodes() <= FEW_NODES { 3 } else { 1 };
        self.ensemble_size.given().unwrap_or(usual)
    }

    fn channels(&self, task: &Task<'_>, structure: &Structure, selection: &ChannelSelection) -> Channels {
        let set = self.channel_set(task.features.dim(), selection).0;
        Channels {
            features: task.features.dim(),
            profile: if set.profile { structure.inputs.neighbour_rows.cols() } else { 0 },
            latent_hops: self.latent_hops.given().unwrap_or(if set.latent { HOPS } else { 0 }),
            given_hops: self.given_hops.given().unwrap_or(if set.given { HOPS } else { 0 }),
            target: if self.reconstruction.weight > 0.0 {
                if task.features.dim() > 0 {
                    structure.inputs.features.cols()
                } else {
                    structure.inputs.profile_directions.cols()
                }
            } else {
                0
            },
        }
    }
}

impl Model for Lhs {
    type Fitted = FittedLhs;

    fn validate(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("layers", self.layers)?;
        settings::at_least_one("ensemble_size", self.ensemble_size.given().unwrap_or(1))?;
        settings::not_negative("least_support", self.least_support.given().unwrap_or(0.0))?;
        settings::share_below_one("input_dropout", self.input_dropout)?;
        settings::share_below_one("dropout", self.dropout)?;
        settings::share_below_one("channel_dropout", self.channel_dropout)?;
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
        let tampering = self.tampering(task, seed, session)?;
        self.learn_trimmed(task, tampering, seed, session)
    }
}

impl Lhs {
    fn tampering(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Tampering> {
        if let Some(least) = self.least_support.given() {
            return Ok(Tampering::given(least));
        }
        let inputs = self.structure.inputs(task, session)?;
        Tampering::look(task, &inputs.profile_directions, |tampering| {
            self.trial(task, tampering, seed, session)
        })
    }

    /// Trains one member, and says how many of the validation nodes it gets right, 0..=1.
    fn trial(
        &self,
        task: &Task<'_>,
        tampering: Tampering,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<f32> {
        // An interrupted trial is begun anew: it leaves nothing behind that the training could take for its own.
        let mut session =
            Session { observer: &Trial(session.observer), checkpoints: None, memo: session.memo };
        let config = Lhs { ensemble_size: Auto::Given(1), ..self.clone() };
        let fitted = config.learn_trimmed(task, tampering, seed, &mut session)?;
        let found = fitted.predict(task.graph, task.features)?;
        let asked = task.val.nodes.iter().zip(&task.val.classes);
        let right = asked.filter(|(node, class)| argmax(found.row(**node as usize)) == **class as usize);
        Ok(right.count() as f32 / task.val.nodes.len().max(1) as f32)
    }

    /// Learns without the edges to leave out.
    fn learn_trimmed(
        &self,
        task: &Task<'_>,
        tampering: Tampering,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<FittedLhs> {
        let learned_from = || task.train.marked_among(task.graph.num_nodes());
        let graph = tampering.trimmed(task.graph, learned_from)?;
        self.learn(&Task { graph: &graph, ..task.clone() }, tampering, seed, session)
    }

    fn learn(
        &self,
        task: &Task<'_>,
        tampering: Tampering,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<FittedLhs> {
        let (fitted, structure) = self.structure.fit(task, derive(seed, &[2]), session)?;
        // What the structure needed is of other sizes than what the encoder will need.
        release_buffers();
        let selection = ChannelSelection::measure(task.graph, &structure, &task.train, task.num_classes);
        let channels = self.channels(task, &structure, &selection);
        let network = Encoder::new(self, channels, task.graph, task.features, &structure);
        let objective = Supervised::new(&network, task, &self.training)?;
        let mut member = |number: usize| {
            let seed = derive(seed, &[1, number as u64]);
            let mut parameters = encoder::parameters(self, &channels, task.num_classes, seed);
            let stage = format!("classifier-{}", number + 1);
            train(&stage, &objective, &mut parameters, &self.training, derive(seed, &[1]), session)?;
            Ok(parameters)
        };
        let members = (0..self.num_members(task.graph)).map(&mut member).collect::<Result<_>>()?;
        Ok(FittedLhs {
            config: self.clone(),
            tampering,
            structure: fitted,
            learned_from: task.train.marked_among(task.graph.num_nodes()),
            seen: Some((task.graph.clone(), structure)),
            selection,
            agreeing_edges: summary::agreeing_edges(task),
            channels,
            members,
        })
    }
}

impl NodeClassifier for FittedLhs {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        let network = self.network(graph, features)?;
        let scale = 1.0 / self.members.len() as f32;
        let mut mean = Mat::zeros(graph.num_nodes(), self.num_classes());
        for member in &self.members {
            let found = probabilities(&network, &member.constants());
            mean.as_mut_slice().iter_mut().zip(found.as_slice()).for_each(|(sum, p)| *sum += scale * p);
        }
        Ok(mean)
    }

    fn saved(&self) -> Result<SavedModel> {
        let mut contents = self.structure.contents();
        for (number, member) in (1..).zip(&self.members) {
            let encoder = member.tensors().into_iter();
            contents.tensors.extend(encoder.map(|(name, value)| (format!("encoder.{number}.{name}"), value)));
        }
        let state = State {
            channels: self.channels,
            classes: self.num_classes(),
            ensemble_size: self.members.len(),
            selection: self.selection,
            agreeing_edges: self.agreeing_edges,
            tampering: self.tampering,
            structure: self.structure.choices().clone(),
        };
        let learned_from = self.learned_from.iter().map(|&from| u64::from(from)).collect();
        contents.lists.insert(LEARNED_FROM.into(), learned_from);
        SavedModel::new(&self.config, &state, contents)
    }

    fn diagnostics(&self) -> Vec<String> {
        let mut lines = self.structure.choices().diagnostics();
        lines.extend(self.tampering.diagnosis());
        let (_, chosen) = self.config.channel_set(self.channels.features, &self.selection);
        let Channels { profile, latent_hops, given_hops, .. } = self.channels;
        lines.push(format!(
            "read: {latent_hops} hops over the latent graph, {given_hops} over the given one, profiles: {}; training \
             nodes right when left out: {:.1} %, by their features alone {:.1} %",
            if profile > 0 { "yes" } else { "no" },
            100.0 * chosen,
            100.0 * self.selection.features_alone()
        ));
        lines
    }

    fn summary(&self) -> Vec<String> {
        summary::of(self)
    }

    /// The mean over the members, whose probabilities are averaged after the softmax: with one member, the softmax of the
    /// sum is what [`NodeClassifier::predict`] gives; with several it is near.
    fn channel_scores(&self, graph: &Graph, features: &Features) -> Result<Option<Vec<(String, Mat)>>> {
        let network = self.network(graph, features)?;
        let scale = 1.0 / self.members.len() as f32;
        let mut sums: Vec<(String, Mat)> = Vec::new();
        for member in &self.members {
            for (place, (name, scores)) in network.channel_scores(&member.constants()).into_iter().enumerate()
            {
                if sums.len() == place {
                    sums.push((name.to_string(), Mat::zeros(scores.rows(), scores.cols())));
                }
                let sum = sums[place].1.as_mut_slice().iter_mut();
                sum.zip(scores.as_slice()).for_each(|(sum, score)| *sum += scale * score);
            }
        }
        Ok(Some(sums))
    }

    /// The codes of the first member: members begin at random, and their columns have no common meaning.
    fn embeddings(&self, graph: &Graph, features: &Features) -> Result<Option<Mat>> {
        let network = self.network(graph, features)?;
        Ok(Some(network.codes(&self.members[0].constants())))
    }

    fn tampering(&self) -> Option<Tampering> {
        Some(self.tampering)
    }

    fn kept_edges<'a>(&self, graph: &'a Graph, features: &Features) -> Result<Cow<'a, Graph>> {
        self.trimmed(graph, features)
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

    /// Whether the edges looked tampered with, and what was done about it.
    pub fn tampering(&self) -> &Tampering {
        &self.tampering
    }

    /// The latent structure of a graph, which need not be the training graph.
    pub fn structure(&self, graph: &Graph, features: &Features) -> Result<Structure> {
        let graph = self.trimmed(graph, features)?;
        self.structure_of(&graph, features)
    }

    /// The encoder on a graph.
    fn network(&self, graph: &Graph, features: &Features) -> Result<Encoder<'_>> {
        let graph = self.trimmed(graph, features)?;
        let structure = self.structure_of(&graph, features)?;
        Ok(Encoder::new(&self.config, self.channels, &graph, features, &structure))
    }

    /// A graph without the edges to leave out.
    fn trimmed<'a>(&self, graph: &'a Graph, features: &Features) -> Result<Cow<'a, Graph>> {
        let learned_from = |known: Option<u32>| known.is_some_and(|node| self.learned_from[node as usize]);
        self.tampering
            .trimmed(graph, || self.structure.known(features).into_iter().map(learned_from).collect())
    }

    /// The structure of a graph from which the edges to leave out are gone.
    fn structure_of(&self, graph: &Graph, features: &Features) -> Result<Structure> {
        settings::same_columns(features, self.channels.features)?;
        match &self.seen {
            Some((seen, structure)) if seen == graph && self.structure.was_learned_on(features) => {
                Ok(structure.clone())
            }
            _ => self.structure.apply(graph, features),
        }
    }

    fn num_classes(&self) -> usize {
        self.members[0].tensors().get("head.bias").map_or(0, Mat::cols)
    }
}

/// Watches a trial, which is not part of the curve that leads to the model.
struct Trial<'a>(&'a dyn Observer);

impl Observer for Trial<'_> {
    fn stopping(&self) -> bool {
        self.0.stopping()
    }

    fn epoch(&self, record: &EpochRecord) {
        let stage = format!("trial-{}", record.stage);
        self.0.epoch(&EpochRecord { stage, val_accuracy: None, ..record.clone() });
    }
}

/// What is saved beside matrices.
#[derive(Serialize, Deserialize)]
struct State {
    channels: Channels,
    classes: usize,
    ensemble_size: usize,
    selection: ChannelSelection,
    #[serde(default)]
    agreeing_edges: Option<f32>,
    tampering: Tampering,
    structure: Choices,
}

/// The list that says, with 1, which of the known nodes were learned from.
const LEARNED_FROM: &str = "learned_from";

impl FittedModel for FittedLhs {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let config: Lhs = saved.settings()?;
        let state: State = saved.state()?;
        let State { channels, classes, ensemble_size, selection, agreeing_edges, tampering, structure } =
            state;
        let structure = FittedStructure::restore(structure, &saved.contents)?;
        let learned_from: Vec<bool> = saved.list(LEARNED_FROM)?.iter().map(|&from| from > 0).collect();
        if learned_from.len() != structure.num_known() || ensemble_size == 0 {
            return Err(saved.damaged("its parts do not fit together"));
        }
        let member = |number: usize| {
            let prefix = format!("encoder.{number}.");
            let own =
                |(name, value): (&String, &Mat)| Some((name.strip_prefix(&prefix)?.into(), value.clone()));
            let own: Tensors = saved.contents.tensors.iter().filter_map(own).collect();
            let mut parameters = encoder::parameters(&config, &channels, classes, 0);
            parameters.restore(&own)?;
            Ok(parameters)
        };
        let members = (1..=ensemble_size).map(member).collect::<Result<_>>()?;
        Ok(FittedLhs {
            config,
            tampering,
            structure,
            learned_from,
            seen: None,
            selection,
            agreeing_edges,
            channels,
            members,
        })
    }
}
