//! LHS beyond the contract: graphs it did not see, its switches, and data that has little to say.

use lhs::attacks::adaptive::AdaptiveConfig;
use lhs::attacks::{Attack, AttackContext};
use lhs::graph::synth::SynthConfig;
use lhs::graph::{Dataset, DatasetParts, Features, Graph, Split};
use lhs::linalg::Mat;
use lhs::models::lhs::{FittedLhs, Lhs};
use lhs::models::{Model, NodeClassifier, kind};
use lhs::training::{Auto, Session, Task};

/// A heterophilic graph whose edges tell the class and whose features hardly do.
fn heterophilic(nodes: usize) -> Dataset {
    let config = SynthConfig {
        nodes,
        mean_degree: 30.0,
        homophily: 0.1,
        signal: 1.0,
        splits: 1,
        ..SynthConfig::default()
    };
    config.generate(3).unwrap()
}

fn quick() -> Lhs {
    let mut config = Lhs::default();
    config.training.epochs = 60;
    config.structure.refiner.epochs = 10;
    config
}

fn fit(config: &Lhs, dataset: &Dataset) -> FittedLhs {
    let task = Task::new(dataset, &dataset.splits()[0]).unwrap();
    config.fit_with(&task, 0, &mut Session::default()).unwrap()
}

fn accuracy(model: &dyn NodeClassifier, dataset: &Dataset, nodes: impl Iterator<Item = usize>) -> f64 {
    let probabilities = model.predict(dataset.graph(), dataset.features()).unwrap();
    let classes = lhs::metrics::predicted_classes(&probabilities);
    let nodes: Vec<usize> = nodes.collect();
    let right = nodes.iter().filter(|&&node| Some(classes[node]) == dataset.labels().get(node)).count();
    right as f64 / nodes.len() as f64
}

#[test]
fn nodes_that_did_not_exist_in_training_are_classified() {
    let whole = heterophilic(700);
    let known: Vec<u32> = (0..640).collect();
    let part = whole.subset(&known).unwrap();
    let split = Split::random(part.labels(), 0.6, 0.2, 0.2, 1).unwrap();
    let part = part.with_splits(vec![split]).unwrap();
    let model = fit(&Lhs::default(), &part);
    let new = accuracy(&model, &whole, 640..700);
    let old = accuracy(&model, &part, part.splits()[0].test.iter().map(|&node| node as usize));
    assert!(old > 0.7, "{old}");
    assert!(new > old - 0.15, "{new} at new nodes, {old} at old ones");
}

/// The dataset after somebody who knows the training labels joined the training nodes of each class to nodes of no
/// other use.
fn tampered(dataset: &Dataset) -> Dataset {
    let train = &dataset.splits()[0].train;
    let marks: Vec<u32> = dataset.splits()[0].test.iter().copied().take(40).collect();
    let edges: Vec<(u32, u32)> = train
        .iter()
        .enumerate()
        .flat_map(|(place, &node)| {
            let class = dataset.labels().get(node as usize).unwrap() as usize;
            let few = marks.len() / dataset.num_classes();
            (0..6).map({
                let marks = &marks;
                move |step| (node, marks[class * few + (place + step) % few])
            })
        })
        .chain(dataset.graph().edges())
        .filter(|(a, b)| a != b)
        .collect();
    let (graph, _) = Graph::from_edges(dataset.num_nodes(), &edges).unwrap();
    dataset.clone().with_graph(graph).unwrap()
}

#[test]
fn whether_plausible_edges_are_trusted_is_decided_at_the_validation_nodes() {
    let clean = heterophilic(700);
    let reads_edges = Lhs { profile: Auto::Given(true), given_hops: Auto::Given(1), ..quick() };
    let decided = |dataset: &Dataset| fit(&reads_edges, dataset).edge_trust().clone();
    assert_eq!(decided(&clean).trust, 0.0);
    let found = decided(&tampered(&clean));
    assert!(found.trust > 0.0 && found.trained.len() == 2, "{found:?}");
    assert!(found.trained[1].1 > found.trained[0].1, "{found:?}");
}

#[test]
fn edges_are_weighed_in_learning_and_in_prediction() {
    let dataset = tampered(&heterophilic(300));
    let reads_edges = |trust| Lhs {
        trust: Auto::Given(trust),
        profile: Auto::Given(true),
        given_hops: Auto::Given(1),
        ..quick()
    };
    let model = fit(&reads_edges(3.0), &dataset);
    let weighed = model.kept_edges(dataset.graph(), dataset.features()).unwrap().into_owned();
    assert!(weighed.num_edges() < dataset.graph().num_edges(), "what is not plausible goes");
    let predict =
        |model: &dyn NodeClassifier, data: &Dataset| model.predict(data.graph(), data.features()).unwrap();
    let found = predict(&model, &dataset);
    // The same as a model that was given the weighed edges.
    let weighed = dataset.clone().with_graph(weighed).unwrap();
    assert_eq!(found, predict(&fit(&reads_edges(0.0), &weighed), &weighed));
    assert_ne!(found, predict(&fit(&reads_edges(0.0), &dataset), &dataset));
    // A graph that is not the training graph is weighed, too.
    let fewer = dataset.graph().with_edges_where(|a, b| (a + b) % 7 != 0).unwrap();
    let kept = model.kept_edges(&fewer, dataset.features()).unwrap();
    assert!(kept.weights().is_some_and(|weights| weights.iter().any(|weight| *weight < 1.0)));
}

