//! One contract for every attack, what injected edges look like, and what they do to trained models.

use std::collections::BTreeSet;

use lhs::attacks::injected::InjectedConfig;
use lhs::attacks::{Attack, AttackContext, AttackKind, Attacked, kind, kinds};
use lhs::experiment::splits::SplitSpec;
use lhs::experiment::{AttackAxis, CellRecord, Data, OnError, Plan, Runner, Suite, attack_seed};
use lhs::graph::heterophily::node_heterophily;
use lhs::graph::synth::SynthConfig;
use lhs::graph::{Dataset, DatasetParts, Features, Graph, Labels, Split};
use lhs::metrics::statistics;
use lhs::models::{Model, NodeClassifier, Registry};
use lhs::training::Task;

fn dataset() -> Dataset {
    SynthConfig { nodes: 300, homophily: 0.8, ..SynthConfig::default() }.generate(3).unwrap()
}

/// All attacks that change a graph: the worst of several is none.
fn changing() -> impl Iterator<Item = &'static AttackKind> {
    kinds().iter().filter(|kind| kind.name != "worst")
}

/// A small victim, for attacks that ask one: without it, they would train a large one.
fn victim(dataset: &Dataset, split: &Split) -> Box<dyn NodeClassifier> {
    let gcn = lhs::models::gcn::Gcn { hidden: 8, ..Default::default() };
    Box::new(gcn.fit(&Task::new(dataset, split).unwrap()).unwrap())
}

/// An attack with its defaults, but for those that make it slow.
fn attack(kind: &AttackKind, rate: f64) -> Box<dyn Attack> {
    attack_with(
        kind.name,
        rate,
        &[
            ("steps", 3),
            ("last_steps", 2),
            ("count", 4),
            ("queries", 1),
            ("epochs", 5),
            ("population", 2),
            ("generations", 2),
        ],
    )
}

/// An attack with its defaults, but for some settings, where it has them.
fn attack_with(name: &str, rate: f64, changes: &[(&str, i64)]) -> Box<dyn Attack> {
    let kind = kind(name).unwrap();
    let mut settings = (kind.defaults)();
    for (key, number) in changes {
        if let Some(value) = settings.get_mut(*key) {
            *value = (*number).into();
        }
    }
    kind.at_rate(&settings, rate).unwrap()
}

fn injected(rate: f64, keep: f64, dataset: &Dataset) -> Attacked {
    InjectedConfig { rate, keep }.perturb(&AttackContext::new(dataset, &dataset.splits()[0]), 0).unwrap()
}

fn edges(graph: &Graph) -> BTreeSet<(u32, u32)> {
    graph.edges().collect()
}

fn added(clean: &Graph, attacked: &Graph) -> Vec<(u32, u32)> {
    edges(attacked).difference(&edges(clean)).copied().collect()
}

fn mean_at(dataset: &Dataset, graph: &Graph, nodes: &[u32]) -> f64 {
    let all = node_heterophily(graph, dataset.labels());
    let defined: Vec<f64> = nodes.iter().filter_map(|&n| all[n as usize]).map(f64::from).collect();
    defined.iter().sum::<f64>() / defined.len() as f64
}

