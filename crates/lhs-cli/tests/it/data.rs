//! `lhs data` as a user runs it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

struct Run {
    code: Option<i32>,
    out: String,
    errors: String,
}

impl Run {
    #[track_caller]
    fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self
    }

    /// Exit code 2, nothing on stdout, and this in the message.
    #[track_caller]
    fn refuses(self, message: &str) {
        assert_eq!(self.code, Some(2), "{}{}", self.out, self.errors);
        assert!(self.errors.contains(message), "{message} is not in\n{}", self.errors);
        assert!(!self.errors.contains("panicked") && self.out.is_empty());
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// Runs `lhs data ARGS` in a folder.
fn data(folder: &Path, args: &str) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_lhs"))
        .arg("data")
        .args(args.split_whitespace())
        .current_dir(folder)
        .env("LHS_CACHE", folder.join("cache"))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), errors: text(output.stderr) }
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Two components: a path of six nodes and a pair.
fn two_components(splits: &str) -> TempDir {
    folder(&[
        ("g/edges.csv", "a,b\nb,c\nc,d\nd,e\ne,f\nx,y\n"),
        ("g/labels.csv", "node,label\na,1\nb,2\nc,1\nd,2\ne,1\nf,2\nx,1\ny,2\n"),
        ("g/splits.csv", splits),
    ])
}

const FAIR: &str = "0,a,train\n0,b,train\n0,x,train\n0,c,val\n0,d,val\n0,e,test\n0,f,test\n0,y,test\n";
const LOPSIDED: &str = "0,a,train\n0,b,train\n0,x,val\n0,y,val\n0,c,test\n";

#[test]
fn inspect_shows_a_graph_seen_for_the_first_time() {
    let folder = folder(&[
        ("mine/edges.csv", "source,target\nann,bob\nbob,cy\ncy,cy\nann,cy\nbob,ann\n"),
        ("mine/labels.csv", "node,label\nann,red\nbob,blue\ncy,red\ndi,\n"),
    ]);
    let run = data(folder.path(), "inspect mine").succeeds();
    for line in [
        "mine\n",
        "nodes        4",
        "edges        3 (undirected)",
        "isolated     1 node",
        "red ",
        "unlabelled   1 node",
    ] {
        assert!(run.out.contains(line), "{line:?} is not in\n{}", run.out);
    }
    for warning in ["1 self loop dropped", "1 duplicate edge dropped", "there are no features"] {
        assert!(run.errors.contains(warning), "{warning:?} is not in\n{}", run.errors);
    }
    assert!(data(folder.path(), "inspect mine --quiet").succeeds().errors.is_empty());
    let json = data(folder.path(), "inspect mine --json").succeeds().json();
    assert_eq!(json["edge_homophily"].as_f64().map(|h| (h * 100.0).round()), Some(33.0));
    assert_eq!((&json["largest_component"], &json["classes"][1]["name"]), (&3.into(), &"red".into()));
    let one_by_one =
        data(folder.path(), "inspect --edges mine/edges.csv --labels mine/labels.csv --json").json();
    assert_eq!(json, one_by_one);
    let directed = data(folder.path(), "inspect mine/edges.csv --directed --json").succeeds().json();
    assert_eq!((&directed["edges"], &directed["directed"]), (&4.into(), &true.into()));
}

#[test]
fn edges_can_come_from_another_table() {
    let folder = two_components(FAIR);
    fs::write(folder.path().join("other.csv"), "b,a\nx,a\na,b\n").unwrap();
    let json = data(folder.path(), "inspect g --edges other.csv --directed --json").succeeds().json();
    assert_eq!((&json["nodes"], &json["edges"], &json["directed"]), (&8.into(), &3.into(), &true.into()));
    fs::write(folder.path().join("strange.csv"), "b,a\nnobody,a\n").unwrap();
    data(folder.path(), "inspect g --edges strange.csv").refuses("strange.csv: 1 nodes here are not in g");
}

#[test]
fn inspect_refuses_with_file_line_and_remedy() {
    let folder = folder(&[("bad/edges.csv", "0,1\n1,2,3\n"), ("notes.txt", "hello")]);
    data(folder.path(), "inspect bad")
        .refuses("bad/edges.csv: line 2: found 3 columns instead of 2\n  hint: ");
    data(folder.path(), "inspect nowhere").refuses("nowhere: no such dataset");
    data(folder.path(), "inspect --edges nowhere.csv").refuses("cannot read nowhere.csv");
    data(folder.path(), "inspect").refuses("<DATA>");
    data(folder.path(), "inspect bad --labels x.csv").refuses("cannot be used with");
}

