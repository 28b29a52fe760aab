//! Training that meets attacks: copies of the graph in which labelled nodes have taken on the neighbours of other classes, chosen by
//! asking the model.
//!
//! An attacker who knows the defence gives a node as many neighbours of one other class as it has of its own. Edges alone then
//! say "one of two classes", and only the features can tell which: a model that has seen such nodes can learn that. So it learns on
//! the graph and on copies of it ([`Copies`](crate::training::Copies)), in which training nodes were attacked, as well as early stopping looks at copies in which
//! validation nodes were. Copies are found in rounds: a model that has learned so far is asked which of [`QUERIES`] donors hurt each node most, and the
//! next one learns on what came out as well.
//! No test label is used, and no test node attacked; donors are nodes with known labels.
//! Cost: [`ROUNDS`] short trainings, `2 * QUERIES` predictions for each, and training on two graphs instead of one at a time.

use crate::error::{Error, Result};
use crate::graph::flips::flip;
use crate::graph::mimicry::{mimicry, new_neighbours_at};
use crate::graph::{Graph, Labelled};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::training::{Copies, Observer, Task};

/// How often a model is attacked before the last one learns.
pub(super) const ROUNDS: usize = 2;
/// Donors that each node tries in a round.
const QUERIES: usize = 8;
/// Copies in which training nodes were attacked that a round makes: of each node the worst donor, the second worst, and so on.
const COPIES: usize = 4;
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

    /// The copies, counting `weight` in all.
    pub(super) fn copies(&self, weight: f32) -> Copies<'_> {
        Copies { train: &self.train, val: &self.val, weight }
    }

    /// A task with these copies. It must have come without.
    pub(super) fn beside<'a>(&'a self, task: &Task<'a>, weight: f32) -> Result<Task<'a>> {
        if task.copies.train.is_empty() {
            return Ok(Task { copies: self.copies(weight), ..task.clone() });
        }
        Err(Error::setting(
            "hardening",
            "it makes copies of the graph to learn on, and there are some already",
            "choose 0 here",
        ))
    }

    /// Asks a model, given as its predictions on a graph.
    pub(super) fn by_asking(
        predict: &dyn Fn(&Graph) -> Result<Mat>,
        task: &Task<'_>,
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
        let attack = |victims: &Labelled, count: usize, part: u64| -> Result<Vec<Graph>> {
            let mut tried: Vec<Vec<(f32, Vec<u32>)>> = vec![Vec::new(); victims.nodes.len()];
            for query in 0..QUERIES {
                observer.proceed()?;
                let seed = derive(seed, &[part, query as u64]);
                let class_of = |node: usize| classes[node];
                let draw = |&node: &u32| {
                    let wanted = new_neighbours_at(task.graph, RATE, node);
                    mimicry(task.graph, &class_of, node, wanted, None, seed).0
                };
                let drawn: Vec<Vec<u32>> = victims.nodes.iter().map(draw).collect();
                let answers = predict(&joined(task.graph, victims, &drawn.iter().collect::<Vec<_>>())?)?;
                for (place, drawn) in drawn.into_iter().enumerate() {
                    let own = answers.get(victims.nodes[place] as usize, victims.classes[place] as usize);
                    tried[place].push((own, drawn));
                }
            }
            tried.iter_mut().for_each(|tried| tried.sort_by(|a, b| a.0.total_cmp(&b.0)));
            (0..count)
                .map(|rank| {
                    let chosen: Vec<&Vec<u32>> = tried.iter().map(|tried| &tried[rank].1).collect();
                    joined(task.graph, victims, &chosen)
                })
                .collect()
        };
        let val = if task.val.nodes.is_empty() { Vec::new() } else { attack(&task.val, 1, 1)? };
        Ok(Attacked { train: attack(&task.train, COPIES, 0)?, val })
    }
}

/// The graph with new neighbours for some nodes.
fn joined(graph: &Graph, victims: &Labelled, neighbours: &[&Vec<u32>]) -> Result<Graph> {
    let pairs = victims
        .nodes
        .iter()
        .zip(neighbours)
        .flat_map(|(&node, others)| others.iter().map(move |&other| (node, other)));
    // Neighbours are new, so that every flip joins; two nodes that choose each other get one edge.
    Ok(flip(graph, &pairs.collect::<Vec<_>>())?.graph)
}
