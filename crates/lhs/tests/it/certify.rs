//! What a certificate promises, tried: a changed edge changes one voter at most, and no attack within the radius changes a prediction.

use lhs::attacks::{self, AttackContext};
use lhs::certify::{Buckets, Certificate, CertifyConfig, Curves, Voters, Votes, ids};
use lhs::graph::synth::SynthConfig;
use lhs::graph::{Dataset, DatasetParts, Graph, Split};
use lhs::models::{ModelKind, kind, kinds};
use lhs::training::Task;
use toml::Table;

const BUCKETS: usize = 5;

fn dataset() -> Dataset {
    SynthConfig { nodes: 60, homophily: 0.8, mean_degree: 6.0, signal: 1.0, ..SynthConfig::default() }
        .generate(3)
        .unwrap()
}

fn quick(kind: &ModelKind, epochs: i64) -> Table {
    let mut settings = (kind.defaults)();
    settings["training"].as_table_mut().unwrap().insert("epochs".into(), epochs.into());
    if kind.name == "lhs" {
        settings.insert("ensemble_size".into(), 1.into());
    }
    settings
}

fn voters(kind: &ModelKind, settings: &Table, dataset: &Dataset, poisoning: bool) -> Voters {
    let task = Task::new(dataset, &dataset.splits()[0]).unwrap();
    let buckets = Buckets::new(BUCKETS, 0, &ids(dataset)).unwrap();
    Voters::fit((kind, settings), &task, buckets, poisoning, 0, &()).unwrap()
}

/// The graph with one more edge, with one less, and with one that weighs otherwise.
fn changed(graph: &Graph, turn: usize) -> Vec<Graph> {
    let edges: Vec<(u32, u32)> = graph.edges().collect();
    let nodes = graph.num_nodes();
    let mut pairs =
        (0..nodes as u32).flat_map(|a| (0..a).map(move |b| (b, a))).filter(|(a, b)| !graph.has_edge(*a, *b));
    let new = pairs.nth(97 * turn).unwrap();
    let gone = edges[(31 * turn) % edges.len()];
    let without: Vec<(u32, u32)> = edges.iter().copied().filter(|edge| *edge != gone).collect();
    let weights: Vec<f32> = edges.iter().map(|edge| if *edge == gone { 7.0 } else { 1.0 }).collect();
    let build =
        |edges: &[(u32, u32)], weights: Option<&[f32]>| Graph::build(nodes, edges, weights, false).unwrap().0;
    vec![
        build(&[edges.clone(), vec![new]].concat(), None),
        build(&without, None),
        build(&edges, Some(&weights)),
    ]
}

fn differing(a: &Votes, b: &Votes) -> usize {
    a.voters().iter().zip(b.voters()).filter(|(a, b)| a != b).count()
}

#[test]
fn a_changed_edge_changes_one_voter_at_most_for_every_model_that_can_be_certified() {
    let dataset = dataset();
    let mut moved = 0;
    let mut claims = 0;
    for kind in kinds().iter().filter(|kind| kind.learns_from_copies) {
        claims += 1;
        let voters = voters(kind, &quick(kind, 15), &dataset, false);
        let said = |graph: &Graph| voters.votes(graph, dataset.features(), &ids(&dataset)).unwrap();
        let before = said(dataset.graph());
        for graph in (0..4).flat_map(|turn| changed(dataset.graph(), turn)) {
            let differ = differing(&before, &said(&graph));
            assert!(differ <= 1, "{}: {differ} voters say something else", kind.name);
            moved += differ;
        }
    }
    assert!(
        claims > 10 && moved > 20,
        "{claims} models, {moved} voters changed: does the test change anything?"
    );
}

#[test]
fn a_poisoned_edge_changes_one_voter_at_most() {
    let clean = dataset();
    for name in ["lhs", "gcn", "graphsage", "gcn-jaccard", "pro-gnn"] {
        let kind = kind(name).unwrap();
        let settings = quick(kind, 4);
        let said = |graph: &Graph| {
            let dataset = clean.clone().with_graph(graph.clone()).unwrap();
            voters(kind, &settings, &dataset, true).votes(graph, dataset.features(), &ids(&dataset)).unwrap()
        };
        let before = said(clean.graph());
        let differ: Vec<usize> =
            changed(clean.graph(), 1).iter().map(|graph| differing(&before, &said(graph))).collect();
        assert!(differ.iter().all(|differ| *differ <= 1), "{name}: {differ:?}");
    }
}

/// The first flips of an attack, which is what it would do with a smaller budget.
fn with_flips(clean: &Graph, added: &[(u32, u32)], removed: &[(u32, u32)], count: usize) -> Graph {
    let removed: Vec<(u32, u32)> = removed.iter().copied().take(count).collect();
    let added = added.iter().copied().take(count - removed.len());
    let kept = clean.edges().filter(|edge| !removed.contains(edge));
    Graph::from_edges(clean.num_nodes(), &kept.chain(added).collect::<Vec<_>>()).unwrap().0
}

