//! LHS: learns a latent homophilic structure and classifies nodes on it (AAAI 2024).
//!
//! [`StructureConfig::fit`] induces and refines a graph in which neighbours share a class;
//! [`encoder`] reads a node's own features, its adjacency profile, and both graphs in channels of their own.
//! On another graph the structure is found again, by what was learned, before the encoder reads it.

pub mod encoder;
pub mod tampering;
pub mod trust;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ModelConfig, ModelKind, NodeClassifier, SearchSpace, Task, settings};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph};
use crate::linalg::random::derive;
use crate::linalg::{Mat, release_buffers};
use crate::structure::{FittedStructure, Learn, Structure, StructureConfig};
use crate::training::{
    Auto, EpochRecord, Parameters, Session, Supervised, Tensors, TrainingConfig, argmax, probabilities, train,
};
use encoder::{Channels, Encoder, ReconstructionConfig};
use tampering::Tampering;
use trust::{Doors, Fixed, Trust};

/// Up to this many nodes, several members are worth their time.
const FEW_NODES: usize = 10_000;
/// Hops over a graph that is worth reading.
const HOPS: usize = 2;

/// Settings of LHS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LhsConfig {
    /// Width of a node's own code, for its features and for its profile each, 1 or more.
    pub hidden: usize,
    /// Layers of these codes, 1 or more.
    pub layers: usize,
    /// Encoders that learn on the same structure from different starts, and whose probabilities are averaged, 1
    /// or more, or `auto`: 3 on graphs of up to 10,000 nodes, where chance weighs most, 1 on larger ones.
    pub members: Auto<usize>,
    /// Hops over the latent graph, 0 or more, or `auto`.
    pub latent_hops: Auto<usize>,
    /// Hops over the given graph, 0 or more, or `auto`.
    pub given_hops: Auto<usize>,
    /// Whether the encoder reads adjacency profiles: `true`, `false` or `auto`.
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

