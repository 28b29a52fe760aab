//! Encoders that learn in several ways, and how much each of them says.
//!
//! No way of learning suits every graph: dropout that saves one wastes another, features may be worth more as shares of
//! their row, and channels that closed-form classifiers find worth reading need not be those that a trained encoder makes
//! most of. So a few ways are tried, each different from the settings in one respect, and a committee is elected on the
//! cross-entropy of its mean probabilities at the validation nodes: it begins with the encoder that learned as set, and
//! whoever helps most joins, more than once if need be (ensemble selection, Caruana et al. 2004). Members who are wrong in
//! different places are worth more than one who is right a little more often.
//! Cost: one training for each way; only the elected are kept.

use super::encoder::{self, Channels, Encoder};
use super::rows::NodeRows;
use super::{HOPS, Lhs, Prepared};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::structure::Structure;
use crate::training::{Auto, Mixture, Parameters, Score, Session, Task, probabilities, train};

/// How many ways there are at most, that of the settings among them.
const WAYS: usize = 7;
/// How many votes are given.
const VOTES: usize = 8;
/// Up to this many nodes, several encoders are worth their time.
const FEW_NODES: usize = 10_000;
/// Nodes times layers up to which several encoders are worth their time.
const FEW_NODES_IN_LAYERS: usize = 40_000;
/// Encoders that differ in nothing but where they begin, where several are worth their time and no committee can be elected.
const STARTS: usize = 3;
/// With short steps they are so much shorter, and weights are pulled to zero by so much.
const SHORT_STEPS: (f32, f32) = (0.2, 0.02);
/// Shares of the codes dropped: the usual one, and the little one.
const DROPOUTS: (f32, f32) = (0.6, 0.2);

/// An encoder that has learned.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// In what it differs from the settings.
    pub(super) way: String,
    /// How it learned, and reads.
    pub(super) config: Lhs,
    pub(super) channels: Channels,
    /// How much of the committee's answer is its own, 0..=1.
    pub(super) share: f32,
    pub(super) parameters: Parameters,
}

impl Member {
    /// The only one.
    pub(super) fn alone(config: &Lhs, channels: Channels, parameters: Parameters) -> Self {
        Member { way: AS_SET.to_string(), config: config.clone(), channels, share: 1.0, parameters }
    }

    /// Class probabilities on a graph, `[n,classes]`.
    pub(super) fn probabilities(&self, graph: &Graph, features: &Features, structure: &Structure) -> Mat {
        let parameters = self.parameters.constants();
        match self.rows(graph, features, structure) {
            Some(rows) => probabilities(&rows, &parameters),
            None => probabilities(&self.network(graph, features, structure), &parameters),
        }
    }

    /// What each channel adds to the class scores.
    pub(super) fn channel_scores(
        &self,
        graph: &Graph,
        features: &Features,
        structure: &Structure,
    ) -> Vec<(&'static str, Mat)> {
        let parameters = self.parameters.constants();
        match self.rows(graph, features, structure) {
            Some(rows) => rows.named(&parameters, |encoder, parameters| encoder.channel_scores(parameters)),
            None => self.network(graph, features, structure).channel_scores(&parameters),
        }
    }

    /// The codes that classes are read from.
    pub(super) fn codes(&self, graph: &Graph, features: &Features, structure: &Structure) -> Mat {
        let parameters = self.parameters.constants();
        match self.rows(graph, features, structure) {
            Some(rows) => {
                let mut codes =
                    rows.named(&parameters, |encoder, parameters| vec![("", encoder.codes(parameters))]);
                codes.pop().map_or_else(|| Mat::zeros(0, 0), |(_, codes)| codes)
            }
            None => self.network(graph, features, structure).codes(&parameters),
        }
    }

    /// The rows of the nodes, where it learned in batches.
    fn rows<'a>(
        &'a self,
        graph: &Graph,
        features: &'a Features,
        structure: &'a Structure,
    ) -> Option<NodeRows<'a>> {
        (self.channels.rows > 0)
            .then(|| NodeRows::new(&self.config, self.channels, graph, features, structure))
    }

    /// The network on a graph.
    pub(super) fn network<'a>(
        &'a self,
        graph: &Graph,
        features: &Features,
        structure: &Structure,
    ) -> Encoder<'a> {
        Encoder::new(&self.config, self.channels, graph, features, structure)
    }
}

