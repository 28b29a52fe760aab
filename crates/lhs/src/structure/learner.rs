//! The whole way from a graph with some labels to a latent structure, and the same way again for another graph.
//!
//! Round 0: the views that the training labels agree with best -> self-expression -> low-rank filter -> latent
//! graph. Each further round: refiners embed the structure so far, reading whole rows, and say which class they take each node
//! for; their embeddings, beside the views, are expressed and filtered in turn; the cosine of two nodes is weighed by how well their
//! votes agree, `Σ_c √p_ic √p_jc`; and the new latent graph is blended with the given one, `S ← ζA + (1-ζ)S`.
//!
//! The refiners of a round are cross-fitted: the training nodes are dealt into parts, each refiner is blind to the
//! labels of one part, and the nodes of that part look for neighbours in its embedding alone; all other nodes use
//! the mean over the refiners. So no label arranges its own neighbourhood, and training nodes see neighbourhoods
//! as test nodes will. What was fitted on the way (bases, direction maps, refiners, the choices) is kept, so that [`FittedStructure::apply`] finds the
//! structure of a graph with other edges or more nodes without learning again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::agreement::{Agreement, Given, advantage, agreement, agreement_in_parts, vote_at};
use super::inputs::{Bases, Candidate, Inputs, directions, settle};
use super::latent_graph::{LARGE, Search, blend};
use super::low_rank::DirectionMap;
use super::node_identity::NodeIdentity;
use super::refiner::{Embedded, Refiner, RefinerConfig, RefinerInput};
use super::views::to_unit_rows;
use crate::error::{Error, Result};
use crate::graph::{Features, Graph, Labelled};
use crate::linalg::random::{derive, hash};
use crate::linalg::{Likeness, Mat};
use crate::training::{Auto, MemoKey, Session, Task};

/// Given edges with less advantage over chance than this are left out of the structure: however little they
/// weigh, there are many of them.
const LEAST_ADVANTAGE: f32 = 0.1;

/// How a structure is learned. `auto` settings are chosen from the training labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StructureConfig {
    /// What the inducer looks at: `features`, `adjacency`, `both`, or `auto`.
    pub views: Auto<Views>,
    /// Principal components kept of each view, 1 or more.
    pub components: usize,
    /// Penalty of the self-expression (the paper's λ₁), above 0.
    pub ridge: f32,
    /// Leading directions kept per class (the paper's rank is 4C+1, ours 8C+1); 0 keeps all: no low-rank filter.
    pub directions_per_class: usize,
    /// Entries of the latent graph below this cosine are dropped (the paper's σ), 0..=1, or `auto`.
    pub threshold: Auto<f32>,
    /// Neighbours kept per node, or `auto`; 0 keeps all that reach the threshold.
    pub top_k: Auto<usize>,
    /// How nodes look for neighbours: `exact`, among all; `ivf`, in inverted lists, which miss a few; or `auto`: in lists in a graph of
    /// more than 50,000 nodes.
    pub search: Auto<Search>,
    /// Refinement rounds, at most; 0 uses the latent graph as it was induced.
    pub rounds: usize,
    /// Whether a round is kept only if the vote of the latent neighbours gets more validation nodes right than before it; training
    /// nodes, where there are none.
    pub rounds_must_pay: bool,
    /// Share of the given graph in a refined one (the paper's ζ), 0..=1, or `auto`.
    pub given_share: Auto<f32>,
    /// The refiner.
    pub refiner: RefinerConfig,
}

/// What the inducer looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Views {
    /// The features alone.
    Features,
    /// The adjacency profile alone.
    Adjacency,
    /// Both, side by side.
    Both,
}

impl Views {
    /// All of them.
    pub(super) const ALL: [Views; 3] = [Views::Features, Views::Adjacency, Views::Both];

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Views::Features => "features",
            Views::Adjacency => "adjacency profile",
            Views::Both => "both",
        }
    }
}

