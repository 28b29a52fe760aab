//! `lhs bench` through the binary, on a small made-up graph: it survives being killed, and says what is wrong.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use lhs::linalg::random::derive;
use serde_json::Value;

use crate::workbench::Workbench;

const SUITE: &str = r#"
title = "A small grid"
datasets = ["toy.npz"]
models = ["mlp", "gcn"]
seeds = [0, 1]

[settings.mlp.training]
epochs = 40

[settings.gcn.training]
epochs = 40

[[attacks]]
name = "injected"
rates = [0.5, 1.0]
transductive = true

[[attacks]]
name = "metattack"
rates = [0.05]
poisoning = true
settings = { epochs = 20 }

[[variants]]
name = "wide"
model = "gcn"
set = { hidden = 128 }
"#;

/// 3 contestants x 4 splits x 2 seeds x 4 states of the data.
const CELLS: usize = 96;

fn bench() -> Workbench {
    let bench = Workbench::after(&["data synth --out toy.npz --nodes 200 --homophily 0.8 --num-splits 4"]);
    fs::write(bench.path("grid.toml"), SUITE).unwrap();
    bench
}

/// The whole lines of the cells file of a folder.
fn lines(bench: &Workbench, folder: &str) -> Vec<String> {
    let text = fs::read_to_string(bench.path(folder).join("cells.jsonl")).unwrap_or_default();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_string).collect()
}

/// The table, without times.
fn table(document: &Value) -> Vec<String> {
    let mut rows = document["rows"].as_array().unwrap().clone();
    rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("train_seconds_mean")));
    rows.iter().map(Value::to_string).collect()
}

#[test]
fn twenty_kills_lose_nothing_that_was_finished() {
    let bench = bench();
    let undisturbed = bench.json("bench grid.toml --out whole");
    assert_eq!(
        (undisturbed["cells"].as_u64(), undisturbed["run"].as_u64()),
        (Some(CELLS as u64), Some(CELLS as u64))
    );
    let mut kept: Vec<String> = Vec::new();
    let mut unfinished = 0;
    for kill in 0..20 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lhs"))
            .current_dir(bench.path(""))
            .args(["bench", "grid.toml", "--out", "killed", "--quiet"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(derive(7, &[kill]) % 200));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = lines(&bench, "killed");
        assert!(now.starts_with(&kept), "kill {kill}: a finished cell is gone");
        unfinished += usize::from(now.len() < CELLS);
        kept = now;
    }
    assert!(unfinished > 0, "the kills came too late to try anything");
    let resumed = bench.json("bench grid.toml --out killed");
    let keys: Vec<Value> = lines(&bench, "killed")
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["key"].clone())
        .collect();
    let distinct: BTreeSet<String> = keys.iter().map(Value::to_string).collect();
    assert_eq!((keys.len(), distinct.len()), (CELLS, CELLS), "every cell once");
    assert_eq!(resumed["known"], kept.len());
    assert_eq!(table(&resumed), table(&undisturbed));
}

