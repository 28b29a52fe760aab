//! Whether the given edges deserve to be read, told by the training labels alone.
//!
//! They can come in by two doors: the adjacency profile in a node's own code, and the hops over the given graph.
//! Each is also a door for an attack on the edges, and on some graphs it only brings noise. A door is opened only if
//! that pays: ridge classifiers on what a node and its latent neighbours look like, with and without the profile,
//! with and without one and two hops over the given graph, are compared by leave-one-out accuracy at the training
//! nodes, which the hat matrix gives exactly: `ŷ₋ᵢ = (Hat Y - h Y)ᵢ / (1 - hᵢ)`.
//! Cost: four factorisations with up to a few hundred columns, `O(n_train d²)`.

use serde::Serialize;

use crate::graph::{Graph, Labelled, normalise};
use crate::linalg::{LinearMap, Mat, Ridge};
use crate::structure::Structure;
use crate::training::argmax;

/// Leading columns of each view that the comparison looks at.
const COLUMNS: usize = 64;
/// Penalty of the classifiers.
const PENALTY: f32 = 1.0;
/// What an open door must add to the share of the training nodes that are right.
const WORTH_OPENING: f32 = 0.005;

/// Which doors are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Doors {
    /// Profiles are part of a node's own code.
    pub profile: bool,
    /// There are hops over the given graph.
    pub given: bool,
}

impl Doors {
    /// All combinations, the most cautious first.
    const ALL: [Doors; 4] = [
        Doors { profile: false, given: false },
        Doors { profile: true, given: false },
        Doors { profile: false, given: true },
        Doors { profile: true, given: true },
    ];

    fn open(self) -> f32 {
        f32::from(u8::from(self.profile) + u8::from(self.given))
    }
}

/// Leave-one-out accuracy at the training nodes, 0..=1, for each combination of doors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trust(pub [f32; 4]);

impl Trust {
    /// Measures it.
    pub fn measure(graph: &Graph, structure: &Structure, train: &Labelled, num_classes: usize) -> Self {
        let latent = normalise::row_stochastic(structure.latent());
        let given = normalise::row_stochastic(&graph.to_undirected());
        Trust(Doors::ALL.map(|doors| {
            let profiles = doors.profile.then_some(&structure.inputs.profiles);
            let views: Vec<&Mat> = [&structure.inputs.features].into_iter().chain(profiles).collect();
            let own = leading_columns(&views);
            let mut parts = vec![latent.apply(&own)];
            if doors.given {
                let one = given.apply(&own);
                parts.push(given.apply(&one));
                parts.push(one);
            }
            parts.push(own);
            let rows: Vec<Mat> = parts.iter().map(|part| part.select_rows(&train.nodes)).collect();
            leave_one_out_accuracy(&Mat::side_by_side(&rows), &train.classes, num_classes)
        }))
    }

    /// The doors that are worth their risk, and the accuracy with them; those that are given stay as they are.
    pub fn best(&self, profile: Option<bool>, given: Option<bool>) -> (Doors, f32) {
        let allowed = |doors: Doors| {
            profile.is_none_or(|profile| profile == doors.profile)
                && given.is_none_or(|given| given == doors.given)
        };
        let worth = |(doors, accuracy): (Doors, f32)| accuracy - WORTH_OPENING * doors.open();
        let candidates = Doors::ALL.into_iter().zip(self.0).filter(|(doors, _)| allowed(*doors));
        let better =
            |best: (Doors, f32), next: (Doors, f32)| if worth(next) > worth(best) { next } else { best };
        candidates.reduce(better).unwrap_or((Doors::ALL[0], self.0[0]))
    }
}

fn leading_columns(parts: &[&Mat]) -> Mat {
    let cut = |part: &&Mat| {
        let columns = part.cols().min(COLUMNS);
        Mat::from_fn(part.rows(), columns, |row, col| part.get(row, col))
    };
    Mat::side_by_side(&parts.iter().map(cut).collect::<Vec<_>>())
}

/// Share of the rows whose class the ridge classifier of all other rows finds.
fn leave_one_out_accuracy(rows: &Mat, classes: &[u32], num_classes: usize) -> f32 {
    let targets =
        Mat::from_fn(
            rows.rows(),
            num_classes,
            |row, class| {
                if classes[row] as usize == class { 1.0 } else { 0.0 }
            },
        );
    let ridge = Ridge::new(rows, PENALTY);
    let (fitted, leverage) = (ridge.apply_hat(&targets), ridge.hat_diagonal());
    // Dividing by 1 - h changes no argmax.
    let right = |row: &usize| {
        let own = |class: usize| fitted.get(*row, class) - leverage[*row] * targets.get(*row, class);
        argmax(&(0..num_classes).map(own).collect::<Vec<_>>()) == classes[*row] as usize
    };
    (0..rows.rows()).filter(right).count() as f32 / rows.rows().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_must_pay_and_what_is_given_stays() {
        let trust = Trust([0.80, 0.81, 0.804, 0.812]);
        assert_eq!(trust.best(None, None).0, Doors { profile: true, given: false });
        assert_eq!(trust.best(Some(false), None).0, Doors { profile: false, given: false });
        assert_eq!(trust.best(None, Some(true)).0, Doors { profile: true, given: true });
    }

    #[test]
    fn a_row_does_not_vote_for_itself() {
        // Every row has a column of its own: perfect memory, and nothing learned from the others.
        let own_columns = Mat::from_fn(12, 12, |row, col| if row == col { 1.0 } else { 0.0 });
        let classes: Vec<u32> = (0..12).map(|row| row % 2).collect();
        assert!(leave_one_out_accuracy(&own_columns, &classes, 2) <= 0.5);
        let telling = Mat::from_fn(12, 2, |row, col| if row % 2 == col { 1.0 } else { 0.0 });
        assert_eq!(leave_one_out_accuracy(&telling, &classes, 2), 1.0);
    }
}