impl Default for StructureConfig {
    fn default() -> Self {
        StructureConfig {
            views: Auto::CHOOSE,
            components: 128,
            ridge: 0.7,
            directions_per_class: 8,
            threshold: Auto::CHOOSE,
            top_k: Auto::CHOOSE,
            search: Auto::CHOOSE,
            rounds: 2,
            rounds_must_pay: true,
            given_share: Auto::CHOOSE,
            refiner: RefinerConfig::default(),
        }
    }
}

impl StructureConfig {
    /// Checks the ranges; `prefix` is the path of these settings.
    pub fn validate(&self, prefix: &str) -> Result<()> {
        let check = |good: bool, key: &str, value: f32, remedy: &str| {
            let key = format!("{prefix}.{key}");
            if good { Ok(()) } else { Err(Error::setting(key, format!("{value} is out of range"), remedy)) }
        };
        let share = |value: f32| (0.0..=1.0).contains(&value);
        check(self.components >= 1, "components", 0.0, "choose 1 or more")?;
        check(self.ridge > 0.0 && self.ridge.is_finite(), "ridge", self.ridge, "choose a positive number")?;
        for (key, value) in [("threshold", self.threshold.given()), ("given_share", self.given_share.given())]
        {
            check(
                value.is_none_or(share),
                key,
                value.unwrap_or(0.0),
                "choose a number from 0 to 1, or auto",
            )?;
        }
        self.refiner.validate(&format!("{prefix}.refiner"))
    }

    /// The rank of the low-rank filter, `8C + 1` by default; 0 for all there are.
    fn rank(&self, num_classes: usize) -> usize {
        if self.directions_per_class == 0 { 0 } else { self.directions_per_class * num_classes + 1 }
    }