#[test]
fn synth_makes_what_inspect_then_finds() {
    let folder = folder(&[]);
    let args = "synth --out toy --nodes 400 --classes 4 --mean-degree 6 --homophily 0.1 --features 5";
    let run = data(folder.path(), args).succeeds();
    assert_eq!(run.out, "wrote toy: 400 nodes, 1200 edges, 5 features, 4 classes, 10 splits\n");
    let json = data(folder.path(), "inspect toy --json").succeeds().json();
    assert!((json["edge_homophily"].as_f64().unwrap() - 0.1).abs() < 0.01);
    assert_eq!(json["splits"][9], serde_json::json!({"train": 240, "val": 80, "test": 80}));
    data(folder.path(), args).refuses("toy: there is something there already");
    let before = fs::read(folder.path().join("toy/edges.csv")).unwrap();
    data(folder.path(), &format!("{args} --force")).succeeds();
    assert_eq!(fs::read(folder.path().join("toy/edges.csv")).unwrap(), before);
    data(folder.path(), &format!("{args} --force --seed 1")).succeeds();
    assert_ne!(fs::read(folder.path().join("toy/edges.csv")).unwrap(), before);
    data(folder.path(), "synth --out no --homophily 2").refuses("setting `homophily`");
    assert!(!folder.path().join("no").exists());
}

#[test]
fn convert_keeps_everything() {
    let folder = two_components(FAIR);
    let json = data(folder.path(), "convert g --to copy --json").succeeds().json();
    assert_eq!((&json["nodes"], &json["splits"], &json["format"]), (&8.into(), &1.into(), &"tables".into()));
    let look = |name: &str| {
        let mut json = data(folder.path(), &format!("inspect {name} --json")).succeeds().json();
        // A copy knows what it is a copy of, and that its features are scaled already.
        ["name", "origin", "warnings"]
            .iter()
            .for_each(|key| drop(json.as_object_mut().unwrap().remove(*key)));
        json
    };
    assert_eq!(look("g"), look("copy"));
    data(folder.path(), "convert g --to copy").refuses("add --force");
    data(folder.path(), "convert g --to copy --force").succeeds();
    data(folder.path(), "convert g --to g/edges.csv").refuses("this is a file");
    data(folder.path(), "convert g --to copy --format npz --force").refuses("this is a folder");
    let directed = data(folder.path(), "convert g --to arrows --directed").succeeds();
    assert!(directed.errors.contains("read them with --directed"));
}

#[test]
fn convert_reduces_to_the_largest_component() {
    let folder = two_components(FAIR);
    data(folder.path(), "convert g --to big --largest-component").succeeds();
    let json = data(folder.path(), "inspect big --json").succeeds().json();
    assert_eq!((&json["nodes"], &json["components"]), (&6.into(), &1.into()));
    assert_eq!(json["splits"][0], serde_json::json!({"train": 2, "val": 2, "test": 2}));
}

#[test]
fn convert_says_when_a_split_runs_empty() {
    let folder = two_components(LOPSIDED);
    let run = data(folder.path(), "convert g --to big --largest-component");
    run.refuses(
        "the largest component leaves the val part of split 0 empty\n  hint: make new splits with --splits",
    );
    assert!(!folder.path().join("big").exists());
    let args = "convert g --to big --largest-component --splits random:0.34,0.33,0.33 --num-splits 3";
    data(folder.path(), args).succeeds();
    let json = data(folder.path(), "inspect big --json").succeeds().json();
    assert_eq!(json["splits"].as_array().unwrap().len(), 3);
    data(folder.path(), "convert g --to other --splits random:0.5,0.5").refuses("write three shares like");
    data(folder.path(), "convert g --to other --splits random:0.9,0.9,0.2")
        .refuses("are not parts of a whole");
    assert!(!folder.path().join("other").exists());
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = folder(&[]);
    for command in ["inspect", "convert", "synth", "fetch"] {
        let run = data(folder.path(), &format!("{command} --help")).succeeds();
        assert!(
            run.out.contains(&format!("  lhs data {command}")) && run.out.contains("--json"),
            "{}",
            run.out
        );
    }
}

#[test]
fn every_format_holds_the_same_graph() {
    let folder = folder(&[]);
    data(folder.path(), "synth --out toy.npz --nodes 200 --classes 3 --num-splits 2").succeeds();
    data(folder.path(), "convert toy.npz --to toy --scale none").succeeds();
    data(folder.path(), "convert toy --to toy-gcn --format geom-gcn --scale none").succeeds();
    data(folder.path(), "convert toy-gcn --to back.npz --scale none").succeeds();
    let look = |name: &str| {
        let json = data(folder.path(), &format!("inspect {name} --json --scale none")).succeeds().json();
        (json["content_sha256"].clone(), json["splits"].clone(), json["classes"].clone())
    };
    for copy in ["toy", "toy-gcn", "back.npz"] {
        assert_eq!(look(copy), look("toy.npz"), "{copy}");
    }
    data(folder.path(), "convert toy --to toy.npz").refuses("add --force");
}

/// The public graphs, when `LHS_DATA` names a copy of them.
#[test]
fn public_graphs_survive_as_tables() {
    let Some(source) = std::env::var_os("LHS_DATA") else { return };
    let folder = folder(&[]);
    for name in ["texas", "chameleon", "actor", "citeseer", "cora"] {
        let file = Path::new(&source).join(format!("{name}.npz"));
        data(folder.path(), &format!("convert {} --to {name}", file.display())).succeeds();
        let [given, mut converted] = [file.as_path(), Path::new(name)]
            .map(|path| data(folder.path(), &format!("inspect {} --json", path.display())).succeeds().json());
        let origin = converted.as_object_mut().unwrap().remove("origin").unwrap();
        assert_eq!(origin["sha256"], given["content_sha256"]);
        assert_eq!(given, converted);
    }
}
