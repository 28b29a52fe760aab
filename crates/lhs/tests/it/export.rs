//! Exports as the tools they are for see them: NetworkX opens every format and finds what went in.
//!
//! Python is `python3`, or what `LHS_PYTHON` names.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use lhs::io::export::{Column, Export, ExportFormat};
use lhs::io::{LoadOptions, load};
use proptest::prelude::*;
use serde_json::{Value, json};

fn python() -> OsString {
    std::env::var_os("LHS_PYTHON").unwrap_or_else(|| "python3".into())
}

/// Whether NetworkX can be imported. Where everything must be tested, it has to be.
fn networkx_is_here() -> bool {
    let import = Command::new(python()).args(["-c", "import networkx"]).output();
    if import.is_ok_and(|import| import.status.success()) {
        return true;
    }
    let problem = format!("{} has no NetworkX", python().display());
    let must = ["CI", "LHS_DATA"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(!must, "{problem}: run `pip install networkx`, or set LHS_PYTHON to a Python that has it");
    println!("skipped: {problem}");
    false
}

fn texts<const N: usize>(texts: [Option<&str>; N]) -> Column {
    Column::Text(texts.map(|text| text.map(String::from)).into())
}

/// Names that need quoting or escaping in some format, missing values, an isolated node.
fn nasty() -> Export<'static> {
    let ids = [
        "plain",
        "<a href=\"x\">&amp;",
        "it's, \"quoted\"",
        " blank\tand\r\nlines ",
        "#bell\u{7}",
        "日本 🦀",
        "0",
    ];
    let columns = [
        (
            "weight of <node>",
            Column::Number(
                [Some(0.1), Some(-1e300), None, Some(5e-324), Some(f64::NAN), Some(f64::INFINITY), Some(3.0)]
                    .into(),
            ),
        ),
        (
            "class",
            texts([
                Some("a&b"),
                Some("<c>"),
                None,
                Some("a&b"),
                Some("\u{1b}[0m,\"x\""),
                Some(""),
                Some("a&b"),
            ]),
        ),
        ("part", texts([Some("train"), None, None, None, Some("test"), Some("]]>"), None])),
        ("degree/\"2\"", Column::Integer(vec![1, i64::MAX, i64::MIN, -1, 0, 5, 6])),
    ];
    Export {
        name: "a <toy>",
        node_ids: ids.map(String::from).into(),
        columns: columns.map(|(name, column)| (name.to_string(), column)).into(),
        edges: vec![
            (1, 0, 0.1),
            (4, 2, 1.0),
            (0, 2, f32::MIN_POSITIVE),
            (2, 3, f32::MAX),
            (3, 4, 16_777_217.0),
            (1, 6, 1e-45),
        ],
    }
}

/// What the export holds, for the script that opens it.
fn expected(export: &Export) -> Value {
    let value = |column: &Column, node: usize| match column {
        Column::Text(texts) => json!(texts[node]),
        Column::Integer(numbers) => json!(numbers[node]),
        // Like every number that is not finite, these are null in JSON.
        Column::Number(numbers) => json!(numbers[node]),
    };
    let node = |(node, id): (usize, &String)| {
        let values = export.columns.iter().map(|(name, column)| (name.clone(), value(column, node)));
        json!({ "id": id, "values": Value::Object(values.collect()) })
    };
    let kind = |column: &Column| match column {
        Column::Text(_) => json!("text"),
        Column::Integer(_) => json!("integer"),
        Column::Number(_) => json!("number"),
    };
    let types = export.columns.iter().map(|(name, column)| (name.clone(), kind(column)));
    json!({
        "nodes": export.node_ids.iter().enumerate().map(node).collect::<Vec<_>>(),
        "types": Value::Object(types.collect()),
        "classes": 4,
        "edges": export.edges.iter().map(|&(a, b, w)| (a, b, f64::from(w))).collect::<Vec<_>>(),
    })
}

fn write_all(export: &Export, folder: &Path) {
    for format in ExportFormat::ALL {
        let path = folder.join(format!("toy.{format}"));
        export.write(&path, ExportFormat::of_path(&path).unwrap()).unwrap();
        assert!(format.files(&path).iter().all(|file| file.is_file()));
    }
}

