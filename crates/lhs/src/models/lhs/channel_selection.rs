//! Which channels the encoder should read, told by closed-form classifiers.
//!
//! Beside its own features, a node may be known by its neighbour row, by hops over the given graph and by hops over the
//! latent one; where edges have a direction, rows and hops along and against it are channels of their own. On some graphs
//! each of them only brings noise, and all but the latent one let in an attack on the edges. So closed-form classifiers with
//! and without each are compared (`judge`). A channel from the given edges must pay a margin; the latent graph is
//! read unless that costs.
//! Cost: a factorisation with up to a few hundred columns for each set of channels, `O(n_train d²)`.

use serde::{Deserialize, Serialize};

use super::judge::Judge;
use crate::graph::{Graph, normalise};
use crate::linalg::{LinearMap, Mat};
use crate::structure::Structure;
use crate::training::Task;

/// Leading columns of each view that the comparison looks at.
const COLUMNS: usize = 64;
/// What a channel from the given edges must add to the share of the nodes that are right.
const WORTH_READING: f32 = 0.005;

/// Which channels are read beside a node's own features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelSet {
    /// The neighbour row is part of a node's own code; where edges have a direction, whom it leads to.
    pub profile: bool,
    /// Who leads to it is.
    pub incoming_profile: bool,
    /// There are hops over the given graph; where edges have a direction, along it.
    pub given: bool,
    /// There are hops against the direction.
    pub incoming: bool,
    /// There are hops over the latent graph.
    pub latent: bool,
}

impl ChannelSet {
    /// All sets; of equals, the earlier is preferred.
    fn all(directed: bool) -> impl Iterator<Item = ChannelSet> {
        (0..if directed { 32u8 } else { 8 }).map(|number| ChannelSet {
            latent: number & 1 == 0,
            profile: number & 2 != 0,
            given: number & 4 != 0,
            incoming_profile: number & 8 != 0,
            incoming: number & 16 != 0,
        })
    }

    /// How many channels lead from the given edges.
    fn risky(self) -> f32 {
        let channels = [self.profile, self.incoming_profile, self.given, self.incoming];
        channels.map(|read| f32::from(u8::from(read))).iter().sum()
    }
}

/// What is fixed beforehand of the set, for both directions alike.
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
    fn allows(self, set: ChannelSet, directed: bool) -> bool {
        let both = |fixed: Option<bool>, one: bool, other: bool| {
            fixed.is_none_or(|fixed| fixed == one && (!directed || fixed == other))
        };
        both(self.profile, set.profile, set.incoming_profile)
            && both(self.given, set.given, set.incoming)
            && self.latent.is_none_or(|latent| latent == set.latent)
    }
}

/// How well closed-form classifiers do with each set of channels, 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelSelection {
    /// Whether edges have a direction, and so channels of their own for each.
    directed: bool,
    /// In the order of [`ChannelSet::all`]; none for a set that was not asked for.
    scores: Vec<Option<f32>>,
}

impl ChannelSelection {
    /// Measures it; sets that are not allowed are not looked at.
    pub fn measure(task: &Task<'_>, structure: &Structure, fixed: Fixed) -> Self {
        let judge = Judge::new(task);
        let directed = structure.inputs.incoming.is_some();
        let views = ChannelViews::new(task, structure, &judge.nodes());
        let score = |set: ChannelSet| {
            let asked = fixed.allows(set, directed) || set == FEATURES_ALONE;
            asked.then(|| judge.score(&views.rows(set)))
        };
        ChannelSelection { directed, scores: ChannelSet::all(directed).map(score).collect() }
    }

    /// With no channel but a node's own features.
    pub fn features_alone(&self) -> f32 {
        let mut measured = ChannelSet::all(self.directed).zip(&self.scores);
        measured.find_map(|(set, score)| score.filter(|_| set == FEATURES_ALONE)).unwrap_or(0.0)
    }

    /// The channels that are worth reading, and how well the classifier does with them.
    pub fn best(&self, fixed: Fixed) -> (ChannelSet, f32) {
        let worth = |(set, score): (ChannelSet, f32)| score - WORTH_READING * set.risky();
        let all = ChannelSet::all(self.directed).zip(&self.scores);
        let measured = all.filter_map(|(set, score)| Some((set, (*score)?)));
        let better = |best: (ChannelSet, f32), next: (ChannelSet, f32)| {
            if worth(next) > worth(best) { next } else { best }
        };
        let allowed = measured.filter(|(set, _)| fixed.allows(*set, self.directed));
        allowed.reduce(better).unwrap_or((FEATURES_ALONE, 0.0))
    }
}

