//! New neighbours at the test nodes: how many, whose, and what somebody who is asked says of them.
//!
//! The attacks that know whom they attack (`adaptive`, `evolve`) all make the same kind of change with the same budget, so
//! that what they do can be compared: a test node of degree `d` may be joined to `ceil(rate * max(d, 1))` nodes.

use super::{AttackContext, edges};
use crate::error::Result;
use crate::graph::{Dataset, Graph, Split, mimicry};
use crate::linalg::random::derive;
use crate::models::lhs::{FittedLhs, Lhs};
use crate::models::relaxed::best_wrong;
use crate::models::{Model, NodeClassifier};
use crate::training::{Session, Task};

/// New neighbours of each test node, in the order of the split.
pub(super) type Neighbours = Vec<Vec<u32>>;

/// How many new neighbours nodes may get.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// New neighbours per old one.
    pub rate: f64,
}

impl Budget {
    /// At one node.
    pub(super) fn at(self, dataset: &Dataset, node: u32) -> usize {
        mimicry::new_neighbours_at(dataset.graph(), self.rate, node)
    }

    /// At all test nodes.
    pub(super) fn of(self, dataset: &Dataset, split: &Split) -> usize {
        split.test.iter().map(|&node| self.at(dataset, node)).sum()
    }

    /// New neighbours for one node: those of nodes of one other class, which is drawn unless it is given; that class, too.
    pub(super) fn mimicry(
        self,
        dataset: &Dataset,
        node: u32,
        class: Option<u32>,
        seed: u64,
    ) -> (Vec<u32>, Option<u32>) {
        let class_of = |node: usize| dataset.labels().get(node);
        mimicry::mimicry(dataset.graph(), &class_of, node, self.at(dataset, node), class, seed)
    }

    /// [`Budget::mimicry`] for all test nodes: draw number `draw` of an attack with this seed.
    pub(super) fn drawn(self, dataset: &Dataset, split: &Split, seed: u64, draw: usize) -> Neighbours {
        let seed = derive(seed, &[draw as u64]);
        split.test.iter().map(|&node| self.mimicry(dataset, node, None, seed).0).collect()
    }
}

/// The pairs to flip, `(low, high)`, ascending.
pub(super) fn pairs(split: &Split, neighbours: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let of =
        |(&node, others): (&u32, &Vec<u32>)| others.iter().map(|&other| (node, other)).collect::<Vec<_>>();
    let mut pairs: Vec<(u32, u32)> = split.test.iter().zip(neighbours).flat_map(of).collect();
    // Two test nodes may choose each other: one edge, not an edge that comes and goes.
    pairs.iter_mut().for_each(|pair| *pair = (pair.0.min(pair.1), pair.0.max(pair.1)));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Who is asked.
enum Victim<'a> {
    Trained(&'a dyn NodeClassifier),
    StandIn(Box<FittedLhs>),
    /// The victim learns on what the attack leaves.
    Again(&'a super::Retrain<'a>),
}

/// Somebody who says what becomes of the test nodes.
pub(super) struct Asked<'a> {
    context: &'a AttackContext<'a>,
    victim: Victim<'a>,
}

/// What was said about a graph.
pub(super) struct Answer {
    /// The graph.
    pub graph: Graph,
    /// The probability of each test node's own class; 1 where it has no label.
    pub own: Vec<f32>,
    /// By how much the best wrong class is likelier, -1..=1: above 0, the node is lost. -1 where it has no label.
    pub leads: Vec<f32>,
    /// Who learned on this very graph, if somebody did.
    model: Option<Box<dyn NodeClassifier>>,
}

impl Answer {
    /// How many test nodes are lost, and how far all are ahead in the mean: the larger, the stronger.
    fn strength(&self) -> (usize, f32) {
        let lost = self.leads.iter().filter(|lead| **lead > 0.0).count();
        (lost, self.leads.iter().sum::<f32>() / self.leads.len().max(1) as f32)
    }
}

impl<'a> Asked<'a> {
    /// Whom the context offers: whoever learns again, or else the victim; LHS with default settings, trained on the clean data,
    /// where there is nobody or a stand-in is wished for.
    pub(super) fn new(context: &'a AttackContext<'a>, stand_in: bool, seed: u64) -> Result<Self> {
        let victim = match (context.retrain, context.victim) {
            (Some(retrain), _) if !stand_in => Victim::Again(retrain),
            (None, Some(victim)) if !stand_in => Victim::Trained(victim),
            _ => {
                let task = Task::new(context.dataset, context.split)?;
                let mut session = Session::watched_by(context.observer);
                let fitted = Lhs::default().fit_with(&task, derive(seed, &[u64::MAX]), &mut session)?;
                Victim::StandIn(Box::new(fitted))
            }
        };
        Ok(Asked { context, victim })
    }

