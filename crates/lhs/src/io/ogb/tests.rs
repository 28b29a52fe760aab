use std::fs::{self, File};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const GOOD: [(&str, &str); 7] = [
    ("raw/edge.csv.gz", "0,1\n2,0\n1,0\n"),
    ("raw/num-node-list.csv.gz", "4\n"),
    ("raw/node-feat.csv.gz", "0.5,1\n0,0\n-2e-1,0\n1,1\n"),
    ("raw/node-label.csv.gz", "1\n0\nnan\n1.0\n"),
    ("split/time/train.csv.gz", "3\n"),
    ("split/time/valid.csv.gz", "1\n"),
    ("split/time/test.csv.gz", "0\n"),
];

/// A folder with one file replaced, or (without content) left out.
fn folder(changed: &str, content: Option<&str>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let others = GOOD.into_iter().filter(|(name, _)| *name != changed);
    for (name, text) in others.chain(content.map(|content| (changed, content))) {
        let path = folder.path().join("toy").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut encoder = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    folder
}

fn load(folder: &TempDir, options: &LoadOptions) -> Result<Dataset> {
    crate::io::load(folder.path().join("toy"), options)
}

#[test]
fn a_folder_is_read() {
    let folder = folder("", None);
    let dataset = load(&folder, &LoadOptions::default()).unwrap();
    assert_eq!((dataset.name(), dataset.num_nodes()), ("toy", 4));
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
    assert_eq!(dataset.features().row_nonzeros(2), [(0, -0.2)]);
    assert_eq!((dataset.labels().get(0), dataset.labels().get(2)), (Some(1), None));
    assert_eq!(dataset.splits(), [Split { train: vec![3], val: vec![1], test: vec![0] }]);
    let directed = load(&folder, &LoadOptions::directed(true)).unwrap();
    assert_eq!(directed.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 0), (2, 0)]);
}

#[test]
fn features_may_be_missing() {
    let dataset = load(&folder("raw/node-feat.csv.gz", None), &LoadOptions::default()).unwrap();
    assert_eq!(dataset.features().dim(), 0);
}

#[test]
fn what_is_wrong_is_said_with_file_and_line() {
    for (name, content, expected) in [
        ("raw/edge.csv.gz", Some("0,1\n0,4\n"), "edge.csv.gz: edge 1 (0, 4): node 4 out of range"),
        ("raw/edge.csv.gz", Some("0,1\n0\n"), "edge.csv.gz: line 2: two node numbers are needed"),
        ("raw/edge.csv.gz", Some("0,x\n"), "line 1: \"x\" found where node numbers should be"),
        ("raw/num-node-list.csv.gz", Some("5\n"), "5 nodes, but 4 labels"),
        ("raw/num-node-list.csv.gz", Some("2\n2\n"), "the folder holds several graphs"),
        ("raw/num-node-list.csv.gz", Some(""), "the number of nodes is missing"),
        ("raw/num-node-list.csv.gz", None, "num-node-list.csv.gz: this file is missing"),
        ("raw/node-feat.csv.gz", Some("1,2\n1\n"), "node-feat.csv.gz: line 2: 1 features instead of 2"),
        ("raw/node-feat.csv.gz", Some("1\n1\n"), "2 rows for 4 nodes"),
        ("raw/node-feat.csv.gz", Some("1\n1\n1\n1\n1\n"), "more rows than the 4 nodes"),
        ("raw/node-feat.csv.gz", Some("1\n1\n1\nnan\n"), "feature 0 of node 3 is NaN"),
        ("raw/node-label.csv.gz", Some("1,0\n"), "2 answers per node"),
        ("raw/node-label.csv.gz", Some("1\n0\n-3\n1\n"), "line 3: -3 is not a class number"),
        ("raw/node-label.csv.gz", Some("1\n0\n0.5\n1\n"), "line 3: 0.5 is not a class number"),
        ("raw/num-node-dict.csv.gz", Some("a,b\n1,2\n"), "several kinds of nodes"),
        ("split/time/valid.csv.gz", None, "valid.csv.gz: this file is missing"),
        ("split/time/valid.csv.gz", Some("9\n"), "node 9 out of range"),
        ("split/random/train.csv.gz", Some("1\n"), "there are several schemes"),
        ("split/time/valid.csv.gz", Some("3\n"), "split 0"),
    ] {
        let error = load(&folder(name, content), &LoadOptions::default()).unwrap_err();
        assert!(
            error.can_be_mended() && error.to_string().contains(expected),
            "{error}\n  should say {expected}"
        );
    }
}

#[test]
fn a_damaged_file_is_named() {
    let folder = folder("", None);
    let path = folder.path().join("toy/raw/node-feat.csv.gz");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = load(&folder, &LoadOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("node-feat.csv.gz: line ") && error.contains("the line cannot be read"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    #[test]
    fn noise_never_panics(file in 0usize..7, text in "[0-9,.\n nae-]{0,40}") {
        let _ = load(&folder(GOOD[file].0, Some(&text)), &LoadOptions::directed(true));
    }
}