const FEATURES_ALONE: ChannelSet =
    ChannelSet { profile: false, incoming_profile: false, given: false, incoming: false, latent: false };

/// What each channel says at the labelled nodes, of each view.
struct ChannelViews {
    features: OfView,
    profile: OfView,
    incoming_profile: Option<OfView>,
}

/// Of one view: itself, and what of it comes over the graphs.
struct OfView {
    own: Mat,
    latent: Mat,
    /// Two hops, one hop.
    given: [Mat; 2],
    incoming: Option<[Mat; 2]>,
}

impl ChannelViews {
    fn new(task: &Task<'_>, structure: &Structure, nodes: &[u32]) -> Self {
        let inputs = structure.inputs.as_ref();
        let average = |graph: &Graph| normalise::row_stochastic(graph);
        let latent = average(structure.latent());
        let directed = inputs.incoming.is_some();
        let along = if directed { average(task.graph) } else { average(&task.graph.to_undirected()) };
        let against = directed.then(|| average(&task.graph.reversed()));
        let hops = |step: &dyn LinearMap, own: &Mat| {
            let one = step.apply(own);
            [step.apply(&one).select_rows(nodes), one.select_rows(nodes)]
        };
        let of = |view: &Mat| {
            let columns = view.cols().min(COLUMNS);
            let own = Mat::from_fn(view.rows(), columns, |row, col| view.get(row, col));
            OfView {
                latent: latent.apply(&own).select_rows(nodes),
                given: hops(&along, &own),
                incoming: against.as_ref().map(|against| hops(against, &own)),
                own: own.select_rows(nodes),
            }
        };
        ChannelViews {
            features: of(&inputs.features),
            profile: of(&inputs.profiles.directions),
            incoming_profile: inputs.incoming.as_ref().map(|incoming| of(&incoming.directions)),
        }
    }

    fn rows(&self, set: ChannelSet) -> Mat {
        let mut views = vec![&self.features];
        if set.profile {
            views.push(&self.profile);
        }
        if set.incoming_profile {
            let Some(incoming) = &self.incoming_profile else { return Mat::zeros(0, 0) };
            views.push(incoming);
        }
        let mut parts: Vec<&Mat> = views.iter().map(|view| &view.own).collect();
        if set.latent {
            parts.extend(views.iter().map(|view| &view.latent));
        }
        for hop in 0..2 {
            parts.extend(views.iter().filter(|_| set.given).map(|view| &view.given[hop]));
        }
        for hop in 0..2 {
            let incoming = views.iter().filter(|_| set.incoming).filter_map(|view| view.incoming.as_ref());
            parts.extend(incoming.map(|hops| &hops[hop]));
        }
        Mat::side_by_side(&parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(scores: &[f32], fixed: Fixed) -> (bool, bool, bool, bool, bool) {
        let scores = scores.iter().copied().map(Some).collect::<Vec<_>>();
        let set = ChannelSelection { directed: scores.len() == 32, scores }.best(fixed).0;
        (set.latent, set.profile, set.given, set.incoming_profile, set.incoming)
    }

    #[test]
    fn a_channel_must_pay_and_what_is_fixed_stays() {
        let auto = Fixed::default();
        let scores = [0.80, 0.80, 0.81, 0.79, 0.804, 0.804, 0.812, 0.812];
        let undirected = |scores: &[f32], fixed| {
            let (latent, profile, given, ..) = best(scores, fixed);
            (latent, profile, given)
        };
        assert_eq!(undirected(&scores, auto), (true, true, false));
        assert_eq!(undirected(&scores, Fixed { profile: Some(false), ..auto }), (true, false, false));
        assert_eq!(undirected(&scores, Fixed { given: Some(true), ..auto }), (true, true, true));
        let noise = [0.80, 0.801, 0.80, 0.80, 0.80, 0.80, 0.80, 0.80];
        assert_eq!(undirected(&noise, auto), (false, false, false));
        assert_eq!(undirected(&noise, Fixed { latent: Some(true), ..auto }), (true, false, false));
    }

    #[test]
    fn each_direction_must_pay_for_itself() {
        let mut scores = [0.5f32; 32];
        scores[8] = 0.6; // latent and incoming profile
        scores[8 + 16] = 0.603;
        assert_eq!(best(&scores, Fixed::default()), (true, false, false, true, false));
        let both = Fixed { profile: Some(true), ..Fixed::default() };
        assert_eq!(best(&scores, both), (true, true, false, true, false));
    }
}
