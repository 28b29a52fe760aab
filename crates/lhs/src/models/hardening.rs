//! Training that meets attacks: copies of the graph in which labelled nodes have taken on the neighbours of other classes, chosen by
//! asking the model.
//!
//! An attacker who knows the defence gives a node as many neighbours of one other class as it has of its own. Edges alone then
//! say "one of two classes", and only the features can tell which: a model that has seen such nodes can learn that. So it learns on
//! copies of the graph ([`Copies`]), in each of which a share of the training nodes was attacked, and early stopping looks at the graph
//! and at a copy in which the validation nodes were. Copies are found in rounds: a model that has learned so far is asked which of
//! [`QUERIES`] donors hurts each node most, and the next one learns on what came out as well.
//! No test label is used, and no test node attacked; donors are nodes with known labels.
//! Cost: [`ROUNDS`] short trainings and `3 * QUERIES` predictions for each; a step of the last training costs what it does
//! without.

use crate::error::{Error, Result};
use crate::graph::flips::flip;
use crate::graph::mimicry::{mimicry, new_neighbours_at};
use crate::graph::{Graph, Labelled};
use crate::linalg::Mat;
use crate::linalg::random::{derive, hash};
use crate::training::{Copies, Observer, Task};

/// How often a model is attacked before the last one learns.
pub(super) const ROUNDS: usize = 3;
/// Donors that each node tries in a round.
const QUERIES: usize = 8;
/// So often training nodes are attacked in a round.
const ATTACKS: usize = 2;
/// Copies that an attack makes: of each node the worst donor, the second worst, and so on.
const COPIES: usize = 3;
/// Copies that there are in the end.
pub(super) const ALL_COPIES: usize = ROUNDS * ATTACKS * COPIES + 1;
/// New neighbours for each old one.
const RATE: f64 = 1.0;

/// Copies that a round made.
pub(super) struct Attacked {
    /// Training nodes were attacked.
    pub(super) train: Vec<Graph>,
    /// Validation nodes were.
    pub(super) val: Vec<Graph>,
}

impl Attacked {
    /// Before anybody was attacked.
    pub(super) fn none() -> Self {
        Attacked { train: Vec::new(), val: Vec::new() }
    }

    /// Adds what a later round made. Early stopping looks at the last round alone: its time is in every epoch.
    pub(super) fn add(&mut self, later: Attacked) {
        self.train.extend(later.train);
        self.val = later.val;
    }

    /// A task with these copies, which must have come without. Where validation nodes are attacked, all of them are, so
    /// that what is seen there counts as much as the `share` of attacked nodes.
    pub(super) fn beside<'a>(&'a self, task: &Task<'a>, share: f32) -> Result<Task<'a>> {
        if task.copies.train.is_empty() {
            let copies = Copies { train: &self.train, val: &self.val, weight: 1.0, val_weight: share };
            return Ok(Task { copies, ..task.clone() });
        }
        Err(Error::setting(
            "hardening",
            "it makes copies of the graph to learn on, and there are some already",
            "choose 0 here",
        ))
    }

    /// Asks a model, given as its predictions on a graph; a `share` of the training nodes is attacked in each copy.
    pub(super) fn by_asking(
        predict: &dyn Fn(&Graph) -> Result<Mat>,
        task: &Task<'_>,
        share: f32,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut classes = vec![None; task.graph.num_nodes()];
        for labelled in [&task.train, &task.val] {
            labelled
                .nodes
                .iter()
                .zip(&labelled.classes)
                .for_each(|(&node, &class)| classes[node as usize] = Some(class));
        }
        let class_of = |node: usize| classes[node];
        // Whichever way edges lead, both ends are neighbours: a new edge is none that is there the other way round.
        let neighbourhood = task.graph.to_undirected();
        // What each victim tried, the worst for it first.
        let attack = |victims: &Labelled, seed: u64| -> Result<Vec<Vec<Vec<u32>>>> {
            let mut tried: Vec<Vec<(f32, Vec<u32>)>> = vec![Vec::new(); victims.nodes.len()];
            for query in 0..QUERIES {
                observer.proceed()?;
                let seed = derive(seed, &[query as u64]);
                let draw = |&node: &u32| {
                    let wanted = new_neighbours_at(&neighbourhood, RATE, node);
                    mimicry(&neighbourhood, &class_of, node, wanted, None, seed).0
                };
                let drawn: Vec<Vec<u32>> = victims.nodes.iter().map(draw).collect();
                let answers = predict(&joined(task.graph, &victims.nodes, &drawn)?)?;
                for (place, drawn) in drawn.into_iter().enumerate() {
                    let own = answers.get(victims.nodes[place] as usize, victims.classes[place] as usize);
                    tried[place].push((own, drawn));
                }
            }
            let worst_first = |mut tried: Vec<(f32, Vec<u32>)>| {
                tried.sort_by(|a, b| a.0.total_cmp(&b.0));
                tried.into_iter().map(|(_, drawn)| drawn).collect()
            };
            Ok(tried.into_iter().map(worst_first).collect())
        };
        let mut train = Vec::new();
        for number in 0..ATTACKS {
            let seed = derive(seed, &[0, number as u64]);
            let victims = drawn(&task.train, share, seed);
            let tried = attack(&victims, seed)?;
            for rank in 0..COPIES {
                let ranked: Vec<Vec<u32>> = tried.iter().map(|tried| tried[rank].clone()).collect();
                train.push(joined(task.graph, &victims.nodes, &ranked)?);
            }
        }
        let mut val = Vec::new();
        if !task.val.nodes.is_empty() {
            let tried = attack(&task.val, derive(seed, &[1]))?;
            let worst: Vec<Vec<u32>> = tried.into_iter().map(|tried| tried[0].clone()).collect();
            val.push(joined(task.graph, &task.val.nodes, &worst)?);
        }
        Ok(Attacked { train, val })
    }
}

