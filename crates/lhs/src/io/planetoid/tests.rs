//! A graph of seven nodes: three in `allx` (the first of them in `x`), then 5, 3 and 6; node 4 is missing.

use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::io::pickle::tests::{lists, matrix, table};

fn toy() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("x", matrix([1, 2], &[0, 1], &[0], &[1.0])),
        ("allx", matrix([3, 2], &[0, 1, 1, 2], &[0, 1], &[1.0, 2.0])),
        ("tx", matrix([3, 2], &[0, 1, 2, 4], &[0, 0, 1, 0], &[5.0, 3.0, 6.0, 7.0])),
        ("y", table(1, 2, &[1, 0])),
        ("ally", table(3, 2, &[1, 0, 0, 1, 0, 1])),
        ("ty", table(3, 2, &[0, 1, 1, 0, 0, 1])),
        (
            "graph",
            lists(&[(0, &[1, 0, 1]), (1, &[0, 2]), (2, &[1, 6]), (3, &[]), (4, &[5]), (5, &[4]), (6, &[2])]),
        ),
        ("test.index", b"5\n3\r\n6\n\n".to_vec()),
    ]
}

/// The files of the toy, one of them changed or (without bytes) left out.
fn folder_but(changed: &str, bytes: Option<Vec<u8>>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (ending, whole) in toy() {
        let bytes = if ending == changed { bytes.clone() } else { Some(whole) };
        if let Some(bytes) = bytes {
            fs::write(folder.path().join(format!("ind.toy.{ending}")), bytes).unwrap();
        }
    }
    folder
}

fn load(source: &Path) -> Result<Dataset> {
    read(source, &LoadOptions::default())
}

#[test]
fn the_order_of_the_nodes_is_restored() {
    let folder = folder_but("", None);
    for source in [folder.path().join("ind.toy"), folder.path().join("toy"), folder.path().to_path_buf()] {
        assert!(is_here(&source));
        let dataset = load(&source).unwrap();
        assert_eq!(dataset.name(), "toy");
        assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 6), (4, 5)]);
        assert_eq!(dataset.warnings()[..2], ["1 self loop dropped", "1 duplicate edge dropped"]);
        let rows: Vec<_> = (0..7).map(|node| dataset.features().row_nonzeros(node)).collect();
        let expected: [&[(u32, f32)]; 7] =
            [&[(0, 1.0)], &[], &[(1, 2.0)], &[(0, 3.0)], &[], &[(0, 5.0)], &[(0, 7.0), (1, 6.0)]];
        assert_eq!(rows, expected);
        let classes: Vec<_> = (0..7).map(|node| dataset.labels().get(node).unwrap()).collect();
        assert_eq!(classes, [0, 1, 1, 0, 0, 1, 1], "node 4, which is missing, has class 0");
        let split = Split { train: vec![0], val: vec![1, 2], test: vec![3, 5, 6] };
        assert_eq!(dataset.splits(), [split]);
    }
}

#[test]
fn other_places_hold_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!is_here(folder.path()) && !is_here(&folder.path().join("ind.toy")) && !is_here(Path::new("/")));
    let error = load(folder.path()).unwrap_err().to_string();
    assert!(error.contains("there are no Planetoid files here\n  hint: "), "{error}");
}

#[test]
fn several_graphs_in_one_folder_must_be_told_apart() {
    let folder = folder_but("", None);
    fs::write(folder.path().join("ind.other.graph"), b"").unwrap();
    let error = load(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("the folder holds several graphs: ind.other, ind.toy\n  hint: name one"),
        "{error}"
    );
    load(&folder.path().join("ind.toy")).unwrap();
}

#[test]
fn files_that_do_not_fit_each_other_are_named() {
    for (ending, bytes, expected) in [
        ("tx", None, "ind.toy.tx: this file is missing\n  hint: a Planetoid graph needs all of x, tx"),
        ("graph", None, "ind.toy.graph: this file is missing\n  hint: "),
        (
            "graph",
            Some(b"cos\nsystem\n".to_vec()),
            "ind.toy.graph: byte 0: opcode GLOBAL (0x63): global \"os\"",
        ),
        (
            "graph",
            Some(lists(&[(0, &[1])])),
            "ind.toy.graph: 1 nodes, but test.index goes up to node 6\n  hint: ",
        ),
        (
            "graph",
            Some(lists(&[(0, &[7]), (1, &[]), (2, &[]), (3, &[]), (4, &[]), (5, &[]), (6, &[])])),
            "ind.toy.graph: edge (0, 7) out of range (num_nodes = 7)\n  hint: ",
        ),
        (
            "test.index",
            Some(b"5\n3\n".to_vec()),
            "ind.toy.test.index: 2 test nodes, but tx has 3 rows\n  hint: ",
        ),
        (
            "test.index",
            Some(b"5\n3\nx\x1b\n".to_vec()),
            "ind.toy.test.index: line 3: \"x\\u{1b}\" is not a new node",
        ),
        ("test.index", Some(b"5\n3\n3\n".to_vec()), "ind.toy.test.index: line 3: \"3\" is not a new node"),
        ("test.index", Some(b"2\n3\n4\n".to_vec()), "ind.toy.test.index: line 1: \"2\" is not a new node"),
        (
            "test.index",
            Some(b"5\n3\n4294967295\n".to_vec()),
            "ind.toy.graph: 7 nodes, but test.index goes up to",
        ),
        (
            "tx",
            Some(matrix([3, 3], &[0, 0, 0, 0], &[], &[])),
            "ind.toy.tx: 3 columns, but allx has 2\n  hint: ",
        ),
        ("ty", Some(table(2, 2, &[1, 0, 0, 1])), "ind.toy.ty: 2 rows, but there are 3 nodes\n  hint: "),
        ("ally", Some(table(2, 2, &[1, 0, 0, 1])), "ind.toy.ally: 2 rows, but there are 3 nodes\n  hint: "),
        ("x", Some(matrix([0, 2], &[0], &[], &[])), "ind.toy.x: 0 rows, but y has 1 and allx 3\n  hint: "),
        (
            "allx",
            Some(matrix([3, 2], &[0, 0, 0, 1], &[0], &[f64::NAN])),
            "feature 0 of node 2 is NaN\n  hint: ",
        ),
    ] {
        let folder = folder_but(ending, bytes);
        let error = load(&folder.path().join("ind.toy")).unwrap_err();
        assert!(error.can_be_mended(), "{error}");
        assert!(error.to_string().contains(expected), "{error}\nexpected: {expected}");
    }
}