#[test]
fn no_attack_within_the_radius_changes_a_certified_prediction() {
    let dataset = dataset();
    let split = &dataset.splits()[0];
    let gcn = kind("gcn").unwrap();
    let voters = voters(gcn, &quick(gcn, 60), &dataset, false);
    let said = |graph: &Graph| voters.votes(graph, dataset.features(), &ids(&dataset)).unwrap();
    let before = said(dataset.graph());
    let (mut within, mut beyond) = (0, 0);
    // `worst` is made of others, and leaves no graph.
    for attack in attacks::kinds().iter().filter(|attack| attack.name != "worst") {
        let mut settings = (attack.defaults)();
        for (key, small) in [("steps", 3), ("last_steps", 2), ("count", 4), ("queries", 1), ("epochs", 5)] {
            if let Some(value) = settings.get_mut(key) {
                *value = small.into();
            }
        }
        let attack_with = attack.at_rate(&settings, 1.0).unwrap();
        let attacked = attack_with.perturb(&AttackContext::new(&dataset, split), 5).unwrap();
        // Features are trusted: of attacks on them nothing is left.
        let (added, removed) = (&attacked.added, &attacked.removed);
        let flips = added.len() + removed.len();
        for count in (1..=BUCKETS / 2).chain([flips]).filter(|count| (1..=flips).contains(count)) {
            let after = said(&with_flips(dataset.graph(), added, removed, count));
            for node in (0..dataset.num_nodes()).filter(|node| before.radius(*node) >= count) {
                assert_eq!(before.winner(node), after.winner(node), "{}, {count}: node {node}", attack.name);
                within += 1;
            }
            let moved = (0..dataset.num_nodes()).filter(|node| before.winner(*node) != after.winner(*node));
            beyond += moved.count();
        }
    }
    assert!(within > 100 && beyond > 20, "{within} promises kept, {beyond} predictions changed beyond them");
}

#[test]
fn the_certificate_has_the_line_of_the_perceptron_and_finds_nodes_by_id() {
    let parts = dataset().into_parts();
    let names = (0..60).map(|node| format!("page {node}")).collect();
    let dataset = Dataset::new(DatasetParts { node_ids: Some(names), ..parts }).unwrap();
    let split = &dataset.splits()[0];
    let gcn = kind("gcn").unwrap();
    let config = CertifyConfig { buckets: BUCKETS, ..CertifyConfig::default() };
    let of = |on: &Dataset| Certificate::of((gcn, &quick(gcn, 60)), (&dataset, split, on), &config, 0, &());
    let certificate = of(&dataset).unwrap();
    let curves = certificate.curves(&dataset, &split.test);
    let Curves { certified_accuracy, collective_accuracy, .. } = &curves;
    assert_eq!(curves.vote_accuracy, Some(certified_accuracy[0]));
    assert_eq!(certified_accuracy.len(), 3, "radius 0, 1, 2 of five voters");
    assert!(certified_accuracy.is_sorted_by(|a, b| a >= b) && curves.mlp_accuracy.is_some());
    assert!(certified_accuracy.iter().zip(collective_accuracy).all(|(single, together)| together >= single));
    let node = certificate.node(&dataset, split, "page 7").unwrap();
    assert_eq!((node.node.as_str(), node.votes.iter().sum::<usize>()), ("page 7", BUCKETS));
    assert_eq!(node, certificate.nodes(&dataset, split)[7]);
    let error = certificate.node(&dataset, split, "page 60").unwrap_err().to_string();
    assert!(error.contains("no node `page 60`"), "{error}");

    // The same nodes under other edges are certified; other ids are refused.
    let less = dataset.clone().with_graph(changed(dataset.graph(), 2).remove(1)).unwrap();
    assert!(of(&less).is_ok());
    let other = (0..60).map(|node| format!("site {node}")).collect();
    let renamed =
        Dataset::new(DatasetParts { node_ids: Some(other), ..dataset.clone().into_parts() }).unwrap();
    let error = of(&renamed).unwrap_err().to_string();
    assert!(error.contains("node 0 has another id than in training"), "{error}");
}

#[test]
fn what_cannot_be_certified_says_why() {
    let dataset = dataset();
    let split = Split { ..dataset.splits()[0].clone() };
    let certify = |name: &str, buckets: usize| {
        let kind = kind(name).unwrap();
        let config = CertifyConfig { buckets, ..CertifyConfig::default() };
        let of = (&dataset, &split, &dataset);
        Certificate::of((kind, &quick(kind, 2)), of, &config, 0, &()).unwrap_err().to_string()
    };
    assert!(certify("gcn", 1).contains("cannot vote"));
    assert!(certify("gcn", 10_000).contains("more than the"));
    assert!(certify("pro-gnn", 5).contains("cannot learn from bucket graphs"));
}