    /// Learns a structure from training labels.
    pub fn fit(
        &self,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<(FittedStructure, Structure)> {
        let found = self.induce(task, seed, session)?;
        self.refine(found, task, seed, session)
    }

    /// Round 0 alone.
    pub fn induce(
        &self,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<(FittedStructure, Structure)> {
        self.validate("structure")?;
        let key = || {
            let key = MemoKey::new("induced").graph(task.graph).features(task.features).labels(&task.train);
            key.setting(seed).setting(StructureConfig { rounds: 0, ..self.clone() })
        };
        let found = session.shared(key, |session| {
            let views = self.views(task, session)?;
            let (bases, inputs) = (Arc::clone(&views.0), Arc::clone(&views.1));
            let (mut choices, first) = self.choose(&inputs, task, session)?;
            let part_of = parts(task, self.refiner.folds, derive(seed, &[0]));
            let latent = choices.graph(&first.directions)?;
            settle(task.graph.num_nodes());
            let fitted =
                FittedStructure { bases, choices, first: first.map.clone(), part_of, rounds: Vec::new() };
            Ok((fitted, Structure { inputs, rounds: vec![latent] }))
        })?;
        Ok((*found).clone())
    }

    /// The rounds after it.
    pub fn refine(
        &self,
        (mut fitted, mut structure): (FittedStructure, Structure),
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<(FittedStructure, Structure)> {
        if self.rounds == 0 {
            return Ok((fitted, structure));
        }
        settle(task.graph.num_nodes());
        fitted.choices.given_share =
            self.given_share.given().unwrap_or_else(|| share_of_given(structure.latent(), task));
        let sights = structure.inputs.sights(task.features, fitted.choices.lean);
        let rows = structure.inputs.rows(fitted.choices.views);
        let first = [fitted.first.directions(&rows).into()];
        let mut before = self.fair_vote(&first, &fitted.choices.joins[0], task);
        for round in 1..=self.rounds {
            let stage = Stage { round, seed: derive(seed, &[round as u64]) };
            let graph = fitted.known_before(round, task.graph, &structure.rounds[round - 1])?;
            let known = Known { rows: &rows, graph: &graph, sights: &sights };
            let learned = self.refine_once(&stage, &known, &fitted.part_of, task, session)?;
            let likeness = learned.likeness(&known);
            let mut join = self.join(&self.agreement_in_parts(&likeness, &fitted.part_of, task));
            let vote = self.fair_vote(&likeness, &join, task);
            if self.rounds_must_pay && vote <= before {
                fitted.choices.declined = Some(vote);
                break;
            }
            before = vote;
            let latent = fitted.choices.blended(&mut join, &likeness, &fitted.part_of, task.graph)?;
            fitted.choices.joins.push(join);
            fitted.rounds.push(learned);
            structure.rounds.push(latent);
        }
        Ok((fitted, structure))
    }

    /// Share of the validation nodes (without any, of the training nodes) whose class the vote of the latent neighbours among
    /// the training nodes finds.
    fn fair_vote(&self, parts: &[Likeness], join: &Join, task: &Task<'_>) -> f32 {
        if task.val.nodes.is_empty() {
            return join.vote;
        }
        vote_at(parts, &task.train, &task.val, task.num_classes, join.cap(), join.threshold)
    }

    /// One round: for each part of the training nodes a refiner that does not know their labels.
    fn refine_once(
        &self,
        stage: &Stage,
        known: &Known<'_>,
        part_of: &[Option<u32>],
        task: &Task<'_>,
        session: &mut Session<'_>,
    ) -> Result<Round> {
        let one = |part: usize| {
            let labelled = if self.refiner.folds > 1 {
                without_part(&task.train, part_of, part as u32)
            } else {
                task.train.clone()
            };
            let input = RefinerInput {
                structure: known.graph,
                sights: known.sights,
                labelled: &labelled,
                num_classes: task.num_classes,
            };
            let name = format!("refiner-{}-{}", stage.round, part + 1);
            let refiner =
                Refiner::fit(&name, &input, &self.refiner, derive(stage.seed, &[part as u64]), session)?;
            let (said, _) = said(&refiner, known);
            let map = directions(said, self.ridge, self.rank(task.num_classes));
            Ok((refiner, map))
        };
        Ok(Round { parts: (0..self.refiner.folds).map(one).collect::<Result<_>>()? })
    }

    /// One unit row per node and view of the training graph.
    pub fn inputs(&self, task: &Task<'_>, session: &mut Session<'_>) -> Result<Arc<Inputs>> {
        Ok(Arc::clone(&self.views(task, session)?.1))
    }

    /// What the views of the training graph are seen with.
    pub(crate) fn bases(&self, task: &Task<'_>, session: &mut Session<'_>) -> Result<Arc<Bases>> {
        Ok(Arc::clone(&self.views(task, session)?.0))
    }

    /// Both views of the training graph.
    fn views(&self, task: &Task<'_>, session: &mut Session<'_>) -> Result<Arc<(Arc<Bases>, Arc<Inputs>)>> {
        session.shared(
            || MemoKey::new("views").graph(task.graph).features(task.features).setting(self.components),
            |_| {
                let bases = Bases::fit(task.graph, task.features, self.components);
                let everybody: Vec<Option<u32>> = (0..task.graph.num_nodes() as u32).map(Some).collect();
                let inputs = bases.inputs(task.graph, task.features, &everybody);
                Ok((Arc::new(bases), Arc::new(inputs)))
            },
        )
    }

    /// The views whose directions the training nodes agree on best, with what suits them.
    fn choose(
        &self,
        inputs: &Inputs,
        task: &Task<'_>,
        session: &mut Session<'_>,
    ) -> Result<(Choices, Arc<Candidate>)> {
        let candidates: Vec<Views> = match self.views.given() {
            Some(views) if !inputs.offer(views) => {
                return Err(Error::setting(
                    "structure.views",
                    format!("{} cannot be looked at: the data has none", views.name()),
                    "choose auto, or views that the data has",
                ));
            }
            Some(views) => vec![views],
            None => Views::ALL.into_iter().filter(|views| inputs.offer(*views)).collect(),
        };
        let rank = self.rank(task.num_classes);
        let mut best: Option<(Choices, Arc<Candidate>)> = None;
        let mut agreements = Vec::new();
        for views in candidates {
            let fit = || Candidate::fit(inputs, views, self.ridge, rank);
            let candidate = if task.graph.num_nodes() > LARGE {
                // Kept for nobody else: there is no room.
                Arc::new(fit())
            } else {
                let key = || {
                    let key = MemoKey::new("directions").graph(task.graph).features(task.features);
                    key.setting((views, self.components, self.ridge, rank))
                };
                session.shared(key, |_| Ok(fit()))?
            };
            settle(task.graph.num_nodes());
            let found = self.agreement(&candidate.directions, task);
            agreements.push((views, found.nearest));
            if best.as_ref().is_none_or(|(best, _)| found.vote > best.joins[0].vote) {
                let joins = vec![self.join(&found)];
                let (search, lean) = (self.search, task.graph.num_nodes() > LARGE);
                let choices = Choices {
                    views,
                    joins,
                    given_share: 0.0,
                    agreements: Vec::new(),
                    declined: None,
                    search,
                    lean,
                };
                best = Some((choices, candidate));
            }
        }
        let (choices, candidate) = best.ok_or_else(|| {
            Error::data(
                "the data has neither features nor edges: there is nothing to learn from",
                "add a table of features or some edges",
            )
        })?;
        Ok((Choices { agreements, ..choices }, candidate))
    }

    fn agreement(&self, directions: &Mat, task: &Task<'_>) -> Agreement {
        agreement(directions, &task.train, task.num_classes, self.given(task))
    }

    fn agreement_in_parts(&self, parts: &[Likeness], part_of: &[Option<u32>], task: &Task<'_>) -> Agreement {
        agreement_in_parts(parts, part_of, &task.train, task.num_classes, self.given(task))
    }

    fn given(&self, task: &Task<'_>) -> Given {
        // Without a cap, all that reach the threshold vote.
        let top_k = self.top_k.given().map(|k| if k == 0 { task.train.nodes.len() } else { k });
        Given { top_k, threshold: self.threshold.given() }
    }

    fn join(&self, found: &Agreement) -> Join {
        let top_k = if self.top_k.given() == Some(0) { 0 } else { found.top_k };
        Join { top_k, threshold: found.threshold, vote: found.vote, recall: None }
    }
}

/// `ζ`: the advantage over chance of the given edges against that of the latent ones.
fn share_of_given(latent: &Graph, task: &Task<'_>) -> f32 {
    let of = |graph: &Graph| advantage(graph, &task.train, task.num_classes);
    let (given, latent) = (of(&task.graph.to_undirected()), of(latent));
    if given > LEAST_ADVANTAGE { given / (given + latent) } else { 0.0 }
}

/// What was chosen from the training labels, or given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    /// What the inducer looks at.
    pub views: Views,
    /// How each round joins nodes, round 0 first.
    pub joins: Vec<Join>,
    /// Share of the given graph in a refined one.
    pub given_share: f32,
    /// Of the candidates, the share of the five nearest training nodes that share the class, 0..=1.
    pub agreements: Vec<(Views, f32)>,
    /// The vote after a round that was not kept, since it was no better than before.
    pub declined: Option<f32>,
    /// How nodes look for neighbours.
    #[serde(default = "by_size")]
    pub search: Auto<Search>,
    /// Whether refiners read leading directions of profiles in place of whole rows, as they do in a large graph.
    #[serde(default)]
    pub lean: bool,
}

fn by_size() -> Auto<Search> {
    Auto::CHOOSE
}

/// How a round joins nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// Neighbours per node; 0 for all.
    pub top_k: usize,
    /// The least cosine of two neighbours.
    pub threshold: f32,
    /// Share of the training nodes whose class the vote of their neighbours finds, 0..=1.
    pub vote: f32,
    /// Share of the neighbours that was found, 0..=1, where the search was not exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<f32>,
}

impl Choices {
    /// The latent graph of round 0.
    fn graph(&mut self, directions: &Mat) -> Result<Graph> {
        let search = Search::of(self.search, directions.rows());
        let join = &mut self.joins[0];
        let (graph, recall) = search.joined(directions, join.threshold, join.cap())?;
        join.recall = recall;
        Ok(graph)
    }

