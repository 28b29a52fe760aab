//! Files as other tools write them: NetworkX, SciPy and NumPy save a graph in every format, and it is the same graph.
//!
//! Python is `python3`, or what `LHS_PYTHON` names.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use lhs::graph::Dataset;
use lhs::io::{LoadOptions, load};
use tempfile::TempDir;

fn python() -> OsString {
    std::env::var_os("LHS_PYTHON").unwrap_or_else(|| "python3".into())
}

/// A folder with the files. Where everything must be tested, Python has to have what it needs.
fn written() -> Option<TempDir> {
    let import = Command::new(python()).args(["-c", "import networkx, numpy, scipy"]).output();
    if !import.is_ok_and(|import| import.status.success()) {
        let problem = format!("{} has not all of NetworkX, NumPy and SciPy", python().display());
        let must = ["CI", "LHS_DATA"].iter().any(|name| std::env::var_os(name).is_some());
        assert!(
            !must,
            "{problem}: run `pip install networkx numpy scipy`, or set LHS_PYTHON to a Python that has them"
        );
        println!("skipped: {problem}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/import/write.py");
    let run = Command::new(python()).arg(script).arg(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(folder)
}

const EDGES: [(u32, u32, f32); 3] = [(0, 1, 0.5), (1, 2, 2.0), (2, 3, 0.25)];

fn edges(dataset: &Dataset) -> Vec<(u32, u32, f32)> {
    dataset.graph().weighted_edges().collect()
}

fn column(dataset: &Dataset, name: &str) -> Vec<f32> {
    let names = dataset.feature_names().unwrap();
    let place =
        names.iter().position(|own| own == name).unwrap_or_else(|| panic!("no {name} in {names:?}")) as u32;
    let value = |node| {
        dataset
            .features()
            .row_nonzeros(node)
            .iter()
            .find(|(own, _)| *own == place)
            .map_or(0.0, |(_, value)| *value)
    };
    (0..dataset.num_nodes()).map(value).collect()
}

#[test]
fn graphs_with_attributes_are_the_same_in_every_format() {
    let Some(folder) = written() else { return };
    for name in ["plain.graphml", "packed.graphml.gz", "plain.gexf", "plain.links.json", "plain.edges.json"] {
        let dataset = load(folder.path().join(name), &LoadOptions::as_is(true))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(dataset.node_ids().unwrap(), ["a&b", "日本", "c", "d <e>"], "{name}");
        assert_eq!(edges(&dataset), EDGES, "{name}");
        assert!(!dataset.graph().is_directed(), "{name}");
        assert_eq!(column(&dataset, "age"), [31.0, 58.0, -2.0, 7.0], "{name}");
        assert_eq!(column(&dataset, "share"), [0.5, 0.0, 1e-3, 4.0], "{name}");
        assert_eq!(column(&dataset, "known"), [1.0, 1.0, 0.0, 1.0], "{name}");
        assert_eq!(
            (dataset.features().dim(), dataset.labels().names().join(" ")),
            (3, "chess rowing".into()),
            "{name}"
        );
        assert_eq!(dataset.labels().get(3), Some(1), "{name}");
        assert!(
            dataset.warnings().iter().any(|note| note.contains("left out: \"town\"")),
            "{name}: {:?}",
            dataset.warnings()
        );
    }
    for name in ["directed.graphml", "directed.gexf", "directed.links.json"] {
        let directed = load(folder.path().join(name), &LoadOptions::as_is(true)).unwrap();
        assert!(
            directed.graph().is_directed()
                && directed.graph().has_edge(0, 1)
                && !directed.graph().has_edge(1, 0),
            "{name}"
        );
        assert_eq!(
            edges(&load(folder.path().join(name), &LoadOptions::as_is(false)).unwrap()),
            EDGES,
            "{name}"
        );
    }
    for name in ["several.graphml", "several.gexf", "several.links.json", "several.edges.json"] {
        let dataset = load(folder.path().join(name), &LoadOptions::as_is(false)).unwrap();
        assert_eq!(edges(&dataset)[0], (0, 1, 2.0), "{name}");
    }
}

#[test]
fn matrices_and_archives_are_the_same_graph() {
    let Some(folder) = written() else { return };
    let open = |name: &str| {
        load(folder.path().join(name), &LoadOptions::as_is(false)).unwrap_or_else(|error| panic!("{error}"))
    };
    for name in
        ["matrix.mtx", "scipy-csr.npz", "scipy-csc.npz", "scipy-coo.npz", "deeprobust.npz", "geometric.npz"]
    {
        assert_eq!(edges(&open(name)), EDGES, "{name}");
    }
    let pattern = open("pattern.mtx");
    assert_eq!((pattern.graph().num_edges(), pattern.graph().weights()), (3, None));
    let deeprobust = open("deeprobust.npz");
    assert_eq!(deeprobust.node_ids().unwrap(), ["a&b", "日本", "c", "d <e>"]);
    assert_eq!(deeprobust.labels().names(), ["chess", "rowing"]);
    assert_eq!(column(&deeprobust, "share"), [0.5, 0.0, 1e-3, 4.0]);
    let geometric = open("geometric.npz");
    assert_eq!(geometric.features().row_nonzeros(3), [(0, 7.0), (1, 4.0)]);
    let split = &geometric.splits()[0];
    assert_eq!(
        (split.train.as_slice(), split.val.as_slice(), split.test.as_slice()),
        (&[0][..], &[1][..], &[2, 3][..])
    );
}