#[test]
fn every_switch_of_an_ablation_trains() {
    let dataset = heterophilic(200);
    let switches = [
        "structure.rounds = 0",
        "structure.rounds = 1",
        "structure.rounds_must_pay = false",
        "structure.refiner.folds = 1",
        "structure.refiner.folds = 3",
        "structure.refiner.constraint = 'pairs'",
        "structure.refiner.sample = 50",
        "structure.refiner.pairwise_weight = 0.0",
        "structure.refiner.contrastive_weight = 0.0",
        "structure.directions_per_class = 0",
        "structure.top_k = 0",
        "structure.threshold = 0.9",
        "structure.given_share = 0.0",
        "structure.given_share = 1.0",
        "structure.views = 'features'",
        "structure.views = 'adjacency'",
        "structure.views = 'both'",
        "reconstruction.weight = 0.0",
        "latent_hops = 0",
        "given_hops = 0",
        "profile = false",
        "channel_dropout = 0.0",
        "ensemble_size = 1",
        "ensemble_size = 2",
        "trust = 2.0",
        "latent_layers = 2",
        "given_layers = 2",
        "structure.refiner.class_weight = 0.0",
    ];
    for switch in switches {
        let mut settings = toml::Table::try_from(quick()).unwrap();
        merge(&mut settings, switch.parse().unwrap());
        let config = (kind("lhs").unwrap().build)(&settings).unwrap();
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        let model = config.fit_with(&task, 0, &mut Session::default()).unwrap();
        let restored = (kind("lhs").unwrap().restore)(&model.saved().unwrap()).unwrap();
        let predict =
            |model: &dyn NodeClassifier| model.predict(dataset.graph(), dataset.features()).unwrap();
        assert_eq!(predict(model.as_ref()), predict(restored.as_ref()), "{switch}");
    }
}

fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => merge(inner, value),
            (Some(place), value) => *place = value,
            (None, _) => panic!("no setting {key}"),
        }
    }
}

fn with_features(dataset: &Dataset, features: Features) -> Dataset {
    Dataset::new(DatasetParts { features, ..dataset.clone().into_parts() }).unwrap()
}

#[test]
fn data_that_says_little_is_survived() {
    let dataset = heterophilic(120);
    let constant = with_features(&dataset, Features::Dense(Mat::full(120, 4, 1.0)));
    let duplicates = with_features(
        &dataset,
        Features::Dense(Mat::from_fn(120, 40, |row, col| f32::from(u8::from(row / 4 == col)))),
    );
    let few =
        SynthConfig { nodes: 30, mean_degree: 4.0, splits: 1, ..SynthConfig::default() }.generate(1).unwrap();
    for data in [&constant, &duplicates, &few] {
        let probabilities = fit(&quick(), data).predict(data.graph(), data.features()).unwrap();
        assert!(probabilities.as_slice().iter().all(|p| p.is_finite()));
    }
    let mut strict = quick();
    strict.structure.threshold = Auto::Given(1.0);
    let model = fit(&strict, &dataset);
    let structure = model.structure(dataset.graph(), dataset.features()).unwrap();
    assert_eq!(structure.rounds[0].num_edges(), 0, "no two nodes are quite alike");
    assert!(model.diagnostics().iter().any(|remark| remark.contains("lower structure.threshold")));
}

#[test]
fn neither_features_nor_edges_is_an_error_that_says_so() {
    let dataset = heterophilic(60);
    let (no_edges, _) = Graph::from_edges(60, &[]).unwrap();
    let empty = with_features(&dataset, Features::none(60)).with_graph(no_edges).unwrap();
    let task = Task::new(&empty, &empty.splits()[0]).unwrap();
    let error = quick().fit_with(&task, 0, &mut Session::default()).err().unwrap().to_string();
    assert!(error.contains("neither features nor edges") && error.contains("hint"), "{error}");
}

#[test]
fn who_has_met_an_attacker_stands_better_and_says_so() {
    // Edges tell the class, and features could, too.
    let config = SynthConfig {
        nodes: 400,
        mean_degree: 30.0,
        homophily: 0.1,
        signal: 3.0,
        splits: 1,
        ..SynthConfig::default()
    };
    let dataset = config.generate(3).unwrap();
    let split = &dataset.splits()[0];
    let plain = Lhs { ensemble_size: Auto::Given(1), ..quick() };
    let test = || split.test.iter().map(|&node| node as usize);
    let attacked = |hardening: Auto<f32>| {
        let model = fit(&Lhs { hardening, ..plain.clone() }, &dataset);
        let context = AttackContext { victim: Some(&model), ..AttackContext::new(&dataset, split) };
        let attacked = AdaptiveConfig::default().perturb(&context, 0).unwrap().dataset;
        (accuracy(&model, &attacked, test()), model.summary().concat())
    };
    let (without, said) = attacked(Auto::Given(0.0));
    assert!(!said.contains("attacked"), "{said}");
    let (with, said) = attacked(Auto::Given(0.5));
    assert!(said.contains("learned on copies"), "{said}");
    assert!(with > without + 0.2, "{with} with, {without} without");
}