    /// That of a refined round, `ζA + (1-ζ)S`.
    fn blended(
        &self,
        join: &mut Join,
        parts: &[Likeness],
        part_of: &[Option<u32>],
        given: &Graph,
    ) -> Result<Graph> {
        let search = Search::of(self.search, part_of.len());
        let (joined, recall) = search.joined_in_parts(parts, part_of, join.threshold, join.cap())?;
        join.recall = recall;
        blend(given, &joined, self.given_share)
    }

    /// What was chosen, in words.
    pub fn diagnostics(&self) -> Vec<String> {
        let agreements: Vec<String> = self
            .agreements
            .iter()
            .map(|(views, share)| format!("{} {:.0} %", views.name(), 100.0 * share))
            .collect();
        let mut words = vec![format!(
            "views: {}; of the nearest latent neighbours of training nodes share the class: {}",
            self.views.name(),
            agreements.join(", ")
        )];
        for (round, join) in self.joins.iter().enumerate() {
            let cap = if join.top_k == 0 { "all".into() } else { join.top_k.to_string() };
            words.push(format!(
                "round {round}: {cap} nearest per node, cosine at least {}; their vote finds {:.1} % of the \
                 training nodes",
                join.threshold,
                100.0 * join.vote
            ));
            words.extend(join.recall.map(|recall| {
                format!(
                    "round {round}: the search found {:.1} % of the nearest, measured at a sample",
                    100.0 * recall
                )
            }));
        }
        if self.joins.iter().any(|join| join.vote == 0.0) {
            words.push(
                "no training node is alike enough to another: the latent graph is empty or says nothing; a lower \
                 structure.threshold joins more"
                    .into(),
            );
        }
        if let Some(vote) = self.declined {
            words.push(format!(
                "round {} was not kept: its vote finds {:.1} % of the nodes that decide, no more than before",
                self.joins.len(),
                100.0 * vote
            ));
        }
        if self.joins.len() > 1 {
            words.push(format!("share of the given graph in the refined one: {:.2}", self.given_share));
        }
        words
    }
}

impl Join {
    fn cap(&self) -> Option<usize> {
        (self.top_k > 0).then_some(self.top_k)
    }
}

/// Which round is learned, and its seed.
struct Stage {
    round: usize,
    seed: u64,
}

/// The part of each training node; `None` for all others.
fn parts(task: &Task<'_>, count: usize, seed: u64) -> Vec<Option<u32>> {
    let mut part_of = vec![None; task.graph.num_nodes()];
    if count > 1 {
        // Class by class and in turn, so that every part has its share of every class.
        let mut order: Vec<usize> = (0..task.train.nodes.len()).collect();
        order.sort_by_key(|&place| (task.train.classes[place], hash(seed, task.train.nodes[place])));
        for (turn, place) in order.into_iter().enumerate() {
            part_of[task.train.nodes[place] as usize] = Some((turn % count) as u32);
        }
    }
    part_of
}

fn without_part(labelled: &Labelled, part_of: &[Option<u32>], part: u32) -> Labelled {
    let all = labelled.nodes.iter().copied().zip(labelled.classes.iter().copied());
    let (nodes, classes) = all.filter(|(node, _)| part_of[*node as usize] != Some(part)).unzip();
    Labelled { nodes, classes }
}

fn unit(mut rows: Mat) -> Mat {
    to_unit_rows(&mut rows);
    rows
}

/// What is known of the nodes before a round.
struct Known<'a> {
    /// What the inducer looks at, unit rows.
    rows: &'a Mat,
    /// The structure so far.
    graph: &'a Graph,
    /// Whole rows, which the refiners read.
    sights: &'a [Features],
}