#[test]
fn a_torn_line_is_cut_off_and_run_again() {
    let bench = bench();
    bench.text("bench grid.toml --out runs --only split=0,attack=none");
    let file = bench.path("runs").join("cells.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 10]).unwrap();
    let output = bench.lhs("bench grid.toml --out runs --only split=0,attack=none --json");
    assert!(String::from_utf8_lossy(&output.stderr).contains("was torn"));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((document["known"].as_u64(), document["run"].as_u64()), (Some(5), Some(1)));
    assert_eq!(lines(&bench, "runs").len(), 6);
}

#[test]
fn a_failing_cell_is_recorded_and_tried_again() {
    let bench = bench();
    // A stand-in needs features, and one of the graphs has none.
    let suite = SUITE.replace("rates = [0.5, 1.0]", "rates = [1.0]");
    let suite = suite.replace("\"injected\"", "\"pgd\"\nsettings = { stand_in = true }");
    let suite = suite.replace("datasets = [\"toy.npz\"]", "datasets = [\"toy.npz\", \"bare.npz\"]");
    fs::write(bench.path("grid.toml"), suite).unwrap();
    let mut parts = bench.load("toy.npz").into_parts();
    (parts.features, parts.details) = (lhs::graph::Features::none(200), Default::default());
    parts.name = "bare".into();
    bench.save(parts, "bare.npz");
    let args = "bench grid.toml --out runs --only model=gcn,split=0,seed=0,variant=none,attack=none,pgd";
    for _ in 0..2 {
        let output = bench.lhs(&format!("{args} --json"));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["failed"], 1, "{document}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("bare has no features"));
    }
    let failed = lines(&bench, "runs").iter().filter(|line| line.contains("\"error\"")).count();
    assert_eq!((failed, lines(&bench, "runs").len()), (2, 5), "tried twice, the others once");
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let bench = bench();
    let wrong = SUITE
        .replace("\"mlp\", \"gcn\"", "\"mlp\", \"gnc\"")
        .replace("toy.npz", "tyo.npz")
        .replace("\"injected\"", "\"injektion\"");
    fs::write(bench.path("wrong.toml"), wrong).unwrap();
    let said = bench.fails("bench wrong.toml");
    for problem in ["gnc", "tyo.npz", "injektion", "variant `wide`", "nothing was run"] {
        assert!(said.contains(problem), "{problem}: {said}");
    }
    assert!(bench.fails("bench grid.toml --only model=lhs").contains("no cell is left"));
    assert!(bench.fails("bench grid.toml --only modle=gcn").contains("did you mean `model`"));
    assert!(bench.fails("bench nothing").contains("smoke"));
    fs::write(bench.path("empty.toml"), SUITE.replace("seeds = [0, 1]", "seeds = []")).unwrap();
    assert!(bench.fails("bench empty.toml").contains("`seeds` is empty"));
    fs::write(bench.path("twice.toml"), SUITE.replace("[0, 1]", "[1, 1]")).unwrap();
    assert!(bench.fails("bench twice.toml").contains("`seeds` names 1 twice"));
    fs::write(bench.path("range.toml"), SUITE.replace("hidden = 128", "hiden = 128")).unwrap();
    assert!(bench.fails("bench range.toml").contains("did you mean `hidden`?"));
}

#[test]
fn a_folder_of_another_suite_or_version_or_process_is_left_alone() {
    let bench = bench();
    bench.text("bench grid.toml --out runs --only split=0,seed=0,attack=none,model=mlp");
    fs::copy(bench.path("grid.toml"), bench.path("other.toml")).unwrap();
    assert!(bench.fails("bench other.toml --out runs").contains("suite grid there, other now"));
    let manifest = bench.path("runs").join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    for (from, to, said) in [
        (env!("CARGO_PKG_VERSION"), "0.0.1", "lhs version 0.0.1 there"),
        ("\"format\": 2", "\"format\": 99", "results of format 99"),
    ] {
        fs::write(&manifest, text.replace(from, to)).unwrap();
        assert!(bench.fails("bench grid.toml --out runs").contains(said));
    }
    fs::write(&manifest, text).unwrap();
    let held = fs::File::open(bench.path("runs").join("lock")).unwrap();
    held.lock().unwrap();
    assert!(bench.fails("bench grid.toml --out runs").contains("another process is at work"));
}

#[test]
fn four_shares_make_the_table_of_one() {
    let bench = bench();
    let whole = bench.json("bench grid.toml --out whole");
    let folders: Vec<String> = (1..=4).map(|share| format!("share-{share}")).collect();
    let children: Vec<_> = (1..=4)
        .map(|share| {
            let args = format!("bench grid.toml --shard {share}/4 --out share-{share} --quiet --threads 1");
            let mut command = Command::new(env!("CARGO_BIN_EXE_lhs"));
            command.current_dir(bench.path("")).args(args.split(' ')).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(
        folders.iter().map(|folder| lines(&bench, folder).len()).sum::<usize>(),
        CELLS,
        "each cell once"
    );
    let merged = bench.json(&format!("bench merge {} --out merged", folders.join(" ")));
    assert_eq!(table(&merged), table(&whole));
    let again = bench.json("bench grid.toml --out merged");
    assert_eq!((again["known"].as_u64(), table(&again)), (Some(CELLS as u64), table(&whole)));
    assert!(bench.fails("bench merge share-1 share-2 --out merged").contains("already"));
    fs::write(bench.path("other.toml"), SUITE.replace("[0, 1]", "[0]")).unwrap();
    bench.text("bench other.toml --out other --only split=0,attack=none,model=mlp");
    assert!(bench.fails("bench merge share-1 other --out mixed").contains("not a part of"));
    assert!(!bench.path("mixed").exists());
    assert!(bench.fails("bench grid.toml --shard 5/4").contains("2/8"));
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let bench = bench();
    let document = bench.json("bench grid.toml --dry-run");
    assert_eq!(document["cells"], CELLS);
    assert_eq!(document["models_to_train"], 48, "one for clean data and evasion, one for each poisoning");
    assert!(!bench.path("runs").exists());
    let listed = bench.json("bench --list");
    assert!(listed.as_array().unwrap().iter().any(|suite| suite["name"] == "smoke"));
}

#[test]
fn clusterings_compete_like_models() {
    let bench = bench();
    let suite = "title = \"c\"\nclustering = true\ndatasets = [\"toy.npz\"]\nmodels = [\"latent-kmeans\", \"agc\"]\nsplits = [0]\n";
    fs::write(bench.path("clusters.toml"), suite).unwrap();
    let document = bench.json("bench clusters.toml");
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["test_accuracy_mean"].as_f64().unwrap() > 40.0), "{document}");
    let alone = bench.json("cluster toy.npz --split 0");
    assert_eq!(
        alone["test_accuracy_mean"], rows[0]["test_accuracy_mean"],
        "the same seed, the same clusters"
    );
    fs::write(bench.path("clusters.toml"), suite.replace("latent-kmeans", "latent-kmean")).unwrap();
    assert!(bench.fails("bench clusters.toml --out other").contains("did you mean `latent-kmeans`?"));
    let links = bench.json("links toy.npz --split 0");
    let latent = &links["per_split"][0]["latent"];
    assert!(latent["auc"].as_f64().unwrap() > 0.5, "{links}");
    assert!(bench.fails("links toy.npz --share 2").contains("between 0 and 1"));
}
