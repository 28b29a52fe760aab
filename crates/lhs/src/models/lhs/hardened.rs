//! Copies of the graph that attack the model, for it to learn on, and whether that pays.
//!
//! With `hardening = auto`, one encoder that learned on the copies is compared with one that did not, at the validation nodes as they
//! are and attacked: it must win more there than it loses here.

use super::super::hardening::{Attacked, ROUNDS};
use super::super::trial::Trial;
use super::edge_trust::EdgeWeights;
use super::encoder::Encoder;
use super::{Lhs, Prepared};
use crate::error::Result;
use crate::graph::{Graph, Labelled};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::quality::confusion::predicted_classes;
use crate::training::{OfCopies, Parameters, Session, Task, probabilities};

/// The share of nodes that are attacked where the data decides whether any are.
const USUAL: f32 = 0.5;

/// A task whose graph is as it was given, and what weighs its edges.
pub(super) type Given<'a> = (&'a Task<'a>, &'a Option<EdgeWeights>);

impl Lhs {
    /// With copies to learn on, as the settings ask. `task` has its edges weighed.
    pub(super) fn hardened(
        &self,
        given: Given<'_>,
        task: &Task<'_>,
        mut prepared: Prepared,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Prepared> {
        let share = self.hardening.given().unwrap_or(USUAL);
        let nobody_decides = self.hardening.given().is_none() && task.val.nodes.is_empty();
        if share == 0.0 || nobody_decides {
            return Ok(prepared);
        }
        let observer = Trial(session.observer);
        let session = &mut observer.session(session.memo);
        let hasty = self.hasty();
        let channels = prepared.channels;
        let mut learn = |prepared: &Prepared| -> Result<Parameters> {
            Ok(hasty.member(task, prepared, channels, ("hardening", 0), seed, session)?.0)
        };
        let mut attacked = Attacked::none();
        let first = learn(&prepared)?;
        let mut victim = first.clone();
        for round in 0..ROUNDS {
            let predict = |graph: &Graph| {
                let (graph, structure) = self.copy(given, &prepared, graph)?;
                let network = Encoder::new(self, channels, &graph, task.features, &structure);
                Ok(probabilities(&network, &victim.constants()))
            };
            let seed = derive(seed, &[4, round as u64]);
            attacked.add(Attacked::by_asking(&predict, given.0, share, seed, observer.0)?);
            prepared.copies =
                attacked.beside(given.0, share)?.copies.map(|graph| self.copy(given, &prepared, graph))?;
            if round + 1 < ROUNDS || self.hardening.given().is_none() {
                victim = learn(&prepared)?;
            }
        }
        if self.hardening.given().is_none() && !self.pays(task, &prepared, [&first, &victim]) {
            prepared.copies = OfCopies::none();
        }
        Ok(prepared)
    }

    /// Whether the second of two encoders, which learned on the copies, is right more often in all, as it is and attacked.
    fn pays(&self, task: &Task<'_>, prepared: &Prepared, encoders: [&Parameters; 2]) -> bool {
        let judges = prepared.copies.val.iter().map(|(graph, structure)| (graph, structure));
        let versions: Vec<_> = judges.chain([(task.graph, &prepared.structure)]).collect();
        let [without, with] = encoders.map(|parameters| {
            let right = versions.iter().map(|(graph, structure)| {
                let network = Encoder::new(self, prepared.channels, graph, task.features, structure);
                num_right(&probabilities(&network, &parameters.constants()), &task.val)
            });
            right.sum::<usize>()
        });
        with > without
    }
}

fn num_right(answers: &Mat, asked: &Labelled) -> usize {
    let predicted = predicted_classes(&answers.select_rows(&asked.nodes));
    predicted.iter().zip(&asked.classes).filter(|(predicted, class)| predicted == class).count()
}