/// What a refiner says of every node: a unit row of what the inducer looks at with the node's code, and the square roots of its
/// votes, whose dot product says how well the votes of two nodes agree, 0..=1.
fn said(refiner: &Refiner, known: &Known<'_>) -> (Mat, Mat) {
    let Embedded { codes, mut votes } = refiner.embed(known.graph, known.sights);
    votes.as_mut_slice().iter_mut().for_each(|vote| *vote = vote.sqrt());
    (unit(Mat::side_by_side(&[known.rows.clone(), unit(codes)])), votes)
}

/// A structure that was learned: finds that of any graph.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedStructure {
    pub(super) bases: Arc<Bases>,
    pub(super) choices: Choices,
    /// Round 0.
    pub(super) first: DirectionMap,
    /// The part of each node of the training graph, see [`RefinerConfig::folds`].
    pub(super) part_of: Vec<Option<u32>>,
    /// The rounds after it.
    pub(super) rounds: Vec<Round>,
}

/// What one round of refinement learned: for each part of the training nodes a refiner, and the way from its
/// embedding to directions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    pub(super) parts: Vec<(Refiner, DirectionMap)>,
}

impl Round {
    /// How alike nodes are to each part, from what was known before this round.
    fn likeness(&self, known: &Known<'_>) -> Vec<Likeness> {
        let of = |(refiner, map): &(Refiner, DirectionMap)| {
            let (said, votes) = said(refiner, known);
            Likeness::product(map.directions(&said), votes)
        };
        self.parts.iter().map(of).collect()
    }
}