    /// Whether each question costs a training.
    pub(super) fn learns_again(&self) -> bool {
        matches!(self.victim, Victim::Again(_))
    }

    /// What becomes of the test nodes if they get these neighbours.
    pub(super) fn ask(&self, tried: &[Vec<u32>]) -> Result<Answer> {
        let AttackContext { dataset, split, .. } = *self.context;
        let graph = edges::flip(self.context.graph(), &pairs(split, tried))?.graph;
        let model = match &self.victim {
            Victim::Again(retrain) => Some(retrain(&dataset.clone().with_graph(graph.clone())?)?),
            _ => None,
        };
        let asked = self.of(&model);
        let probabilities = asked.predict(&graph, dataset.features())?;
        let (mut own, mut leads) = (Vec::new(), Vec::new());
        for &node in &split.test {
            let (row, class) = (probabilities.row(node as usize), dataset.labels().get(node as usize));
            let (truth, best) = match class {
                None => (1.0, 0.0),
                Some(class) => (row[class as usize], best_wrong(row, class).map_or(0.0, |best| row[best])),
            };
            own.push(truth);
            leads.push(best - truth);
        }
        Ok(Answer { graph, own, leads, model })
    }

    /// Who answered.
    pub(super) fn who(&'a self, answer: &'a Answer) -> &'a dyn NodeClassifier {
        self.of(&answer.model)
    }

    fn of<'b>(&'b self, model: &'b Option<Box<dyn NodeClassifier>>) -> &'b dyn NodeClassifier {
        match (&self.victim, model) {
            (_, Some(model)) => model.as_ref(),
            (Victim::Trained(victim), None) => *victim,
            (Victim::StandIn(model), None) => model.as_ref(),
            (Victim::Again(_), None) => unreachable!("whoever learns again has a model in each answer"),
        }
    }
}

/// The best that was found so far: at each node by itself, and all nodes together.
pub(super) struct Best {
    /// The best of each node, tried in the company of whatever the others tried.
    pub each: Neighbours,
    leads: Vec<f32>,
    /// What was tried at once and did the most, and how much that was.
    together: Option<((usize, f32), Neighbours)>,
}

impl Best {
    /// Nothing was tried yet of so many test nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Best { each: vec![Vec::new(); nodes], leads: vec![f32::NEG_INFINITY; nodes], together: None }
    }

    /// Takes in what was tried, and the answer; says for each node whether it is better than all before.
    pub(super) fn take(&mut self, tried: &[Vec<u32>], answer: &Answer) -> Vec<bool> {
        let strength = answer.strength();
        if self.together.as_ref().is_none_or(|(most, _)| strength > *most) {
            self.together = Some((strength, tried.to_vec()));
        }
        let better: Vec<bool> = answer.leads.iter().zip(&self.leads).map(|(now, then)| now > then).collect();
        for place in (0..tried.len()).filter(|&place| better[place]) {
            self.each[place].clone_from(&tried[place]);
            self.leads[place] = answer.leads[place];
        }
        better
    }

    /// What does the most: the best of each node all at once, or what did most when it was tried.
    pub(super) fn settled(mut self, asked: &Asked<'_>) -> Result<Neighbours> {
        let each = self.each.clone();
        self.take(&each, &asked.ask(&each)?);
        Ok(self.together.map_or(each, |(_, tried)| tried))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn a_node_copies_neighbours_of_one_other_class() {
        let dataset =
            SynthConfig { nodes: 200, homophily: 0.1, ..SynthConfig::default() }.generate(0).unwrap();
        let (graph, labels) = (dataset.graph(), dataset.labels());
        let budget = Budget { rate: 0.5 };
        for node in 0..50u32 {
            let (copied, class) = budget.mimicry(&dataset, node, None, 1);
            assert_eq!(copied.len(), budget.at(&dataset, node));
            let has_donor = |neighbour: &u32| {
                graph.neighbours(*neighbour as usize).iter().any(|&n| labels.get(n as usize) == class)
            };
            assert!(class.is_some() && class != labels.get(node as usize), "node {node}");
            assert!(copied.iter().all(has_donor), "node {node}");
            assert_eq!(budget.mimicry(&dataset, node, class, 2).1, class, "a class that is asked for");
        }
    }
}