/// A way of learning.
struct Way {
    name: &'static str,
    config: Lhs,
    channels: Channels,
}

/// How many encoders are trained at most on graphs of so many nodes.
pub(super) fn most_members(config: &Lhs, nodes: usize) -> usize {
    config.ensemble_size.given().unwrap_or(if nodes <= FEW_NODES { WAYS } else { 1 })
}

/// An encoder that learned as set.
pub(super) const AS_SET: &str = "as set";

impl Lhs {
    /// The committee that begins with a member that has learned already.
    pub(super) fn committee(
        &self,
        task: &Task<'_>,
        prepared: &Prepared,
        first: (Channels, Parameters),
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Vec<Member>> {
        let (channels, parameters) = first;
        let member = |way: &str, config: &Lhs, channels, parameters| Member {
            way: way.to_string(),
            config: config.clone(),
            channels,
            share: 0.0,
            parameters,
        };
        let mut members = vec![member(AS_SET, self, channels, parameters)];
        let ways = self.ways(task, channels);
        for (number, Way { name, config, channels }) in (1..).zip(&ways) {
            let stage = format!("classifier-{}", number + 1);
            let trained = config.member(task, prepared, *channels, (&stage, number), seed, session)?;
            members.push(member(name, config, *channels, trained.0));
        }
        let votes = if self.elects(task, &channels) {
            elect(&members, task, prepared, self)?
        } else {
            vec![1; members.len()]
        };
        let all: usize = votes.iter().sum();
        members.iter_mut().zip(&votes).for_each(|(member, votes)| member.share = *votes as f32 / all as f32);
        members.retain(|member| member.share > 0.0);
        Ok(members)
    }

    /// Whether there are several ways of learning among which validation nodes choose.
    fn elects(&self, task: &Task<'_>, channels: &Channels) -> bool {
        let layers = channels.given_layers + channels.latent_layers;
        self.ensemble_size.given().is_none()
            && task.graph.num_nodes() <= FEW_NODES
            && layers == 0
            && !task.val.nodes.is_empty()
    }

    /// The ways beside the settings as they are.
    fn ways(&self, task: &Task<'_>, channels: Channels) -> Vec<Way> {
        let way = |name, config: Lhs, channels| Way { name, config, channels };
        if !self.elects(task, &channels) {
            let again = way("another start", self.clone(), channels);
            let nodes = task.graph.num_nodes();
            let layers = channels.given_layers + channels.latent_layers;
            let few = nodes <= FEW_NODES && nodes * layers <= FEW_NODES_IN_LAYERS;
            let count = self.ensemble_size.given().unwrap_or(if few { STARTS } else { 1 });
            return (1..count).map(|_| Way { config: again.config.clone(), ..again }).collect();
        }
        let mut ways = Vec::new();
        if channels.features > 0 {
            let config = if self.normalise_features {
                Lhs { normalise_features: false, input_dropout: Lhs::default().input_dropout, ..self.clone() }
            } else {
                Lhs { normalise_features: true, input_dropout: 0.0, ..self.clone() }
            };
            ways.push(way("features scaled otherwise", config, channels));
        }
        ways.push(way("one layer more", Lhs { layers: self.layers + 1, ..self.clone() }, channels));
        let middle = 0.5 * (DROPOUTS.0 + DROPOUTS.1);
        let dropout = if self.dropout > middle { DROPOUTS.1 } else { DROPOUTS.0 };
        ways.push(way("other dropout", Lhs { dropout, ..self.clone() }, channels));
        let mut slow = self.clone();
        slow.training.learning_rate *= SHORT_STEPS.0;
        slow.training.weight_decay = Auto::Given(SHORT_STEPS.1);
        ways.push(way("short steps", slow, channels));
        if self.latent_hops.given().is_none() {
            let other = if channels.latent_hops > 0 {
                Channels { latent_hops: 0, target: 0, ..channels }
            } else {
                Channels { latent_hops: HOPS, ..channels }
            };
            let name =
                if other.latent_hops > 0 { "with the latent graph" } else { "without the latent graph" };
            ways.push(way(name, self.clone(), other));
        }
        if self.profile.given().is_none() && channels.features > 0 {
            let (profile, incoming_profile) = match channels.profile + channels.incoming_profile {
                0 => (task.graph.num_nodes(), if channels.directed { task.graph.num_nodes() } else { 0 }),
                _ => (0, 0),
            };
            let name = if profile > 0 { "with neighbour rows" } else { "without neighbour rows" };
            ways.push(way(name, self.clone(), Channels { profile, incoming_profile, ..channels }));
        }
        ways
    }

    /// Trains an encoder; says how it does at the validation nodes.
    pub(super) fn member(
        &self,
        task: &Task<'_>,
        prepared: &Prepared,
        channels: Channels,
        (stage, number): (&str, usize),
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<(Parameters, Option<Score>)> {
        let config = self.learning(&channels);
        let on = |graph, structure| Encoder::new(&config, channels, graph, task.features, structure);
        let network = on(task.graph, &prepared.structure);
        let copies = prepared.copies.map(|(graph, structure)| on(graph, structure));
        let objective = Mixture::new(&network, &copies, task, &config.training)?;
        let seed = derive(seed, &[1, number as u64]);
        let mut parameters = encoder::parameters(&config, &channels, task.num_classes, seed);
        let trained =
            train(stage, &objective, &mut parameters, &config.training, derive(seed, &[1]), session)?;
        Ok((parameters, trained.best))
    }
}

/// How many votes each member gets.
fn elect(members: &[Member], task: &Task<'_>, prepared: &Prepared, config: &Lhs) -> Result<Vec<usize>> {
    let loss = config.training.class_weights.resolve(task)?;
    // The graph itself, and its copies: how much each counts, and what each member answers there.
    let copies = &prepared.copies;
    let versions = [(copies.weight_of_graph(), task.graph, &prepared.structure)].into_iter();
    let judges = copies.val.iter().map(|(graph, structure)| (copies.weight_of_judge(), graph, structure));
    let versions: Vec<_> = versions.chain(judges).filter(|(share, ..)| *share > 0.0).collect();
    let answer = |member: &Member, graph: &Graph, structure: &Structure| {
        let network = member.network(graph, task.features, structure);
        probabilities(&network, &member.parameters.constants()).select_rows(&task.val.nodes)
    };
    let answers: Vec<Vec<Mat>> = members
        .iter()
        .map(|member| versions.iter().map(|(_, graph, structure)| answer(member, graph, structure)).collect())
        .collect();
    let classes = task.val.classes.clone().into();
    let cost = |sums: &[Mat], votes: usize| -> f32 {
        let of = |sum: &Mat| {
            let mut mean = sum.clone();
            mean.as_mut_slice().iter_mut().for_each(|p| *p = (*p / votes as f32).max(1e-9).ln());
            loss.of(&Var::constant(mean), &classes).scalar()
        };
        sums.iter().zip(&versions).map(|(sum, (share, ..))| share * of(sum)).sum()
    };
    let with = |sums: &[Mat], answers: &[Mat]| -> Vec<Mat> {
        let add = |(sum, answer): (&Mat, &Mat)| {
            let mut sum = sum.clone();
            super::add_scaled(&mut sum, answer, 1.0);
            sum
        };
        sums.iter().zip(answers).map(add).collect()
    };
    let mut votes = vec![0; members.len()];
    votes[0] = 1;
    let mut sum = answers[0].clone();
    for given in 1..VOTES {
        let costs: Vec<f32> = answers.iter().map(|answer| cost(&with(&sum, answer), given + 1)).collect();
        let next =
            (1..costs.len()).fold(0, |best, place| if costs[place] < costs[best] { place } else { best });
        votes[next] += 1;
        sum = with(&sum, &answers[next]);
    }
    Ok(votes)
}