/// The latent structure of one graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// What was looked at.
    pub inputs: Arc<Inputs>,
    /// The latent graph of each round; the last is the one to use.
    pub rounds: Vec<Graph>,
}

impl Structure {
    /// The latent graph after the last round.
    pub fn latent(&self) -> &Graph {
        &self.rounds[self.rounds.len() - 1]
    }
}

impl FittedStructure {
    /// What was chosen.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Whether these are the features of the training graph, node by node.
    pub fn was_learned_on(&self, features: &Features) -> bool {
        self.bases.identity == NodeIdentity::of(features)
    }

    /// For each node, which node of the training graph it is; `None` for a new one.
    pub fn known(&self, features: &Features) -> Vec<Option<u32>> {
        self.bases.identity.find(features)
    }

    /// The views of the training graph.
    pub(crate) fn views(&self) -> &Bases {
        &self.bases
    }

    /// How many nodes the training graph had.
    pub fn num_known(&self) -> usize {
        self.bases.identity.len()
    }

    /// What is looked at in a graph, and no latent graph, for those who read none.
    pub(crate) fn without_latent(&self, graph: &Graph, features: &Features) -> Result<Structure> {
        let inputs = Arc::new(self.bases.inputs(graph, features, &self.known(features)));
        Ok(Structure { inputs, rounds: vec![Graph::from_edges(graph.num_nodes(), &[])?.0] })
    }

    /// The structure of a graph, which need not be the training graph.
    pub fn apply(&self, graph: &Graph, features: &Features) -> Result<Structure> {
        let known = self.known(features);
        let inputs = Arc::new(self.bases.inputs(graph, features, &known));
        let rows = inputs.rows(self.choices.views);
        let part_of: Vec<Option<u32>> =
            known.iter().map(|known| known.and_then(|node| self.part_of[node as usize])).collect();
        let mut choices = self.choices.clone();
        let mut rounds = vec![choices.graph(&self.first.directions(&rows))?];
        let sights =
            if self.rounds.is_empty() { Vec::new() } else { inputs.sights(features, self.choices.lean) };
        for (number, (round, mut join)) in
            (1..).zip(self.rounds.iter().zip(self.choices.joins[1..].iter().copied()))
        {
            let before = self.known_before(number, graph, &rounds[number - 1])?;
            let likeness = round.likeness(&Known { rows: &rows, graph: &before, sights: &sights });
            rounds.push(choices.blended(&mut join, &likeness, &part_of, graph)?);
        }
        Ok(Structure { inputs, rounds })
    }

    /// The graph that the refiners of a round work on: the given edges are part of it from the first round on.
    fn known_before(&self, round: usize, given: &Graph, latent: &Graph) -> Result<Graph> {
        if round == 1 { blend(given, latent, self.choices.given_share) } else { Ok(latent.clone()) }
    }

    /// The same structure as it was after so many rounds.
    pub fn after(mut self, rounds: usize) -> Self {
        self.rounds.truncate(rounds);
        self.choices.joins.truncate(rounds + 1);
        self
    }
}
