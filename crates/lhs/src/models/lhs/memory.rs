//! How much memory LHS needs: first the structure, then one encoder after the other.

use super::super::hardening::ALL_COPIES;
use super::committee::most_members;
use super::encoder::DECODED;
use super::layers::most_layers;
use super::rows::WIDE;
use super::{HOPS, Lhs};
use crate::training::memory_plan::{Amounts, Count, product};
use crate::training::{DataSizes, MemoryPlan};

/// Neighbours that are thought of where the data says how many there are.
const USUAL_NEAR: usize = 16;
/// Numbers in buffers that threads keep for reuse, as measured: so many a node, and at most.
const KEPT_BUFFERS: (usize, u64) = (1500, 1 << 26);
/// Columns that are found together of profiles.
const EIGEN_BLOCK: usize = 16;
/// Matrices that the tape keeps of each code.
const CODE_COPIES: usize = 6;
/// Matrices that the tape keeps of each layer.
const LAYER_COPIES: usize = 9;
/// Rounds that are thought of where each must pay: seldom do more.
const ROUNDS: usize = 2;

/// The plan for data of these sizes. Where channels are chosen by the data, they are counted as read.
pub(super) fn plan(config: &Lhs, sizes: &DataSizes) -> MemoryPlan {
    if let Some(batch) = config.batch_for(sizes.nodes) {
        return MemoryPlan::of(sizes, &in_batches(config, sizes, batch));
    }
    let structure = structure(config, sizes);
    let encoder = encoder(config, sizes);
    let copies = if config.hardening.given() == Some(0.0) { 0 } else { ALL_COPIES };
    // The structure's own training is over when the encoder's begins.
    let amounts = Amounts {
        prepared: structure.prepared + encoder.prepared * (1 + copies),
        parameters: structure.parameters + encoder.parameters,
        activations: structure.activations.max(encoder.activations),
    };
    MemoryPlan::of(sizes, &amounts)
}

/// In batches: the most that is there at once, of finding profiles, directions and neighbours, and of learning.
fn in_batches(config: &Lhs, sizes: &DataSizes, batch: usize) -> Amounts {
    let DataSizes { nodes, entries, features, classes, .. } = *sizes;
    let settings = &config.structure;
    let directions = 1 + usize::from(sizes.directed);
    let (of_features, of_edges) = (settings.components.min(features), settings.components * directions);
    let columns = of_features + of_edges;
    let rank = match settings.directions_per_class {
        0 => columns,
        per_class => per_class.saturating_mul(classes).saturating_add(1).min(columns),
    };
    let near = settings.top_k.given().filter(|k| *k > 0).unwrap_or(USUAL_NEAR).min(nodes);
    // Directions of profiles, both views, and the scaled edges with their transpose.
    let kept = product([nodes, of_features + 2 * of_edges + 6]) + product([entries, 3 * directions]);
    let profiles = product([nodes, 3 * settings.components + 6 * EIGEN_BLOCK]) + entries;
    let found = kept + product([nodes, columns + (2 * rank).max(rank + 48) + 8 + 9 * 8]);
    let joined = kept + product([nodes, rank + 12 * near]);
    let base = if sizes.sparse || features > WIDE { of_features } else { features };
    let base = if features == 0 { of_edges } else { base };
    let hops = config.given_hops.given().unwrap_or(HOPS).saturating_mul(directions)
        + config.latent_hops.given().unwrap_or(HOPS);
    let learned = kept + product([nodes, 4 * near]) + product([nodes, hops, base]) + entries;
    let width = Count::from(features) + of_edges + product([hops, base]);
    let codes = hops + directions + 1;
    let most = [profiles, found, joined, learned].into_iter().max().unwrap_or_default();
    Amounts {
        prepared: most + product([nodes, KEPT_BUFFERS.0]).min(Count(KEPT_BUFFERS.1)),
        parameters: width * config.hidden + product([codes, config.hidden, classes]),
        activations: (width * 3usize + product([codes, config.hidden, CODE_COPIES])) * batch,
    }
}