#[test]
fn networkx_opens_every_export() {
    if !networkx_is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let export = nasty();
    write_all(&export, folder.path());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
    fs::write(folder.path().join("expected.json"), expected(&export).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/export/open.py");
    let run = Command::new(python()).arg(script).arg(folder.path()).output().unwrap();
    print!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn the_program_reads_its_own_exports() {
    let folder = tempfile::tempdir().unwrap();
    let export = nasty();
    write_all(&export, folder.path());
    let dataset = load(folder.path().join("toy.npz"), &LoadOptions::default()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), export.node_ids);
    assert_eq!(dataset.labels().names(), ["", "\u{1b}[0m,\"x\"", "<c>", "a&b"]);
    assert_eq!((dataset.labels().get(0), dataset.labels().get(2)), (Some(3), None));
    assert_eq!((dataset.graph().num_edges(), dataset.features().dim()), (6, 0));
    let edges: Vec<_> = dataset.graph().weighted_edges().collect();
    assert!(edges.contains(&(0, 1, 0.1)) && edges.contains(&(2, 3, f32::MAX)), "{edges:?}");

    // Plain tables know no line breaks inside a name, and no blanks around it.
    let plain = Export {
        node_ids: ["#1", "a,b", "c;\"d\"", "e"].map(String::from).into(),
        columns: Vec::new(),
        ..export
    };
    let plain = Export { edges: vec![(0, 1, 0.1), (2, 0, 1e-45)], ..plain };
    let table = folder.path().join("plain.csv");
    plain.write(&table, ExportFormat::Csv).unwrap();
    let dataset = load(&table, &LoadOptions::default()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["#1", "a,b", "c;\"d\""]);
    assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), [(0, 1, 0.1), (0, 2, 1e-45)]);
}

#[test]
fn plain_numbers_need_no_ids_and_columns_are_optional() {
    let folder = tempfile::tempdir().unwrap();
    let ids = (0..3).map(|node| node.to_string()).collect();
    let export = Export { name: "bare", node_ids: ids, edges: vec![(0, 2, 0.5)], ..Export::default() };
    write_all(&export, folder.path());
    let dataset = load(folder.path().join("toy.npz"), &LoadOptions::default()).unwrap();
    assert_eq!((dataset.num_nodes(), dataset.node_ids(), dataset.num_classes()), (3, None, 0));
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(text("toy.csv"), "source,target,weight\n0,2,0.5\n");
    assert_eq!(text("toy.nodes.csv"), "id\n0\n1\n2\n");
    assert!(!text("toy.gexf").contains("viz:color"));
}

#[test]
fn what_cannot_be_exported_leaves_old_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ["a\u{1}", "a\u{2}"].map(String::from).to_vec();
    let alike = Export { name: "toy", node_ids: ids, edges: vec![(0, 1, 1.0)], ..Export::default() };
    for format in [ExportFormat::GraphMl, ExportFormat::Gexf] {
        let path = folder.path().join(format!("old.{format}"));
        fs::write(&path, "old").unwrap();
        let error = alike.write(&path, format).unwrap_err();
        let message =
            format!("{}: node 1 has the id \"a\u{fffd}\" of another node\n  hint: ", path.display());
        assert!(error.to_string().starts_with(&message), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }
    write_tables_in_the_way(&alike, folder.path());
    let nowhere = alike.write(&folder.path().join("no/such/folder.csv"), ExportFormat::Csv).unwrap_err();
    assert!(nowhere.to_string().starts_with("cannot create"), "{nowhere}");
}

/// A table of nodes that cannot be written keeps the table of edges from being replaced.
fn write_tables_in_the_way(export: &Export, folder: &Path) {
    let (edges, nodes) = (folder.join("old.csv"), folder.join("old.nodes.csv"));
    fs::write(&edges, "old").unwrap();
    fs::create_dir(&nodes).unwrap();
    let error = export.write(&edges, ExportFormat::Csv).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write {}", nodes.display())), "{error}");
    assert_eq!(fs::read_to_string(&edges).unwrap(), "old");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 4);
}

/// What stands between `before` and `after`, every time, read as Python would: in 64 bits.
fn between(text: &str, before: &str, after: &str) -> Vec<f32> {
    let pieces = text.split(before).skip(1).map(|piece| piece.split(after).next().unwrap());
    pieces.map(|piece| piece.parse::<f64>().unwrap() as f32).collect()
}

proptest! {
    #[test]
    fn weights_survive_every_format(
        weights in prop::collection::vec(prop::num::f32::POSITIVE | prop::num::f32::SUBNORMAL | prop::num::f32::NORMAL, 1..40)
    ) {
        let nodes = weights.len() as u32 + 1;
        let export = Export {
            name: "weights",
            node_ids: (0..nodes).map(|node| node.to_string()).collect(),
            columns: Vec::new(),
            edges: weights.iter().zip(1..).map(|(&weight, node)| (node - 1, node, weight.abs())).collect(),
        };
        let weights: Vec<f32> = weights.iter().map(|weight| weight.abs()).collect();
        let folder = tempfile::tempdir().unwrap();
        write_all(&export, folder.path());
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        prop_assert_eq!(&between(&text("toy.graphml"), "<data key=\"weight\">", "</data>"), &weights);
        prop_assert_eq!(&between(&text("toy.gexf"), " weight=\"", "\"/>"), &weights);
        for name in ["toy.csv", "toy.npz"] {
            let dataset = load(folder.path().join(name), &LoadOptions::default()).unwrap();
            let found: Vec<f32> = dataset.graph().weighted_edges().map(|(_, _, weight)| weight).collect();
            prop_assert_eq!(&found, &weights, "{}", name);
        }
    }
}
