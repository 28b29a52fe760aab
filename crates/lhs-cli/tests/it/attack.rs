//! Attacking data and trained models through the binary, on a small made-up graph.

use std::fs;

use lhs::graph::{DatasetParts, Graph, Labels};

use crate::workbench::Workbench;

/// A folder with a made-up graph as `toy.npz`.
fn bench() -> Workbench {
    Workbench::after(&["data synth --out toy.npz --nodes 200 --homophily 0.8 --num-splits 2"])
}

const FAST: &str = "--model gcn --set training.epochs=40 --set hidden=16 --out run";

#[test]
fn an_attacked_dataset_is_written_and_told_of() {
    let bench = bench();
    let document = bench.json("attack injected toy.npz --rate 2 --split 1 --seed 5 --out bad.npz");
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    let promised = "path dataset attack settings split seed edges_before edges_after edges_added edges_removed \
                    feature_rows_changed test_nodes budget heterophily_before heterophily_after seconds added removed";
    assert_eq!(keys, promised.split(' ').collect::<Vec<_>>());
    assert_eq!((&document["dataset"], &document["settings"]["rate"]), (&"toy".into(), &2.0.into()));

    let (clean, bad) = (bench.load("toy.npz"), bench.load("bad.npz"));
    assert_eq!((bad.splits(), bad.labels()), (clean.splits(), clean.labels()));
    assert_eq!(bad.features().values(), clean.features().values());
    assert_eq!(document["edges_before"], clean.graph().num_edges());
    assert_eq!(document["edges_after"], bad.graph().num_edges());
    assert_eq!(document["edges_added"], bad.graph().num_edges() - clean.graph().num_edges());
    assert_eq!(
        document["added"].as_array().map(Vec::len),
        document["edges_added"].as_u64().map(|n| n as usize)
    );
    assert!(document["heterophily_after"].as_f64() > document["heterophily_before"].as_f64());

    let text = bench.text("attack injected toy.npz --set keep=1 --split 1 --out kept.npz");
    for part in
        ["injected on toy, split 1, rate 1, seed 0", " added, 0 removed, ", "mean H  0.", "wrote kept.npz"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    bench.text("attack injected toy.npz --rate 2 --split 1 --seed 5 --out again.npz --threads 1");
    assert_eq!(fs::read(bench.path("bad.npz")).unwrap(), fs::read(bench.path("again.npz")).unwrap());
    assert!(bench.text("attack --help").contains("rate = 1.0, keep = 0.9"));
}

#[test]
fn wrong_attacks_write_nothing() {
    let bench = bench();
    let attack = |rest: &str| bench.fails(&format!("attack injected toy.npz --out bad.npz {rest}"));
    for rate in ["-1", "NaN", "inf", "1e9"] {
        let said = attack(&format!("--rate {rate}"));
        assert!(said.contains("setting `rate`") && said.contains("from 0 to 100"), "{said}");
    }
    assert!(attack("--rate much").contains("invalid"));
    assert!(attack("--set keep=1.5").contains("setting `keep`"));
    assert!(attack("--set kep=0.5").contains("did you mean `keep`?"));
    assert!(attack("--split 2").contains("toy.npz: there is no split 2\n  hint: choose one of 0 to 1"));
    assert!(bench.fails("attack injeted toy.npz --out bad.npz").contains("did you mean `injected`?"));
    assert!(bench.fails("attack injected none.npz --out bad.npz").contains("no such dataset"));
    let taken = fs::read(bench.path("toy.npz")).unwrap();
    assert!(
        bench.fails("attack injected toy.npz --out toy.npz").contains("there is something there already")
    );
    assert_eq!(fs::read(bench.path("toy.npz")).unwrap(), taken);

    let bare = || bench.load("toy.npz").with_splits(vec![]).unwrap().into_parts();
    bench.save(bare(), "bare.npz");
    assert!(bench.fails("attack injected bare.npz --out bad.npz").contains("comes without splits"));
    bench.save(DatasetParts { labels: Labels::from_numbers(&[-1; 200]).unwrap(), ..bare() }, "nameless.npz");
    let said = bench.fails("attack injected nameless.npz --out bad.npz");
    assert!(said.contains("nameless.npz: no node has a label"), "{said}");
}

#[test]
fn a_run_is_evaluated_under_attack() {
    let bench = bench();
    bench.text(&format!("train toy.npz {FAST}"));
    let document = bench.json("evaluate run --attack injected --rate 0.5,2 --repeats 2 --transductive");
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    let promised = "run dataset model attack settings seed splits repeats poisoning inductive clean_test_accuracy_mean \
                    clean_test_accuracy_std rates metric clean_test_metric_mean";
    assert_eq!(keys, promised.split(' ').collect::<Vec<_>>());
    let clean = bench.json("evaluate run");
    assert_eq!(document["clean_test_accuracy_mean"], clean["test_accuracy_mean"]);
    let rates = document["rates"].as_array().unwrap();
    assert_eq!(rates.iter().map(|at| at["rate"].as_f64().unwrap()).collect::<Vec<_>>(), [0.5, 2.0]);
    for at in rates {
        assert_eq!(at["cells"].as_array().unwrap().len(), 4);
        assert!(at["heterophily_after_mean"].as_f64() > at["heterophily_before_mean"].as_f64());
        assert!(at["test_accuracy_std"].is_f64() && at["edges_added_mean"].as_f64() > Some(0.0));
    }

    // The last cell is what `lhs attack` writes, scored by the usual evaluation.
    let written = bench.json("attack injected toy.npz --rate 2 --split 1 --seed 1 --out bad.npz");
    let cell = &rates[1]["cells"][3];
    assert_eq!((&cell["split"], &cell["repeat"]), (&1.into(), &1.into()));
    assert_eq!(written["heterophily_after"], cell["heterophily_after"]);
    assert_eq!(
        bench.json("evaluate run --data bad.npz")["per_split"][1]["test_accuracy"],
        cell["test_accuracy"]
    );

    // By default, models learn again without the test nodes.
    let inductive = bench.json("evaluate run --attack injected --rate 0.5,2 --repeats 2");
    assert_eq!((&document["inductive"], &inductive["inductive"]), (&false.into(), &true.into()));
    assert_eq!(
        inductive["rates"][1]["cells"][3]["heterophily_after"], cell["heterophily_after"],
        "one graph"
    );
    let cells = fs::read_to_string(bench.path("run/cells.jsonl")).unwrap();
    let marked = cells.lines().filter(|line| line.contains("\"inductive\":true")).count();
    assert_eq!(marked, 2 + 8, "clean and attacked cells of two splits");
    assert_eq!(
        bench.json("evaluate run")["test_accuracy_mean"],
        clean["test_accuracy_mean"],
        "the run is as it was"
    );

    let text = bench.text("evaluate run --attack injected --transductive");
    assert!(
        text.starts_with("gcn on toy under injected, transductive (the test nodes were there in training);")
            && text.contains("2 splits × 3 repeats"),
        "{text}"
    );
    assert!(text.contains("\nclean ") && text.contains("\n    1  "), "{text}");
}

#[test]
fn the_worst_of_attacks_is_scored_and_not_written() {
    let bench = bench();
    bench.text(&format!("train toy.npz {FAST} --split 0"));
    let document = bench
        .json("evaluate run --attack worst --rate 1 --repeats 1 --set attacks=[\"injected\",\"evolve\"]");
    assert!(
        document["rates"][0]["test_accuracy_mean"].as_f64() < document["clean_test_accuracy_mean"].as_f64()
    );
    let said = bench.fails("attack worst toy.npz --out bad.npz");
    assert!(
        said.contains("no single graph can hold") && said.contains("lhs evaluate RUN --attack worst"),
        "{said}"
    );
    assert!(
        bench
            .fails("evaluate run --attack worst --set attacks=[\"evolv\"]")
            .contains("did you mean `evolve`?")
    );
    assert!(bench.fails("evaluate run --attack worst --poisoning").contains("let it come after training"));
    assert!(bench.fails("evaluate run --attack adaptive --set mode=gradeint").contains("gradeint"));
    bench.text("attack adaptive toy.npz --victim run --set mode=gradient --out bad.npz");
    assert!(bench.fails("attack adaptive toy.npz --victim run --split 1 --out worse.npz").contains("split"));
}

#[test]
fn poisoned_models_learn_again() {
    let bench = bench();
    bench.text(&format!("train toy.npz {FAST}"));
    let document = bench.json("evaluate run --attack dice --rate 0.2 --repeats 1 --poisoning");
    assert_eq!(document["poisoning"], true);
    // The same by hand: attack, train on what is left, with the run's settings and seed.
    bench.text("attack dice toy.npz --rate 0.2 --split 1 --out bad.npz");
    bench.text("train bad.npz --model gcn --config run/settings.toml --split 1 --out run-bad");
    let by_hand = bench.json("evaluate run-bad");
    assert_eq!(document["rates"][0]["cells"][1]["test_accuracy"], by_hand["test_accuracy_mean"]);
    assert!(
        bench.text("evaluate run --attack dice --poisoning --repeats 1").contains("dice before training")
    );
    assert!(bench.fails("evaluate run --poisoning").contains("--attack"));
}

#[test]
fn a_sample_of_the_test_nodes_is_written_as_the_test_nodes_of_its_split() {
    let bench = bench();
    let document = bench.json("attack ood toy.npz --split 1 --out sample.npz");
    let (clean, sample) = (bench.load("toy.npz"), bench.load("sample.npz"));
    assert_eq!(clean.splits()[0], sample.splits()[0]);
    assert_eq!(document["test_nodes"], sample.splits()[1].test.len());
    assert!(sample.splits()[1].test.len() < clean.splits()[1].test.len());
    assert_eq!(clean.graph(), sample.graph());
}

#[test]
fn wrong_evaluations_under_attack_are_refused() {
    let bench = bench();
    bench.text(&format!("train toy.npz {FAST} --split 0"));
    assert!(bench.fails("evaluate run --attack injeted").contains("did you mean `injected`?"));
    assert!(bench.fails("evaluate run --attack injected --rate 1,-2").contains("setting `rate`: -2"));
    assert!(bench.fails("evaluate run --attack injected --rate -2").contains("setting `rate`: -2"));
    assert!(bench.fails("evaluate run --attack injected --repeats 0").contains("--repeats"));
    assert!(bench.fails("evaluate run --attack injected --set kep=1").contains("did you mean `keep`?"));
    assert!(bench.fails("evaluate run --attack injected --data toy.npz").contains("cannot be used with"));
    for alone in ["--rate 1", "--repeats 2", "--set keep=1"] {
        assert!(bench.fails(&format!("evaluate run {alone}")).contains("--attack"), "{alone}");
    }
    let arrows: Vec<(u32, u32)> = bench.load("toy.npz").graph().edges().collect();
    let (graph, _) = Graph::build(200, &arrows, None, true).unwrap();
    bench.save(DatasetParts { graph, ..bench.load("toy.npz").into_parts() }, "arrows.npz");
    bench.text(&format!("train arrows.npz {FAST}-arrows --split 0 --directed"));
    bench.text("evaluate run-arrows --attack injected");
    bench.text("attack injected arrows.npz --directed --out attacked-arrows.npz");
    assert!(bench.text("data inspect attacked-arrows.npz --directed").contains("directed"));
    bench.text("data synth --out toy.npz --nodes 200 --seed 8 --force");
    let said = bench.fails("evaluate run --attack injected");
    assert!(said.contains("SHA-256 differs") && said.contains("train again"), "{said}");
}

#[test]
fn a_copy_keeps_the_settings_of_its_origin_and_a_namesake_does_not_get_them() {
    let bench = Workbench::after(&[
        "data synth --out toy.npz --nodes 120 --num-splits 1",
        "data synth --out other.npz --nodes 120 --num-splits 1 --seed 1",
        "tune toy.npz --model gcn --trials 2 --set training.epochs=5",
        "attack dice toy.npz --rate 0 --out attacked.npz",
        "attack dice toy.npz --rate 0.5 --out worse.npz",
        "data convert toy.npz --to tables",
    ]);
    fs::create_dir(bench.path("other")).unwrap();
    fs::rename(bench.path("other.npz"), bench.path("other/toy.npz")).unwrap();
    let train = |data: &str, run: &str| {
        let output = bench.lhs(&format!("train {data} --model gcn --out {run}"));
        let predictions = fs::read(bench.path(run).join("split-0/predictions.csv")).unwrap();
        (String::from_utf8(output.stderr).unwrap().contains("settings from configs/toy.toml"), predictions)
    };
    let (found, own) = train("toy.npz", "own");
    assert!(found);
    for (place, copy) in ["attacked.npz", "tables"].into_iter().enumerate() {
        let (found, predictions) = train(copy, &format!("copy-{place}"));
        assert!(found && predictions == own, "{copy}: the same bits");
    }
    let (found, predictions) = train("worse.npz", "worse");
    assert!(found && predictions != own, "other edges, the settings of the origin");
    assert!(!train("other/toy.npz", "namesake").0);
}