#[test]
fn attacked_graphs_are_simple_and_the_record_is_true() {
    let dataset = dataset();
    let split = &dataset.splits()[1];
    let victim = victim(&dataset, split);
    let context = AttackContext { victim: Some(victim.as_ref()), ..AttackContext::new(&dataset, split) };
    for kind in changing() {
        for rate in [0.0, 0.05, 1.0] {
            let what = format!("{} at {rate}", kind.name);
            let attack = attack(kind, rate);
            let attacked = attack.perturb(&context, 7).unwrap();
            let (graph, record) = (attacked.dataset.graph(), &attacked.record);
            assert_eq!((attack.rate(), graph.num_nodes(), graph.is_directed()), (rate, 300, false), "{what}");
            for node in 0..300u32 {
                let neighbours = graph.neighbours(node as usize);
                assert!(neighbours.is_sorted_by(|a, b| a < b), "{what}: double edges at {node}");
                assert!(
                    neighbours.iter().all(|&n| n != node && graph.has_edge(n, node)),
                    "{what}: at {node}"
                );
            }
            let (before, after) = (edges(dataset.graph()), edges(graph));
            let changes = (after.difference(&before).count(), before.difference(&after).count());
            assert_eq!((record.edges_added, record.edges_removed), changes, "{what}");
            assert!(changes.0 + changes.1 <= record.budget, "{what}: {changes:?} of {}", record.budget);
            assert_eq!(record.budget, attack.budget(&dataset, split), "{what}");
            let rows = (0..300).filter(|&n| {
                dataset.features().row_nonzeros(n) != attacked.dataset.features().row_nonzeros(n)
            });
            assert_eq!(record.feature_rows_changed, rows.count(), "{what}");
            assert!(attacked.split.test.iter().all(|node| split.test.contains(node)), "{what}");
            assert_eq!(record.test_nodes, attacked.split.test.len(), "{what}");
            let unchanged = changes == (0, 0) && record.feature_rows_changed == 0 && attacked.split == *split;
            assert_eq!(unchanged, rate == 0.0, "{what}: {changes:?}");
            let true_mean = |graph, split: &Split| Some(mean_at(&dataset, graph, &split.test));
            assert_eq!(record.heterophily_before, true_mean(dataset.graph(), split), "{what}");
            assert_eq!(record.heterophily_after, true_mean(graph, &attacked.split), "{what}");
            assert!(record.seconds >= 0.0, "{what}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_graph_and_the_data_stays_as_it_was() {
    let dataset = dataset();
    let split = &dataset.splits()[0];
    let victim = victim(&dataset, split);
    let context = AttackContext { victim: Some(victim.as_ref()), ..AttackContext::new(&dataset, split) };
    for kind in changing() {
        let attack = attack(kind, 0.5);
        let changed = |attacked: Attacked| {
            let features = (0..300).map(|n| attacked.dataset.features().row_nonzeros(n)).collect::<Vec<_>>();
            (attacked.dataset.graph().clone(), features, attacked.split)
        };
        let result = |seed| changed(attack.perturb(&context, seed).unwrap());
        assert!(result(3) == result(3), "{}", kind.name);
        assert!(result(3) != result(4), "{}", kind.name);
        assert_eq!(dataset.graph(), self::dataset().graph(), "{}: the input has changed", kind.name);
    }
}

#[test]
fn the_direction_of_edges_is_kept() {
    let undirected = dataset();
    let arrows: Vec<(u32, u32)> =
        undirected.graph().edges().map(|(a, b)| if (a + b) % 3 == 0 { (b, a) } else { (a, b) }).collect();
    let directed = undirected.clone().with_graph(Graph::build(300, &arrows, None, true).unwrap().0).unwrap();
    let split = &undirected.splits()[0];
    let victim = victim(&directed, split);
    for kind in changing() {
        let attack = attack(kind, 0.3);
        let perturb = |dataset| {
            let context =
                AttackContext { victim: Some(victim.as_ref()), ..AttackContext::new(dataset, split) };
            attack.perturb(&context, 4).unwrap()
        };
        let (found, plain) = (perturb(&directed), perturb(&undirected));
        let graph = found.dataset.graph();
        assert!(graph.is_directed(), "{}", kind.name);
        let kept = arrows.iter().filter(|(a, b)| graph.has_edge(*a, *b)).count();
        assert_eq!(kept, arrows.len() - found.removed.len(), "{}", kind.name);
        // Adaptive attacks ask a model, which sees directions.
        if !attack.looks_at_victim() {
            assert_eq!((&found.added, &found.removed), (&plain.added, &plain.removed), "{}", kind.name);
            assert_eq!(graph.to_undirected(), *plain.dataset.graph(), "{}", kind.name);
        }
    }
}

#[test]
fn what_cannot_be_attacked_is_refused() {
    let dataset = dataset();
    let split = &dataset.splits()[0];
    let parts = || dataset.clone().with_splits(vec![]).unwrap().into_parts();
    let unlabelled = Labels::from_numbers(&[-1; 300]).unwrap();
    let unlabelled = Dataset::new(DatasetParts { labels: unlabelled, ..parts() }).unwrap();
    let bare = Dataset::new(DatasetParts { features: Features::none(300), ..parts() }).unwrap();
    let elsewhere = Split { test: vec![5, 300], ..split.clone() };
    for kind in kinds() {
        for rate in [-0.5, f64::NAN, f64::INFINITY, 1e9] {
            let error = kind.at_rate(&(kind.defaults)(), rate).err().expect("out of range").to_string();
            assert!(error.starts_with("setting `rate`") && error.contains("hint: choose"), "{error}");
        }
        let attack = attack(kind, 1.0);
        let refused =
            |dataset, split| attack.perturb(&AttackContext::new(dataset, split), 0).unwrap_err().to_string();
        assert!(refused(&unlabelled, split).contains("no node has a label"), "{}", kind.name);
        assert!(refused(&dataset, &elsewhere).contains("test node 300 out of range"), "{}", kind.name);
        let looks_at_edges_alone =
            ["injected", "ood", "random", "dice", "adaptive", "evolve"].contains(&kind.name);
        match attack.perturb(&AttackContext::new(&bare, split), 0) {
            Err(error) if kind.name == "worst" => {
                assert!(error.to_string().contains("no single graph can hold that"), "{error}");
            }
            Ok(_) => assert!(looks_at_edges_alone, "{}", kind.name),
            Err(error) => assert!(error.to_string().contains("has no features"), "{}: {error}", kind.name),
        }
    }
    let error = InjectedConfig { rate: -1.0, keep: 0.9 }
        .perturb(&AttackContext::new(&dataset, split), 0)
        .unwrap_err();
    assert!(error.to_string().contains("rate"), "a struct is checked too: {error}");
    let error =
        InjectedConfig { rate: 1.0, keep: 1.5 }.perturb(&AttackContext::new(&dataset, split), 0).unwrap_err();
    assert!(error.to_string().contains("keep"), "{error}");
}

#[test]
fn attacks_at_chosen_nodes_score_those_alone() {
    let dataset = dataset();
    let split = &dataset.splits()[0];
    let context = AttackContext::new(&dataset, split);
    for name in ["fga", "nettack"] {
        let kind = kind(name).unwrap();
        let mut settings = (kind.defaults)();
        let build = |settings: &toml::Table| (kind.build)(settings).unwrap();
        let targets = [split.test[3], split.test[8]];
        settings
            .insert("targets".into(), targets.map(|node| toml::Value::from(i64::from(node))).to_vec().into());
        let attacked = build(&settings).perturb(&context, 0).unwrap();
        assert_eq!(attacked.split.test, targets, "{name}");
        let at_target = |&(a, b): &(u32, u32)| targets.contains(&a) || targets.contains(&b);
        assert!(attacked.added.iter().chain(&attacked.removed).all(at_target), "{name}");
        assert!(attacked.record.heterophily_after > attacked.record.heterophily_before, "{name}");
        for (wrong, said) in [(300, "there is no node 300"), (split.train[0], "not a test node")] {
            settings.insert("targets".into(), vec![toml::Value::from(i64::from(wrong))].into());
            let error = build(&settings).perturb(&context, 0).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}

#[test]
fn gradients_hurt_a_convolution_more_than_chance() {
    let dataset = dataset();
    let loss = |name: &str| {
        let mut settings = toml::Table::new();
        for (key, value) in [("steps", 20), ("last_steps", 5)] {
            if (kind(name).unwrap().defaults)().contains_key(key) {
                settings.insert(key.into(), value.into());
            }
        }
        let records = score(&dataset, &["gcn"], axis(name, &[0.1], settings), 2);
        mean_accuracy(&records, "gcn", None) - mean_accuracy(&records, "gcn", Some(0.1))
    };
    let [random, dice, prbcd, pgd] = ["random", "dice", "prbcd", "pgd"].map(loss);
    assert!(prbcd > random + 5.0 && prbcd > dice, "{random} {dice} {prbcd}");
    assert!(pgd > random + 5.0 && pgd > dice, "{random} {dice} {pgd}");
}

#[test]
fn an_unknown_attack_is_answered_with_the_nearest() {
    assert_eq!(kind("injected").unwrap().name, "injected");
    let error = kind("injcted").err().unwrap().to_string();
    assert!(error.contains("there is no attack `injcted`") && error.contains("did you mean `injected`?"));
}

#[test]
fn injected_edges_join_other_classes_to_test_nodes() {
    let dataset = dataset();
    let (test, labels) = (&dataset.splits()[0].test, dataset.labels());
    for rate in [0.3, 1.0, 8.0] {
        let attacked = injected(rate, 0.9, &dataset);
        assert_eq!(attacked.record.edges_removed, 0);
        for (a, b) in added(dataset.graph(), attacked.dataset.graph()) {
            assert!(test.contains(&a) || test.contains(&b), "{a}, {b}");
            assert_ne!(labels.get(a as usize), labels.get(b as usize), "{a}, {b}");
        }
        assert!(attacked.record.heterophily_after > attacked.record.heterophily_before);
    }
    assert_eq!(injected(0.0, 0.9, &dataset).dataset.graph(), dataset.graph());
}

#[test]
fn injected_edges_are_as_many_as_the_rate_says() {
    // So sparse that two test nodes rarely draw each other.
    let config = SynthConfig { nodes: 4000, mean_degree: 4.0, ..SynthConfig::default() };
    let dataset = config.generate(1).unwrap();
    let split = &dataset.splits()[0];
    for rate in [0.4, 1.0, 2.5] {
        let draws = |&node: &u32| (rate * dataset.graph().degree(node as usize).max(1) as f64).ceil();
        let budget = split.test.iter().map(draws).sum::<f64>();
        let record = injected(rate, 0.9, &dataset).record;
        assert_eq!(record.budget, budget as usize);
        let share = record.edges_added as f64 / (0.9 * budget);
        assert!((0.96..1.04).contains(&share), "{share} of the expected number at {rate}");
    }
    // Everything that is drawn is kept: a lone test node gets exactly what it draws.
    let lone = Split { test: vec![split.test[0]], ..split.clone() };
    let record = InjectedConfig { rate: 3.0, keep: 1.0 }
        .perturb(&AttackContext::new(&dataset, &lone), 0)
        .unwrap()
        .record;
    assert_eq!(
        (record.edges_added, record.budget),
        (record.budget, 3 * dataset.graph().degree(lone.test[0] as usize))
    );
}

#[test]
fn a_node_is_attacked_alike_whatever_the_others_are() {
    let dataset = dataset();
    let split = &dataset.splits()[0];
    let attack = InjectedConfig::default();
    let backwards = Split { test: split.test.iter().rev().copied().collect(), ..split.clone() };
    let graph = |split: &Split| {
        attack.perturb(&AttackContext::new(&dataset, split), 5).unwrap().dataset.graph().clone()
    };
    assert_eq!(graph(split), graph(&backwards));
    let lone = Split { test: vec![split.test[3]], ..split.clone() };
    let all = edges(&graph(split));
    let of_one = added(dataset.graph(), &graph(&lone));
    assert!(!of_one.is_empty() && of_one.iter().all(|edge| all.contains(edge)));
}

#[test]
fn nodes_without_a_label_are_left_alone_and_small_graphs_run_out_of_candidates() {
    let (graph, repairs) = Graph::from_edges(7, &[(0, 1), (0, 3)]).unwrap();
    let parts = DatasetParts {
        name: "small".into(),
        graph,
        repairs,
        features: lhs::graph::Features::none(7),
        labels: Labels::from_numbers(&[0, 0, 0, 1, 1, -1, 1]).unwrap(),
        node_ids: None,
        splits: vec![],
        details: Default::default(),
    };
    let dataset = Dataset::new(parts).unwrap();
    // Node 0 can get the neighbours 4 and 6; node 5 has no label.
    let split = Split { train: vec![1], val: vec![2], test: vec![0, 5] };
    let attacked =
        InjectedConfig { rate: 50.0, keep: 1.0 }.perturb(&AttackContext::new(&dataset, &split), 0).unwrap();
    assert_eq!(added(dataset.graph(), attacked.dataset.graph()), [(0, 4), (0, 6)]);
    assert_eq!((attacked.record.budget, attacked.record.heterophily_after), (100, Some(0.75)));
}

/// An attack after training, three times on each split.
fn axis(name: &str, rates: &[f64], settings: toml::Table) -> AttackAxis {
    AttackAxis {
        name: name.into(),
        rates: rates.to_vec(),
        poisoning: false,
        transductive: true,
        repeats: 3,
        settings,
    }
}

fn accuracy(record: &CellRecord) -> f64 {
    record.result.as_ref().unwrap().scores.test_accuracy.unwrap()
}

/// Mean accuracy of a model in percent, clean or at a rate.
fn mean_accuracy(records: &[CellRecord], model: &str, rate: Option<f64>) -> f64 {
    let wanted = |record: &&CellRecord| {
        record.id.model == model && record.id.attack.as_ref().map(|attack| attack.rate) == rate
    };
    statistics::mean(&records.iter().filter(wanted).map(accuracy).collect::<Vec<_>>())
}

/// Cells of some models on two splits, clean and attacked.
fn score(dataset: &Dataset, models: &[&str], axis: AttackAxis, threads: usize) -> Vec<CellRecord> {
    let records = score_all(dataset, models, vec![axis], threads);
    assert!(records.iter().all(|record| record.error.is_none()), "{records:?}");
    records
}

/// The same under several attacks; some cells may fail.
fn score_all(dataset: &Dataset, models: &[&str], axes: Vec<AttackAxis>, threads: usize) -> Vec<CellRecord> {
    let suite = Suite {
        datasets: vec!["made-up".into()],
        models: models.iter().map(|model| model.to_string()).collect(),
        splits: Some(SplitSpec::Range(0, 1)),
        attack_seed: Some(9),
        found_settings: false,
        attacks: axes,
        ..Suite::default()
    };
    let plan = Plan::on(&suite, vec![Data::new(dataset.clone()).unwrap()], &Registry::default()).unwrap();
    Runner::new(&plan).threads(threads).on_error(OnError::Record).run().unwrap().records
}

/// An attack that asks its victim, once on each split.
fn asking(name: &str, settings: &str) -> AttackAxis {
    AttackAxis { repeats: 1, ..axis(name, &[1.0], settings.parse().unwrap()) }
}

#[test]
fn the_worst_of_several_attacks_is_at_most_each_of_them() {
    let dataset = dataset();
    let worst = asking("worst", "attacks = [\"injected\", { name = \"adaptive\", queries = 3 }]");
    let axes = vec![asking("injected", ""), asking("adaptive", "queries = 3"), worst];
    let records = score_all(&dataset, &["gcn"], axes, 2);
    let of = |split: usize, name: &str| {
        let named = |record: &&CellRecord| {
            record.id.split == split && record.id.attack.as_ref().is_some_and(|attack| attack.name == name)
        };
        records.iter().find(named).unwrap()
    };
    for split in [0, 1] {
        let [injected, adaptive, worst] = ["injected", "adaptive", "worst"].map(|name| of(split, name));
        assert!(accuracy(worst) <= accuracy(injected).min(accuracy(adaptive)), "split {split}");
        let record = |cell: &CellRecord| cell.result.as_ref().unwrap().attack.clone().unwrap();
        assert_eq!(record(worst).edges_added, record(injected).edges_added + record(adaptive).edges_added);
    }
}

#[test]
fn attackers_who_go_on_from_draws_are_at_least_as_strong() {
    let dataset = dataset();
    let axes = [
        asking("adaptive", "queries = 16"),
        asking("evolve", "population = 4\ngenerations = 4"),
        asking("evolve", "population = 4\ngenerations = 4\nscope = \"global\""),
    ];
    let mean = |axis: &AttackAxis| {
        let records = score(&dataset, &["gcn"], axis.clone(), 2);
        mean_accuracy(&records, "gcn", Some(1.0))
    };
    let [query, evolve, global] = [&axes[0], &axes[1], &axes[2]].map(mean);
    assert!(evolve <= query, "{evolve} against {query}");
    // Whole graphs are coarse; they are better than nothing.
    let injected = mean(&asking("injected", ""));
    assert!(global < 100.0 && evolve < injected, "{global} {evolve} {injected}");
}

#[test]
fn who_memorises_is_found_out_where_test_nodes_are_new() {
    let dataset = dataset();
    let transductive = asking("injected", "");
    let inductive = AttackAxis { transductive: false, ..transductive.clone() };
    let models = ["gcn", "memoriser", "linkx"];
    let records = score_all(&dataset, &models, vec![transductive, inductive], 2);
    let of = |model: &str, inductive: bool, attacked: bool| {
        let named = |record: &&CellRecord| {
            let id = &record.id;
            id.model == model && id.inductive == inductive && id.attack.is_some() == attacked
        };
        records.iter().filter(named).collect::<Vec<_>>()
    };
    assert_eq!(records.len(), 3 * 2 * 4);
    for (seen, new) in of("memoriser", false, true).into_iter().zip(of("memoriser", true, true)) {
        let clean = of("memoriser", false, false).into_iter().find(|cell| cell.id.split == seen.id.split);
        assert_eq!(accuracy(seen), accuracy(clean.unwrap()), "nothing reaches a memory");
        assert!(accuracy(new) < accuracy(seen) - 20.0, "{} {}", accuracy(new), accuracy(seen));
    }
    let mean =
        |cells: Vec<&CellRecord>| statistics::mean(&cells.into_iter().map(accuracy).collect::<Vec<_>>());
    assert!(
        mean(of("gcn", true, false)) > 60.0 && mean(of("gcn", true, true)) < mean(of("gcn", true, false))
    );
    for record in of("linkx", true, true).into_iter().chain(of("linkx", true, false)) {
        let error = record.error.as_ref().unwrap();
        assert!(error.contains("linkx predicts only on the nodes it learned from"), "{error}");
        assert!(error.contains("ask for the transductive protocol"), "{error}");
    }
    assert!(of("linkx", false, true).iter().all(|record| record.error.is_none()));
}

#[test]
fn who_poisons_asks_whoever_learns_on_what_is_left() {
    let dataset = dataset();
    for settings in ["retrainings = 2", "retrainings = 2\nmode = \"gradient\""] {
        let axis = AttackAxis { poisoning: true, ..asking("adaptive", settings) };
        let records = score(&dataset, &["gcn"], axis, 2);
        let clean = mean_accuracy(&records, "gcn", None);
        assert!(mean_accuracy(&records, "gcn", Some(1.0)) < clean, "{settings}");
    }
    let axis = AttackAxis { poisoning: true, ..asking("worst", "") };
    let suite = Suite {
        datasets: vec!["x".into()],
        models: vec!["gcn".into()],
        attacks: vec![axis],
        ..Suite::default()
    };
    let error =
        Plan::on(&suite, vec![Data::new(dataset).unwrap()], &Registry::default()).err().unwrap().to_string();
    assert!(error.contains("let it come after training"), "{error}");
}

#[test]
fn evasion_hurts_a_convolution_and_not_a_perceptron() {
    let dataset = dataset();
    let evade = |threads| {
        score(&dataset, &["gcn", "mlp"], axis("injected", &[0.0, 2.0], toml::Table::new()), threads)
    };
    let records = evade(2);
    let loss = |model: &str, rate: f64| {
        mean_accuracy(&records, model, None) - mean_accuracy(&records, model, Some(rate))
    };
    assert!(loss("gcn", 0.0).abs() < 1e-9, "rate 0 changes nothing");
    assert!(loss("gcn", 2.0) > 5.0, "{}", loss("gcn", 2.0));
    assert!(loss("mlp", 2.0).abs() < 1e-9, "it sees no edges");

    let at_two = |record: &&CellRecord| {
        record.id.model == "gcn" && record.id.attack.as_ref().is_some_and(|attack| attack.rate == 2.0)
    };
    let cells: Vec<&CellRecord> = records.iter().filter(at_two).collect();
    let order: Vec<(usize, u64)> =
        cells.iter().map(|cell| (cell.id.split, cell.id.attack.as_ref().unwrap().repeat)).collect();
    assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    let after =
        |place: usize| cells[place].result.as_ref().unwrap().attack.as_ref().unwrap().heterophily_after;
    assert_ne!(after(0), after(1), "repeats differ");
    // Each cell can be attacked again on its own.
    let again = InjectedConfig { rate: 2.0, ..InjectedConfig::default() }
        .perturb(&AttackContext::new(&dataset, &dataset.splits()[1]), attack_seed(9 + 2, 1))
        .unwrap();
    assert_eq!(again.record.heterophily_after, after(5));

    let accuracies = |records: &[CellRecord]| records.iter().map(accuracy).collect::<Vec<_>>();
    assert_eq!(accuracies(&records), accuracies(&evade(1)));
}