impl Default for LhsConfig {
    fn default() -> Self {
        LhsConfig {
            hidden: 64,
            layers: 1,
            members: Auto::CHOOSE,
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

/// LHS after learning.
#[derive(Clone, Debug)]
pub struct FittedLhs {
    config: LhsConfig,
    tampering: Tampering,
    structure: FittedStructure,
    /// Which of the known nodes it learned from.
    learned_from: Vec<bool>,
    /// The training graph, without the edges left out, and its structure, which need not be found again.
    seen: Option<(Graph, Structure)>,
    trust: Trust,
    channels: Channels,
    /// One set per member.
    members: Vec<Parameters>,
}

impl LhsConfig {
    /// The channels that are worth reading, and the accuracy of leaving out with them.
    fn doors(&self, feature_columns: usize, trust: &Trust) -> (Doors, f32) {
        trust.best(Fixed {
            // Without features, the profile is all there is.
            profile: if feature_columns == 0 { Some(true) } else { self.profile.given() },
            given: self.given_hops.given().map(|hops| hops > 0),
            latent: self.latent_hops.given().map(|hops| hops > 0),
        })
    }

    fn num_members(&self, graph: &Graph) -> usize {
        let usual = if graph.num_nodes() <= FEW_NODES { 3 } else { 1 };
        self.members.given().unwrap_or(usual)
    }

    fn channels(&self, task: &Task<'_>, structure: &Structure, trust: &Trust) -> Channels {
        let doors = self.doors(task.features.dim(), trust).0;
        Channels {
            features: task.features.dim(),
            profile: if doors.profile { structure.inputs.neighbours.cols() } else { 0 },
            latent_hops: self.latent_hops.given().unwrap_or(if doors.latent { HOPS } else { 0 }),
            given_hops: self.given_hops.given().unwrap_or(if doors.given { HOPS } else { 0 }),
            target: if self.reconstruction.weight > 0.0 {
                if task.features.dim() > 0 {
                    structure.inputs.features.cols()
                } else {
                    structure.inputs.profiles.cols()
                }
            } else {
                0
            },
        }
    }
}

impl ModelConfig for LhsConfig {
    fn validate(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("layers", self.layers)?;
        settings::at_least_one("members", self.members.given().unwrap_or(1))?;
        settings::not_negative("least_support", self.least_support.given().unwrap_or(0.0))?;
        settings::share_below_one("input_dropout", self.input_dropout)?;
        settings::share_below_one("dropout", self.dropout)?;
        settings::share_below_one("channel_dropout", self.channel_dropout)?;
        self.structure.validate("structure")?;
        self.reconstruction.validate("reconstruction")?;
        self.training.validate("training")
    }

    fn fit(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Box<dyn NodeClassifier>> {
        self.validate()?;
        let tampering = self.tampering(task, seed, session)?;
        Ok(Box::new(self.learn_trimmed(task, tampering, seed, session)?))
    }
}

impl LhsConfig {
    fn tampering(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Tampering> {
        if let Some(least) = self.least_support.given() {
            return Ok(Tampering::given(least));
        }
        let inputs = self.structure.inputs(&self.learning(task), session)?;
        Tampering::look(task, &inputs.profiles, |tampering| self.trial(task, tampering, seed, session))
    }

    /// Trains one member, and says how many of the validation nodes it gets right, 0..=1.
    fn trial(
        &self,
        task: &Task<'_>,
        tampering: Tampering,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<f32> {
        let (stop, memo) = (session.stop, session.memo);
        // An interrupted trial is begun anew: it leaves nothing behind that the training could take for its own.
        // Nor is it part of the curve that leads to the model.
        let mut tell = |record: &EpochRecord| {
            let stage = format!("trial-{}", record.stage);
            session.tell(&EpochRecord { stage, val_accuracy: None, ..record.clone() });
        };
        let mut session = Session { stop, memo, on_epoch: Some(&mut tell), checkpoints: None };
        let config = LhsConfig { members: Auto::Given(1), ..self.clone() };
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
        let trimmed = matches!(graph, Cow::Owned(_));
        let task = Task { graph: &graph, ..task.clone() };
        // What fits share belongs to the graph with all its edges.
        let memo = if trimmed { session.memo.take() } else { None };
        let fitted = self.learn(&task, tampering, seed, session);
        session.memo = memo.or(session.memo);
        fitted
    }

    fn learning<'a>(&self, task: &'a Task<'_>) -> Learn<'a> {
        Learn {
            graph: task.graph,
            features: task.features,
            labelled: &task.train,
            num_classes: task.num_classes,
        }
    }

    fn learn(
        &self,
        task: &Task<'_>,
        tampering: Tampering,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<FittedLhs> {
        let (fitted, structure) = self.structure.fit(&self.learning(task), derive(seed, &[2]), session)?;
        // What the structure needed is of other sizes than what the encoder will need.
        release_buffers();
        let trust = Trust::measure(task.graph, &structure, &task.train, task.num_classes);
        let channels = self.channels(task, &structure, &trust);
        let network = Encoder::new(self, channels, task.graph, task.features, &structure);
        let objective = Supervised::on(&network, &task.train, &task.val);
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
            trust,
            channels,
            members,
        })
    }
}

impl NodeClassifier for FittedLhs {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        let graph = self.trimmed(graph, features)?;
        let structure = self.structure_of(&graph, features)?;
        let network = Encoder::new(&self.config, self.channels, &graph, features, &structure);
        let scale = 1.0 / self.members.len() as f32;
        let mut mean = Mat::zeros(graph.num_nodes(), self.num_classes());
        for member in &self.members {
            let found = probabilities(&network, &member.constants());
            mean.as_mut_slice().iter_mut().zip(found.as_slice()).for_each(|(sum, p)| *sum += scale * p);
        }
        Ok(mean)
    }

    fn tensors(&self) -> Tensors {
        let Channels { latent_hops, given_hops, .. } = self.channels;
        let mut tensors = self.structure.tensors();
        tensors.insert("hops".into(), Mat::from_slice(1, 2, &[latent_hops as f32, given_hops as f32]));
        let learned_from: Vec<f32> =
            self.learned_from.iter().map(|&from| f32::from(u8::from(from))).collect();
        tensors.insert("learned_from".into(), Mat::column(&learned_from));
        tensors.insert("trust".into(), Mat::column(&self.trust.0));
        tensors.insert("tampering".into(), Mat::column(&self.tampering.to_numbers()));
        for (number, member) in (1..).zip(&self.members) {
            let encoder = member.tensors().into_iter();
            tensors.extend(encoder.map(|(name, value)| (format!("encoder.{number}.{name}"), value)));
        }
        tensors
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.structure.choices().in_words();
        remarks.extend(self.tampering.in_words());
        let (_, chosen) = self.config.doors(self.channels.features, &self.trust);
        let Channels { profile, latent_hops, given_hops, .. } = self.channels;
        remarks.push(format!(
            "read: {latent_hops} hops over the latent graph, {given_hops} over the given one, profiles: {}; training \
             nodes right when left out: {:.1} %, by their features alone {:.1} %",
            if profile > 0 { "yes" } else { "no" },
            100.0 * chosen,
            100.0 * self.trust.features_alone()
        ));
        remarks
    }

    fn structure(&self, graph: &Graph, features: &Features) -> Result<Option<Structure>> {
        let graph = self.trimmed(graph, features)?;
        self.structure_of(&graph, features).map(Some)
    }
}

impl FittedLhs {
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

    fn restore(config: LhsConfig, tensors: &Tensors) -> Result<Self> {
        let damaged = || Error::data("the weights are not those of an lhs model", "train again");
        let structure = FittedStructure::from_tensors(tensors)?;
        let encoder = |number: usize| -> Tensors {
            let prefix = format!("encoder.{number}.");
            let own =
                |(name, value): (&String, &Mat)| Some((name.strip_prefix(&prefix)?.into(), value.clone()));
            tensors.iter().filter_map(own).collect()
        };
        let first = encoder(1);
        let numbers = |name: &str| tensors.get(name).map(Mat::as_slice).ok_or_else(damaged);
        let [latent_hops, given_hops] = *numbers("hops")? else { return Err(damaged()) };
        let trust = Trust(numbers("trust")?.try_into().map_err(|_| damaged())?);
        let tampering = Tampering::from_numbers(numbers("tampering")?.try_into().map_err(|_| damaged())?);
        let learned_from: Vec<bool> = numbers("learned_from")?.iter().map(|&from| from > 0.0).collect();
        if learned_from.len() != structure.num_known() {
            return Err(damaged());
        }
        let rows = |channel: &str| first.get(&encoder::weight_name(channel, 0)).map_or(0, Mat::rows);
        let channels = Channels {
            features: rows("features"),
            profile: rows("profile"),
            latent_hops: latent_hops as usize,
            given_hops: given_hops as usize,
            target: first.get("decoder.bias").map_or(0, Mat::cols),
        };
        let classes = first.get("head.bias").ok_or_else(damaged)?.cols();
        let member = |number: usize| {
            let mut parameters = encoder::parameters(&config, &channels, classes, 0);
            parameters.restore(&encoder(number))?;
            Ok(parameters)
        };
        let count =
            (1..).take_while(|number| tensors.contains_key(&format!("encoder.{number}.head.bias"))).count();
        let members = (1..=count).map(member).collect::<Result<_>>()?;
        Ok(FittedLhs { config, tampering, structure, learned_from, seen: None, trust, channels, members })
    }
}

/// LHS in the list of models.
pub const KIND: ModelKind = ModelKind {
    name: "lhs",
    summary: "latent homophilic structures (AAAI 2024): learns a graph whose neighbours agree, predicts on it",
    defaults: settings::defaults::<LhsConfig>,
    build: settings::build::<LhsConfig>,
    load: |table, tensors| Ok(Box::new(FittedLhs::restore(settings::read(table)?, tensors)?)),
    search: || {
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
    },
    published: &[],
    knows_nodes: false,
};
