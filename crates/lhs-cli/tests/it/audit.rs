//! `lhs audit` through the binary, on a small made-up graph; and the rings on a real graph with hubs.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use lhs::graph::rings::Rings;
use lhs::graph::{DatasetParts, Labels, Split};
use lhs::io::{LoadOptions, load};
use serde_json::Value;

use crate::workbench::Workbench;

/// A folder with a made-up graph as `toy.npz` and an attacked version as `bad.npz`.
fn bench() -> Workbench {
    Workbench::after(&[
        "data synth --out toy.npz --nodes 150 --homophily 0.8 --num-splits 2",
        "attack injected toy.npz --rate 2 --out bad.npz",
    ])
}

/// The rows of a table, without the header.
fn rows(bench: &Workbench, file: &str) -> Vec<csv::StringRecord> {
    csv::Reader::from_path(bench.path(file)).unwrap().records().map(Result::unwrap).collect()
}

/// The sample of a version, graph, first and last ring, and part.
fn sample<'a>(document: &'a Value, of: (&str, &str, usize, usize, &str)) -> &'a Value {
    let (data, graph, first, last, part) = of;
    let is = |s: &&Value| {
        s["data"] == data
            && s["graph"] == graph
            && s["first_ring"] == first
            && s["last_ring"] == last
            && s["part"] == part
    };
    document["samples"].as_array().unwrap().iter().find(is).unwrap_or_else(|| panic!("{of:?}"))
}

