use super::*;
use crate::graph::synth::SynthConfig;
use crate::models::Model;
use crate::models::gcn::Gcn;
use crate::models::lhs::Lhs;
use crate::training::{Auto, Task};

fn data() -> Dataset {
    let config = SynthConfig { nodes: 90, classes: 3, homophily: 0.8, signal: 1.0, ..SynthConfig::default() };
    config.generate(4).unwrap()
}

fn quick(ensemble_size: usize) -> Lhs {
    let mut config = Lhs { ensemble_size: Auto::Given(ensemble_size), hidden: 8, ..Lhs::default() };
    config.training.epochs = 15;
    config.structure.rounds = 0;
    config.profile = Auto::Given(true);
    config.given_hops = Auto::Given(2);
    config.latent_hops = Auto::Given(1);
    config
}

fn explained(model: &dyn NodeClassifier, dataset: &Dataset, task: &Task<'_>, node: usize) -> Explanation {
    let subject = Subject { model, dataset, classes: dataset.labels().names(), learned_from: &task.train };
    Explanation::of(&subject, node, &ExplainOptions::default(), &()).unwrap()
}

#[test]
fn the_channels_add_up_to_the_scores_of_the_model() {
    let dataset = data();
    let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
    let model = quick(1).fit(&task).unwrap();
    let channels = model.channel_scores(task.graph, task.features).unwrap().unwrap();
    assert_eq!(channels.len(), 5);
    let probabilities = model.predict(task.graph, task.features).unwrap();
    for node in 0..dataset.num_nodes() {
        let sum = |class: usize| channels.iter().map(|(_, scores)| scores.get(node, class)).sum::<f32>();
        let scores: Vec<f32> = (0..3).map(sum).collect();
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let total: f32 = scores.iter().map(|score| (score - most).exp()).sum();
        for (class, score) in scores.iter().enumerate() {
            let softmax = (score - most).exp() / total;
            let told = probabilities.get(node, class);
            assert!((softmax - told).abs() < 1e-5, "node {node}: {softmax} {told}");
        }
    }
    // Of several members, the mean of their scores is told, which no average of probabilities equals.
    let model = quick(2).fit(&task).unwrap();
    let channels = model.channel_scores(task.graph, task.features).unwrap().unwrap();
    assert!(channels.iter().all(|(_, scores)| scores.as_slice().iter().all(|score| score.is_finite())));
}

#[test]
fn what_is_claimed_of_an_edge_is_what_the_model_says_without_it() {
    let dataset = data();
    let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
    let mut config = Gcn::default();
    config.training.epochs = 30;
    let model = config.fit(&task).unwrap();
    let mut flips = 0;
    for node in 0..30 {
        let told = explained(&model, &dataset, &task, node);
        assert_eq!(told.neighbours.looked.all, dataset.graph().degree(node));
        assert!((told.probabilities.iter().map(|class| class.probability).sum::<f32>() - 1.0).abs() < 1e-4);
        let class = dataset.labels().names().iter().position(|name| *name == told.prediction).unwrap();
        for neighbour in told.neighbours.most.iter().take(2) {
            let other = dataset.find_node(&neighbour.what.node).unwrap() as u32;
            let own = node as u32;
            let cut = |a: u32, b: u32| (a, b) != (own.min(other), own.max(other));
            let graph = dataset.graph().with_edges_where(cut).unwrap();
            let after = model.predict(&graph, dataset.features()).unwrap();
            assert_eq!(told.probability - after.row(node)[class], neighbour.fall);
        }
        for flip in &told.flips {
            let other = dataset.find_node(&flip.node).unwrap() as u32;
            let joined = dataset.graph().has_edge(node as u32, other);
            assert_eq!(joined, flip.change == Change::Removed);
            assert_ne!(flip.prediction, told.prediction);
            flips += 1;
        }
        assert!(told.channels.is_none() && told.latent_neighbours.is_none() && told.edge_trust.is_none());
    }
    assert!(flips > 0, "no edge changes anything: is any of them tried?");
}

#[test]
fn leaving_out_the_feature_that_decides_is_noticed() {
    // The class is the first feature; the others say nothing.
    let dataset = data();
    let labels = dataset.labels().clone();
    let of_class = |node: usize| labels.get(node).unwrap_or(0) as f32;
    let features = Mat::from_fn(90, 6, |node, column| match column {
        0 => of_class(node) - 1.0,
        _ => ((node * 7 + column * 13) % 5) as f32 * 0.01,
    });
    let dataset = dataset.with_features(crate::graph::Features::Dense(features)).unwrap();
    let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
    let mut config = crate::models::mlp::Mlp::default();
    config.training.epochs = 120;
    config.dropout = 0.0;
    let model = config.fit(&task).unwrap();
    let node = (0..90).find(|&node| of_class(node) == 2.0).unwrap();
    let told = explained(&model, &dataset, &task, node);
    assert_eq!(told.features.most[0].what.name, "0");
    assert!(told.features.most[0].fall > 0.1, "{:?}", told.features.most);
    assert!(told.neighbours.most.iter().all(|neighbour| neighbour.fall == 0.0), "it reads no edges");
    assert!(told.all_edges.is_none_or(|fall| fall == 0.0) && told.flips.is_empty());
}

#[test]
fn lhs_tells_its_channels_and_its_latent_neighbours() {
    let dataset = data();
    let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
    let model = quick(1).fit(&task).unwrap();
    let told = explained(&model, &dataset, &task, 3);
    let channels = told.channels.unwrap();
    let lead: f32 = channels.iter().map(|channel| channel.lead).sum();
    let (first, next) = (told.probabilities[0].probability, told.probabilities[1].probability);
    assert!((lead - (first / next).ln()).abs() < 1e-3, "{lead} is not the lead of {first} over {next}");
    assert!(told.latent_neighbours.unwrap().iter().all(|other| other.weight > 0.0));
    assert!(told.edge_trust.is_some());
}

#[test]
fn work_stops_when_asked_and_unknown_nodes_are_refused() {
    let dataset = data();
    let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
    let mut config = Gcn::default();
    config.training.epochs = 2;
    let model = config.fit(&task).unwrap();
    let subject = Subject {
        model: &model,
        dataset: &dataset,
        classes: dataset.labels().names(),
        learned_from: &task.train,
    };
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped = Explanation::of(&subject, 0, &ExplainOptions::default(), &stop);
    assert!(matches!(stopped, Err(Error::Interrupted { .. })));
    assert!(Explanation::of(&subject, 90, &ExplainOptions::default(), &()).is_err());
    let nameless = Subject { classes: &[], ..subject };
    assert!(Explanation::of(&nameless, 0, &ExplainOptions::default(), &()).is_err());
}
