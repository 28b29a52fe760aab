//! What LHS decided, in sentences that need no knowledge of the model.

use super::FittedLhs;
use super::tampering::Tampering;
use crate::structure::Views;
use crate::training::Task;

/// Two or three sentences.
pub(super) fn of(model: &FittedLhs) -> Vec<String> {
    let mut sentences = vec![neighbours(model), edges(model)];
    sentences.push(tampering(&model.tampering));
    sentences
}

/// What the given neighbours are like, and what is read beside them.
fn neighbours(model: &FittedLhs) -> String {
    let alike = match model.choices().views {
        Views::Features => "features",
        Views::Adjacency => "neighbours",
        Views::Both => "features and neighbours",
    };
    let own = format!("a graph of its own making, which joins nodes of like {alike}");
    let read = model.channels().latent_hops > 0;
    let found = match model.agreeing_edges {
        Some(share) if share < 0.5 => "Neighbours mostly differ in class",
        Some(_) => "Neighbours mostly share a class",
        None => "The training nodes are not joined to each other, so nothing is known of how classes meet",
    };
    let percent = model.agreeing_edges.map_or_else(String::new, |share| {
        format!(" ({:.0} % of the edges between training nodes join two of one class)", 100.0 * share)
    });
    match (read, model.agreeing_edges) {
        (true, Some(share)) if share < 0.5 => format!("{found}{percent}, so the model reads {own}."),
        (true, _) => format!("{found}{percent}; the model also reads {own}."),
        (false, _) if model.config.latent_hops.given().is_some() => {
            format!("{found}{percent}. {} was made, but is not read, as the settings ask.", capital(&own))
        }
        (false, _) => {
            format!("{found}{percent}. {} was made, but did not help and is not read.", capital(&own))
        }
    }
}

/// Whether the given edges are read, and in which way.
fn edges(model: &FittedLhs) -> String {
    let channels = model.channels();
    match (channels.given_hops > 0, channels.profile > 0) {
        (true, true) => {
            "The given edges are read, too: what neighbours are like, and who they are.".to_string()
        }
        (true, false) => "The given edges are read, too: what neighbours are like.".to_string(),
        (false, true) => {
            "Of the given edges, the model reads who the neighbours are, not what they are like.".to_string()
        }
        (false, false)
            if model.config.given_hops.given().is_some() && model.config.profile.given().is_some() =>
        {
            "The given edges are not read by themselves, as the settings ask.".to_string()
        }
        (false, false) => "The given edges are not read by themselves: they did not help.".to_string(),
    }
}

fn tampering(found: &Tampering) -> String {
    match (found.sign.is_some(), found.least_support > 0.0) {
        (true, true) => "The edges may have been tampered with; those that least fit in are left out.",
        (true, false) => {
            "The edges may have been tampered with; leaving out those that least fit in did not help."
        }
        (false, true) => "Edges that least fit in are left out, as the settings ask.",
        (false, false) => "There is no sign that the edges were tampered with.",
    }
    .to_string()
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Share of the edges between training nodes whose ends share a class.
pub(super) fn agreeing_edges(task: &Task<'_>) -> Option<f32> {
    let mut classes = vec![None; task.graph.num_nodes()];
    task.train
        .nodes
        .iter()
        .zip(&task.train.classes)
        .for_each(|(&node, &class)| classes[node as usize] = Some(class));
    let ends = task.graph.edges().filter_map(|(a, b)| Some((classes[a as usize]?, classes[b as usize]?)));
    let (all, same) = ends.fold((0, 0), |(all, same), (a, b)| (all + 1, same + usize::from(a == b)));
    (all > 0).then(|| same as f32 / all as f32)
}