/// A share of the nodes.
fn drawn(nodes: &Labelled, share: f32, seed: u64) -> Labelled {
    let taken = |node: u32| f64::from(hash(seed, node)) < f64::from(share) * 2f64.powi(32);
    let pairs = nodes.nodes.iter().copied().zip(nodes.classes.iter().copied());
    let (nodes, classes) = pairs.filter(|&(node, _)| taken(node)).unzip();
    Labelled { nodes, classes }
}

/// The graph with new neighbours for some nodes.
fn joined(graph: &Graph, nodes: &[u32], neighbours: &[Vec<u32>]) -> Result<Graph> {
    let pairs = nodes.iter().zip(neighbours);
    let pairs = pairs.flat_map(|(&node, others)| others.iter().map(move |&other| (node, other)));
    // Neighbours are new, so that every flip joins; two nodes that choose each other get one edge.
    Ok(flip(graph, &pairs.collect::<Vec<_>>())?.graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn where_edges_lead_one_way_none_is_taken_away() {
        let made_up =
            SynthConfig { nodes: 80, homophily: 0.2, ..SynthConfig::default() }.generate(1).unwrap();
        let arrows: Vec<(u32, u32)> =
            made_up.graph().edges().map(|(a, b)| if (a + b) % 2 == 0 { (a, b) } else { (b, a) }).collect();
        let directed = Graph::build(80, &arrows, None, true).unwrap().0;
        let task = Task { graph: &directed, ..Task::new(&made_up, &made_up.splits()[0]).unwrap() };
        let says_nothing = |graph: &Graph| Ok(Mat::full(graph.num_nodes(), task.num_classes, 0.2));
        let attacked = Attacked::by_asking(&says_nothing, &task, 1.0, 3, &()).unwrap();
        for copy in attacked.train.iter().chain(&attacked.val) {
            assert!(copy.is_directed() && copy.num_edges() > directed.num_edges());
            assert!(arrows.iter().all(|&(a, b)| copy.has_edge(a, b)));
        }
    }

    #[test]
    fn only_labelled_nodes_of_their_part_are_attacked_and_within_their_budget() {
        let dataset =
            SynthConfig { nodes: 80, homophily: 0.8, ..SynthConfig::default() }.generate(1).unwrap();
        let split = &dataset.splits()[0];
        let task = Task::new(&dataset, split).unwrap();
        let says_nothing = |graph: &Graph| Ok(Mat::full(graph.num_nodes(), task.num_classes, 0.2));
        let asked = |share: f32| Attacked::by_asking(&says_nothing, &task, share, 3, &()).unwrap();
        let attacked = asked(1.0);
        assert_eq!((attacked.train.len(), attacked.val.len()), (ATTACKS * COPIES, 1));
        for (copies, part) in [(&attacked.train, &split.train), (&attacked.val, &split.val)] {
            for copy in copies {
                let new: Vec<(u32, u32)> =
                    copy.edges().filter(|&(a, b)| !task.graph.has_edge(a, b)).collect();
                assert!(!new.is_empty());
                assert!(new.iter().all(|(a, b)| part.contains(a) || part.contains(b)));
                let most: usize = part.iter().map(|&node| new_neighbours_at(task.graph, RATE, node)).sum();
                assert!(new.len() <= most);
                assert!(task.graph.edges().all(|(a, b)| copy.has_edge(a, b)), "nothing is removed");
            }
        }
        let count = |attacked: &Attacked| attacked.train[0].num_edges() - task.graph.num_edges();
        assert!((1..count(&attacked)).contains(&count(&asked(0.5))));
    }
}
