//! Which channels the encoder should read, told by the training labels alone.
//!
//! Beside its own features, a node may be known by its adjacency profile, by hops over the given graph and by hops
//! over the latent one. On some graphs each of them only brings noise, and the first two let in an attack on
//! the edges. So ridge classifiers with and without each of the three are compared by leave-one-out accuracy at
//! the training nodes, which the hat matrix gives exactly: `ŷ₋ᵢ = (Hat Y - h Y)ᵢ / (1 - hᵢ)`. A channel from the given edges
//! must pay a margin; the latent graph is read unless that costs accuracy.
//! Cost: eight factorisations with up to a few hundred columns, `O(n_train d²)`.

use serde::{Deserialize, Serialize};

use crate::graph::{Graph, Labelled, normalise};
use crate::linalg::{LinearMap, Mat, Ridge};
use crate::structure::{Inputs, Structure};
use crate::training::argmax;

/// Leading columns of each view that the comparison looks at.
const COLUMNS: usize = 64;
/// Penalty of the classifiers.
pub(super) const PENALTY: f32 = 1.0;
/// What a channel from the given edges must add to the share of the training nodes that are right.
const WORTH_READING: f32 = 0.005;

/// Which channels are read beside a node's own features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelSet {
    /// The neighbour row is part of a node's own code.
    pub profile: bool,
    /// There are hops over the given graph.
    pub given: bool,
    /// There are hops over the latent graph.
    pub latent: bool,
}

/// How many sets of channels there are.
const COMBINATIONS: usize = 8;

impl ChannelSet {
    /// All sets; of equals, the earlier is preferred.
    fn all() -> [ChannelSet; COMBINATIONS] {
        std::array::from_fn(|number| ChannelSet {
            latent: number & 1 == 0,
            profile: number & 2 != 0,
            given: number & 4 != 0,
        })
    }

    /// How many channels lead from the given edges.
    fn risky(self) -> f32 {
        f32::from(u8::from(self.profile) + u8::from(self.given))
    }
}

/// What is fixed beforehand of the set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed {
    /// Neighbour rows.
    pub profile: Option<bool>,
    /// Hops over the given graph.
    pub given: Option<bool>,
    /// Hops over the latent graph.
    pub latent: Option<bool>,
}

impl Fixed {
    fn allows(self, set: ChannelSet) -> bool {
        self.profile.is_none_or(|profile| profile == set.profile)
            && self.given.is_none_or(|given| given == set.given)
            && self.latent.is_none_or(|latent| latent == set.latent)
    }
}

/// Leave-one-out accuracy at the training nodes, 0..=1, for each set of channels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelSelection(pub [f32; COMBINATIONS]);

impl ChannelSelection {
    /// Measures it.
    pub fn measure(graph: &Graph, structure: &Structure, train: &Labelled, num_classes: usize) -> Self {
        let latent = normalise::row_stochastic(structure.latent());
        let given = normalise::row_stochastic(&graph.to_undirected());
        let Inputs { features, profile_directions, .. } = structure.inputs.as_ref();
        // What each channel says at the training nodes, without and with profiles.
        let channels = [vec![features], vec![features, profile_directions]].map(|views| {
            let own = leading_columns(&views);
            let one = given.apply(&own);
            let parts = [latent.apply(&own), given.apply(&one), one];
            (own.select_rows(&train.nodes), parts.map(|part| part.select_rows(&train.nodes)))
        });
        ChannelSelection(ChannelSet::all().map(|set| {
            let (own, [latent, two, one]) = &channels[usize::from(set.profile)];
            let mut parts = vec![own.clone()];
            if set.latent {
                parts.push(latent.clone());
            }
            if set.given {
                parts.extend([two.clone(), one.clone()]);
            }
            leave_one_out_accuracy(&Mat::side_by_side(&parts), &train.classes, num_classes)
        }))
    }

    /// With no channel but a node's own features.
    pub fn features_alone(&self) -> f32 {
        self.0[1]
    }

    /// The channels that are worth reading, and the accuracy with them.
    pub fn best(&self, fixed: Fixed) -> (ChannelSet, f32) {
        let worth = |(set, accuracy): (ChannelSet, f32)| accuracy - WORTH_READING * set.risky();
        let candidates = ChannelSet::all().into_iter().zip(self.0).filter(|(set, _)| fixed.allows(*set));
        let better = |best: (ChannelSet, f32), next: (ChannelSet, f32)| {
            if worth(next) > worth(best) { next } else { best }
        };
        candidates.reduce(better).unwrap_or((ChannelSet::all()[0], self.0[0]))
    }
}

fn leading_columns(parts: &[&Mat]) -> Mat {
    let cut = |part: &&Mat| {
        let columns = part.cols().min(COLUMNS);
        Mat::from_fn(part.rows(), columns, |row, col| part.get(row, col))
    };
    Mat::side_by_side(&parts.iter().map(cut).collect::<Vec<_>>())
}

/// One column per class, 1 where it is the row's.
pub(super) fn class_targets(classes: &[u32], num_classes: usize) -> Mat {
    let own = |row: usize, class: usize| f32::from(u8::from(classes[row] as usize == class));
    Mat::from_fn(classes.len(), num_classes, own)
}

/// Share of the rows whose class the ridge classifier of all other rows finds.
pub(super) fn leave_one_out_accuracy(rows: &Mat, classes: &[u32], num_classes: usize) -> f32 {
    let targets = class_targets(classes, num_classes);
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
    fn a_channel_must_pay_and_what_is_fixed_stays() {
        let best = |selection: &ChannelSelection, fixed| {
            let set = selection.best(fixed).0;
            (set.latent, set.profile, set.given)
        };
        let auto = Fixed::default();
        let selection = ChannelSelection([0.80, 0.80, 0.81, 0.79, 0.804, 0.804, 0.812, 0.812]);
        assert_eq!(best(&selection, auto), (true, true, false));
        assert_eq!(best(&selection, Fixed { profile: Some(false), ..auto }), (true, false, false));
        assert_eq!(best(&selection, Fixed { given: Some(true), ..auto }), (true, true, true));
        let noise = ChannelSelection([0.80, 0.801, 0.80, 0.80, 0.80, 0.80, 0.80, 0.80]);
        assert_eq!(best(&noise, auto), (false, false, false));
        assert_eq!(best(&noise, Fixed { latent: Some(true), ..auto }), (true, false, false));
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
