//! What LHS decided, in sentences that need no knowledge of the model.

use super::FittedLhs;
use super::edge_trust::EdgeTrust;
use super::encoder::Channels;
use crate::structure::Views;
use crate::training::Task;

/// Two or three sentences.
pub(super) fn of(model: &FittedLhs) -> Vec<String> {
    let mut sentences = vec![neighbours(model), edges(model)];
    sentences.push(trust(&model.edge_trust, model.config.trust.given().is_some()));
    sentences.extend(model.hardened.map(|hardened| {
        String::from(if hardened {
            "It learned on copies of the graph in which training nodes were attacked."
        } else {
            "Learning on attacked copies of the graph was not shown to pay at validation nodes and was left out."
        })
    }));
    sentences
}

/// What is read, in the words of the method.
pub(super) fn channels(model: &FittedLhs) -> Vec<String> {
    let Channels { profile, incoming_profile, latent_hops, given_hops, incoming_hops, directed, .. } =
        model.channels;
    let (latent_layers, given_layers) = (model.channels.latent_layers, model.channels.given_layers);
    let yes = |read: bool| if read { "yes" } else { "no" };
    let given = if directed {
        format!(
            "{given_hops} along the given edges and {incoming_hops} against them, whom a node leads to: {}, who leads to it: {}",
            yes(profile > 0),
            yes(incoming_profile > 0)
        )
    } else {
        format!("{given_hops} over the given one, profiles: {}", yes(profile > 0))
    };
    let (_, chosen) = model.config.channel_set(model.channels.features, &model.selection);
    let mut lines = vec![format!(
        "read: {latent_hops} hops over the latent graph, {given}; closed-form classifiers get {:.1} % right, by the \
         features alone {:.1} %",
        100.0 * chosen,
        100.0 * model.selection.features_alone()
    )];
    if latent_layers + given_layers > 0 {
        lines.push(format!(
            "layers: {latent_layers} over the latent graph, {given_layers} over the given one"
        ));
    }
    if model.members.len() > 1 {
        let shares: Vec<String> = model
            .members
            .iter()
            .map(|member| format!("{} {:.0} %", member.way, 100.0 * member.share))
            .collect();
        lines.push(format!("encoders, and how much each says: {}", shares.join(", ")));
    }
    lines
}

/// What the given neighbours are like, and what is read beside them.
fn neighbours(model: &FittedLhs) -> String {
    let alike = match model.choices().views {
        Views::Features => "features",
        Views::Adjacency => "neighbours",
        Views::Both => "features and neighbours",
    };
    let own = format!("a graph of its own making, which joins nodes of like {alike}");
    let read = model.members.iter().any(|member| member.channels.read_latent());
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
    let hops = channels.given_hops + channels.incoming_hops + channels.given_layers > 0;
    match (hops, channels.profile + channels.incoming_profile > 0) {
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

fn trust(found: &EdgeTrust, given: bool) -> String {
    match (found.trust > 0.0, found.trained.is_empty(), given) {
        (true, _, true) => "Given edges count by how plausible they are, as the settings ask.",
        (true, _, false) => {
            "Given edges count by how plausible they are: the validation nodes do better so, as if some edges had been tampered \
             with."
        }
        (false, _, true) => "All given edges count alike, as the settings ask.",
        (false, true, false) => "There is no sign that the edges were tampered with.",
        (false, false, false) => "All given edges count alike: trusting the plausible ones more did not help.",
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