/// Views, directions, latent graphs and refiners.
fn structure(config: &Lhs, sizes: &DataSizes) -> Amounts {
    let settings = &config.structure;
    let nodes = sizes.nodes;
    let of_features = settings.components.min(nodes).min(sizes.features);
    let directions = 1 + usize::from(sizes.directed);
    let of_edges = settings.components.min(nodes) * directions;
    let columns = of_features + of_edges;
    let rank = match settings.directions_per_class {
        0 => columns,
        per_class => per_class.saturating_mul(sizes.classes).saturating_add(1).min(columns),
    };
    let near = match settings.top_k.given() {
        Some(0) => nodes,
        Some(k) => k.min(nodes),
        None => USUAL_NEAR,
    };
    let rounds = if settings.rounds_must_pay { settings.rounds.min(ROUNDS) } else { settings.rounds };
    let graphs = product([rounds.saturating_add(1), nodes, near, 4]);
    let bases = product([sizes.features, of_features]) + product([nodes, of_edges]);
    // Three choices of views are compared, each with its directions.
    let views = product([nodes, columns, 3]) + product([nodes, rank, 3]);
    let refiner = &settings.refiner;
    let sampled = refiner.sample.min(nodes);
    let contrasted = if nodes <= refiner.exact_up_to { nodes } else { refiner.batch.min(nodes) };
    let pairs = refiner.pairs.min(sizes.labelled);
    // A code for the features and one for the neighbour rows in each direction.
    let sights = usize::from(sizes.features > 0) + directions;
    let weights = product([sizes.features, refiner.hidden])
        + product([directions, nodes, refiner.hidden])
        + product([2, sights, refiner.hidden, refiner.hidden]);
    let learning = rounds > 0;
    let if_learning = |count: Count| if learning { count } else { Count(0) };
    Amounts {
        prepared: bases * 2usize + views + graphs + if_learning(product([nodes, refiner.hidden, 4])),
        parameters: if_learning(weights * product([refiner.folds, rounds])),
        activations: if_learning(
            product([sampled, refiner.hidden, 12 + 4 * sights])
                + product([contrasted, contrasted, 3])
                + product([pairs, pairs, 3])
                + sizes.input() * 2usize
                + sizes.propagation(),
        ),
    }
}

/// One encoder on the tape, and the weights of all.
fn encoder(config: &Lhs, sizes: &DataSizes) -> Amounts {
    let nodes = sizes.nodes;
    let hidden = config.hidden;
    let profile = config.profile.given().unwrap_or(true) || sizes.features == 0;
    let directions = 1 + usize::from(sizes.directed);
    let profiles = if profile { directions } else { 0 };
    let parts = usize::from(sizes.features > 0) + profiles;
    let width = product([parts, hidden]);
    let latent = config.latent_hops.given().unwrap_or(HOPS);
    let given = config.given_hops.given().unwrap_or(HOPS);
    let hops = Count::from(latent) + product([given, directions]) + 1usize;
    let layers = Count::from(config.latent_layers.given().unwrap_or_else(|| most_layers(nodes)))
        + config.given_layers.given().unwrap_or_else(|| most_layers(nodes));
    let restored = if config.reconstruction.weight > 0.0 {
        config.structure.components.min(nodes).min(sizes.features.max(1))
    } else {
        0
    };
    let decoded = if restored > 0 { (Count::from(latent) + 1usize) * DECODED } else { Count(0) };
    let rows = profiles * nodes;
    let inner = config.layers.saturating_sub(1);
    let weights = product([sizes.features, hidden])
        + product([rows, hidden])
        + product([parts, inner, hidden, hidden])
        + width * hops * sizes.classes
        + width * decoded
        + layers * product([directions + 1, hidden, hidden]);
    let members = most_members(config, nodes);
    let masked = (config.reconstruction.mask * nodes as f32) as usize;
    Amounts {
        prepared: sizes.propagation() * 2usize + sizes.input() + product([nodes, restored]),
        // One member is trained at a time: of the others only their weights are kept, one copy in five.
        parameters: weights + Count((weights * members.saturating_sub(1)).0 / 5),
        activations: width * product([config.layers, nodes, CODE_COPIES])
            + (hops * sizes.classes + decoded) * product([nodes, 3])
            + product([masked, restored, 3])
            + layers * product([nodes, hidden, LAYER_COPIES + directions]),
    }
}