#[test]
fn versions_are_held_against_the_clean_training_nodes() {
    let bench = bench();
    let document = bench.json("audit toy.npz --against bad.npz --csv tables");
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["dataset", "split", "run", "model", "bins", "samples", "accuracy", "written"]);
    // Four rings, three unions of them; three parts; two versions.
    assert_eq!(document["samples"].as_array().unwrap().len(), 7 * 3 * 2);
    let train = sample(&document, ("clean", "given", 1, 1, "train"));
    assert!(train["shift"].is_null() && train["mean"].is_f64() && train["quartiles"][2].is_f64());
    let test = sample(&document, ("bad", "given", 1, 1, "test"));
    let shift = &test["shift"];
    assert!(shift["mean_shift"].as_f64().unwrap() > 0.3, "{shift}");
    // Never less than the mean shift; here everything moves to the right, and they are equal up to rounding.
    assert!(shift["wasserstein"].as_f64().unwrap() > shift["mean_shift"].as_f64().unwrap() - 1e-12);
    assert_eq!((&shift["direction"], &shift["ks"]), (&"right".into(), &shift["ks_right"]));
    let written = bench.json("attack injected toy.npz --rate 2 --out again.npz");
    let (found, told) = (test["mean"].as_f64().unwrap(), written["heterophily_after"].as_f64().unwrap());
    assert!((found - told).abs() < 1e-6, "{found} {told}");

    let histograms = rows(&bench, "tables/histograms.csv");
    assert_eq!(histograms.len(), 7 * 3 * 2 * 10);
    let counted: u64 = histograms[..10].iter().map(|row| row[8].parse::<u64>().unwrap()).sum();
    assert_eq!(train["count"], counted);
    let shifts = rows(&bench, "tables/shifts.csv");
    assert_eq!(shifts.len(), 7 * 3 * 2);
    assert_eq!((&shifts[0][0], &shifts[0][4], &shifts[0][11]), ("clean", "train", ""));
    assert_eq!(shifts[2][12].parse::<f64>().ok(), {
        sample(&document, ("clean", "given", 1, 1, "test"))["shift"]["mean_shift"].as_f64()
    });
    assert_eq!(rows(&bench, "tables/accuracy_by_h.csv").len(), 0, "there is no model");
    assert!(bench.fails("audit toy.npz --csv tables").contains("tables/histograms.csv: this file exists"));
    bench.text("audit toy.npz --csv tables --bins 4 --force");
    assert_eq!(rows(&bench, "tables/histograms.csv").len(), 7 * 3 * 4);

    let text = bench.text("audit toy.npz --against bad.npz --hops 3 --bins 20 --split 1 --threads 1");
    for part in ["toy, split 1", "\nring 1 ", "\nring 3 ", "\nrings 1 to 3 ", "  bad ", "█", " >"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("rings 1 to 2") && !text.contains("NaN"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(text, bench.text("audit toy.npz --against bad.npz --hops 3 --bins 20 --split 1 --threads 2"));
    assert!(bench.text("audit --help").contains("Examples:"));
}

#[test]
fn a_run_adds_its_latent_graphs_and_its_accuracy() {
    let bench = bench();
    let quick =
        "--set training.epochs=5 --set structure.refiner.epochs=2 --set structure.rounds_must_pay=false";
    bench.text(&format!("train toy.npz --out run {quick}"));
    bench.text("attack ood toy.npz --split 1 --out ood.npz");
    let document =
        bench.json("audit toy.npz --run run --split 1 --against bad.npz ood.npz --hops 1 --csv tables");
    assert_eq!((&document["model"], &document["split"]), (&"lhs".into(), &1.into()));
    // The given graph and three rounds; three parts; three versions.
    assert_eq!(document["samples"].as_array().unwrap().len(), 4 * 3 * 3);
    let latent = sample(&document, ("bad", "round 2", 1, 1, "test"));
    assert!(latent["shift"]["mean_shift"].is_f64() && latent["shift_in_round"]["ks"].is_f64());
    let own = sample(&document, ("clean", "round 1", 1, 1, "train"));
    assert!(own["shift"].is_object() && own["shift_in_round"].is_null());

    // An attack that chooses among the test nodes is measured at those that it chose.
    let chosen = bench.load("ood.npz").splits()[1].test.len();
    assert_eq!(sample(&document, ("ood", "given", 1, 1, "test"))["nodes"], chosen);
    let scored = bench.json("evaluate run --data bad.npz");
    let [clean, bad, ood] = [0, 1, 2].map(|version| &document["accuracy"][version]);
    let (told, expected) = (&bad["all"]["accuracy"], &scored["per_split"][1]["test_accuracy"]);
    assert_eq!((told, &ood["all"]["nodes"]), (expected, &chosen.into()));
    let in_bins = clean["bins"].as_array().unwrap().iter().chain([&clean["undefined"]]);
    let nodes: u64 = in_bins.map(|bin| bin["nodes"].as_u64().unwrap()).sum();
    assert_eq!(clean["all"]["nodes"], nodes);
    assert_eq!(rows(&bench, "tables/accuracy_by_h.csv").len(), 3 * 11);
    let references: BTreeSet<String> =
        rows(&bench, "tables/shifts.csv").iter().map(|row| row[11].to_string()).collect();
    assert_eq!(
        references.iter().map(String::as_str).collect::<Vec<_>>(),
        ["", "given", "round 0", "round 1", "round 2"]
    );

    let text = bench.text("audit toy.npz --run run --against bad.npz");
    for part in ["toy, split 0", "\nlatent, round 2 ", "\naccuracy of lhs at the test nodes", "\n  all "] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    bench.text("train toy.npz --model mlp --split 1 --out mlp --set training.epochs=2");
    let document = bench.json("audit toy.npz --run mlp --hops 1");
    assert_eq!(document["split"], 1, "the only one of the run");
    assert_eq!(document["samples"].as_array().unwrap().len(), 3, "no structure, no latent graphs");
    assert!(document["accuracy"][0]["all"]["accuracy"].is_f64());
}

#[test]
fn wrong_audits_write_nothing() {
    let bench = bench();
    let audit = |rest: &str| bench.fails(&format!("audit toy.npz --csv tables {rest}"));
    bench.text("data synth --out small.npz --nodes 90");
    assert!(audit("--against small.npz").contains("small.npz: 90 nodes, and the clean data has 150"));
    let parts = || bench.load("bad.npz").with_splits(vec![]).unwrap().into_parts();
    let labels: Vec<i64> =
        (0..150).map(|node| i64::from(node != 7 && parts().labels.get(node) != Some(0))).collect();
    bench.save(DatasetParts { labels: Labels::from_numbers(&labels).unwrap(), ..parts() }, "other.npz");
    let said = audit("--against bad.npz other.npz");
    assert!(
        said.contains("other.npz: the class of node ") && said.contains("such as an attacked one"),
        "{said}"
    );
    assert!(audit("--against bad.npz bad.npz bad.npz").contains("bad.npz is named twice"));
    assert!(audit("--against none.npz").contains("none.npz"));
    assert!(audit("--split 2").contains("toy.npz: there is no split 2\n  hint: choose one of 0 to 1"));
    for wrong in ["--hops 0", "--hops 33", "--bins 0", "--bins 101", "--split -1"] {
        audit(wrong);
    }
    bench.save(parts(), "bare.npz");
    let said = bench.fails("audit bare.npz --csv tables");
    assert!(said.contains("bare.npz: the data comes without splits") && said.contains("--splits random"));
    assert!(bench.fails("audit toy.npz --csv toy.npz").contains("toy.npz: this is a file"));

    assert!(audit("--run nowhere").contains("nowhere: there is no such folder"));
    bench.text("train toy.npz --model mlp --split 0 --out run --set training.epochs=2");
    assert!(audit("--run run --split 1").contains("split 1 is not finished"));
    let said = bench.fails("audit bad.npz --run run --csv tables");
    assert!(said.contains("bad.npz: run was not trained on this data") && said.contains("toy.npz"), "{said}");
    let narrow = lhs::graph::Features::none(150);
    bench.save(
        DatasetParts { features: narrow, details: Default::default(), ..bench.load("bad.npz").into_parts() },
        "narrow.npz",
    );
    assert!(audit("--run run --against narrow.npz").contains("narrow: "));
}

#[test]
fn nodes_without_neighbours_give_null() {
    let bench = bench();
    let parts = bench.load("toy.npz").into_parts();
    let lone = |part: &[u32], node: u32| part.contains(&node);
    let val = parts.splits[0].val.clone();
    let edges: Vec<(u32, u32)> =
        parts.graph.edges().filter(|&(a, b)| !lone(&val, a) && !lone(&val, b)).collect();
    let graph = lhs::graph::Graph::from_edges(150, &edges).unwrap().0;
    let splits: Vec<Split> = parts.splits[..1].to_vec();
    bench.save(DatasetParts { graph, splits, ..parts }, "lone.npz");
    let document = bench.json("audit toy.npz --against lone.npz --hops 2");
    let alone = sample(&document, ("lone", "given", 1, 2, "val"));
    assert_eq!((&alone["nodes"], &alone["count"]), (&val.len().into(), &0.into()));
    assert!(alone["mean"].is_null() && alone["quartiles"].is_null() && alone["shift"].is_null());
    let text = bench.text("audit lone.npz --hops 2");
    assert!(text.contains("val        0      -  -"), "{text}");
}

#[test]
fn rings_around_real_hubs_are_exact() {
    let Some(folder) = std::env::var_os("LHS_DATA") else {
        println!("LHS_DATA is not set: skipped");
        return;
    };
    for name in ["squirrel", "pubmed"] {
        let dataset =
            load(PathBuf::from(&folder).join(format!("{name}.npz")), &LoadOptions::default()).unwrap();
        let (graph, labels) = (dataset.graph(), dataset.labels());
        let hub = (0..graph.num_nodes()).max_by_key(|&node| graph.degree(node)).unwrap() as u32;
        let sources: Vec<u32> = (0..graph.num_nodes() as u32).step_by(301).chain([hub]).collect();
        let rings = Rings::count(graph, labels, &sources, 4);
        for (place, &source) in sources.iter().enumerate() {
            let mut distance = vec![usize::MAX; graph.num_nodes()];
            distance[source as usize] = 0;
            let mut queue = VecDeque::from([source as usize]);
            while let Some(node) = queue.pop_front() {
                for &next in graph.neighbours(node) {
                    if distance[next as usize] == usize::MAX {
                        distance[next as usize] = distance[node] + 1;
                        queue.push_back(next as usize);
                    }
                }
            }
            for ring in 1..=4 {
                let around = (0..graph.num_nodes()).filter(|&node| distance[node] == ring);
                let same =
                    around.clone().filter(|&node| labels.get(node) == labels.get(source as usize)).count();
                let found = rings.within(place, ring, ring).unwrap();
                let all = around.count();
                assert_eq!((found.all as usize, found.other as usize), (all, all - same), "{name} {source}");
            }
        }
    }
}
