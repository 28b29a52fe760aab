//! Round trips, bad input, and input that is nothing but noise.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use super::*;
use crate::graph::Split;
use crate::io::npy;
use crate::linalg::Mat;

/// The bytes of an array.
fn array<T: npyz::AutoSerialize>(shape: &[usize], values: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    npy::write(&mut bytes, shape, values).unwrap();
    bytes
}

/// The members of a small file in the collection's layout.
fn members() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("node_features", array(&[4, 2], [1f32, 0.0, 0.0, 1.0, 0.5, 0.5, 0.0, 2.0])),
        ("node_labels", array(&[4], [0i64, 1, 0, -1])),
        ("edges", array(&[3, 2], [0i64, 1, 1, 2, 2, 3])),
        ("train_masks", array(&[2, 4], [1u8, 0, 0, 0, 0, 1, 0, 0])),
        ("val_masks", array(&[2, 4], [0u8, 1, 0, 0, 0, 0, 1, 0])),
        ("test_masks", array(&[2, 4], [0u8, 0, 1, 0, 1, 0, 0, 0])),
    ]
}

/// The same with one member replaced, added, or (without bytes) left out.
fn members_but(name: &'static str, bytes: Option<Vec<u8>>) -> Vec<(&'static str, Vec<u8>)> {
    let mut members = members();
    members.retain(|member| member.0 != name);
    members.extend(bytes.map(|bytes| (name, bytes)));
    members
}

fn archive(members: &[(&str, Vec<u8>)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.npz");
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    (folder, path)
}

fn load(path: &Path) -> Result<Dataset> {
    read(path, &LoadOptions::as_is(false))
}

/// The error that a member causes, without the name of the temporary folder.
fn error(name: &'static str, bytes: Option<Vec<u8>>) -> String {
    let (folder, path) = archive(&members_but(name, bytes));
    let error = load(&path).unwrap_err();
    assert!(error.can_be_mended(), "{error}");
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn the_collections_layout_is_read() {
    let (_folder, path) = archive(&members());
    let dataset = load(&path).unwrap();
    assert_eq!(dataset.name(), "toy");
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(dataset.features().row_nonzeros(2), [(0, 0.5), (1, 0.5)]);
    assert_eq!((dataset.labels().get(1), dataset.labels().get(3)), (Some(1), None));
    let splits = [
        Split { train: vec![0], val: vec![1], test: vec![2] },
        Split { train: vec![1], val: vec![2], test: vec![0] },
    ];
    assert_eq!(dataset.splits(), splits);
    assert!(!read(&path, &LoadOptions::as_is(true)).unwrap().graph().is_directed());
}

#[test]
fn pairs_that_are_not_sorted_have_a_direction_for_whoever_asks() {
    let arrows = array(&[3, 2], [0i64, 1, 2, 1, 2, 3]);
    let (_folder, path) = archive(&members_but("edges", Some(arrows)));
    assert_eq!(load(&path).unwrap().graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 3)]);
    let directed = read(&path, &LoadOptions::as_is(true)).unwrap();
    assert!(directed.graph().is_directed());
    assert_eq!(directed.graph().edges().collect::<Vec<_>>(), [(0, 1), (2, 1), (2, 3)]);
}

#[test]
fn masks_may_be_absent_flat_or_in_fortran_order() {
    let plain: Vec<_> = members().into_iter().filter(|m| !m.0.contains("mask")).collect();
    let (_folder, path) = archive(&plain);
    assert!(load(&path).unwrap().splits().is_empty());
    let mut flat = plain.clone();
    let mut turned = plain;
    for (name, node) in [("train_masks", 0), ("val_masks", 1), ("test_masks", 2)] {
        flat.push((name, array(&[4], (0..4).map(|n| n == node))));
        // Node after node: the entry of the first split, then that of the second, which goes round by one.
        let mut bytes = array(&[2, 4], (0..4).flat_map(|n| [n == node, n == (node + 1) % 3]));
        let header = String::from_utf8_lossy(&bytes[10..128]).replace("False", "True ");
        bytes[10..128].copy_from_slice(header.as_bytes());
        turned.push((name, bytes));
    }
    let first = Split { train: vec![0], val: vec![1], test: vec![2] };
    let second = Split { train: vec![1], val: vec![2], test: vec![0] };
    for (members, splits) in [(flat, vec![first.clone()]), (turned, vec![first, second])] {
        let (_folder, path) = archive(&members);
        assert_eq!(load(&path).unwrap().splits(), splits);
    }
}

/// Everything a dataset can hold, with sparse or dense features.
fn full(features: Features) -> Dataset {
    let edges = [(0, 1), (3, 1), (1, 3), (2, 0)];
    let (graph, repairs) = Graph::build(4, &edges, Some(&[0.5, 1.0, 2.0, 0.1]), true).unwrap();
    Dataset::new(DatasetParts {
        name: "full".into(),
        graph,
        repairs,
        features,
        labels: Labels::new(
            vec![Some(1), None, Some(0), Some(1)],
            ["a\n", "\"ü\"", "unused"].map(String::from).into(),
        )
        .unwrap(),
        node_ids: Some(["n0", "n,1", "", "4"].map(String::from).into()),
        splits: vec![Split { train: vec![0], val: vec![2], test: vec![3] }],
        details: Default::default(),
    })
    .unwrap()
}

fn assert_same(found: &Dataset, expected: &Dataset) {
    assert_eq!(found.name(), expected.name());
    assert_eq!(found.graph(), expected.graph());
    assert_eq!(found.features(), expected.features());
    assert_eq!(found.labels(), expected.labels());
    assert_eq!(found.node_ids(), expected.node_ids());
    assert_eq!(found.splits(), expected.splits());
}

#[test]
fn everything_survives_a_round_trip() {
    let sparse = Features::from_dense(Mat::from_fn(4, 9, |r, c| if r == c { -1.5 } else { 0.0 }));
    let dense = Features::from_dense(Mat::from_fn(4, 3, |r, c| (r * c) as f32 + 0.1));
    for (features, is_sparse) in [(sparse, true), (dense, false), (Features::none(4), false)] {
        for layout in [FeatureLayout::AsStored, FeatureLayout::Dense] {
            let folder = tempfile::tempdir().unwrap();
            let (path, again) = (folder.path().join("full.npz"), folder.path().join("again.npz"));
            let dataset = full(features.clone());
            write(&dataset, &path, layout).unwrap();
            assert_same(&read(&path, &LoadOptions::as_is(true)).unwrap(), &dataset);
            assert_eq!(load(&path).unwrap().graph(), &dataset.graph().to_undirected());
            let plain = Archive::open(&path).unwrap().has("node_features");
            assert_eq!(plain, !is_sparse || layout == FeatureLayout::Dense);
            write(&dataset, &again, layout).unwrap();
            assert_eq!(fs::read(&path).unwrap(), fs::read(&again).unwrap(), "the same data, the same bytes");
        }
    }
}

#[test]
fn a_missing_member_is_named_with_those_that_are_there() {
    assert_eq!(
        error("edges", None),
        "toy.npz: member edges: it is missing; the file holds node_features, node_labels, train_masks, val_masks, \
         test_masks\n  hint: add the array `edges`, or check that this is the right file"
    );
    assert!(error("val_masks", None).starts_with("toy.npz: member val_masks: it is missing"));
}

#[test]
fn wrong_shapes_types_and_numbers_are_named_with_a_remedy() {
    for (member, bytes, expected) in [
        (
            "node_labels",
            array(&[4], [0f32; 4]),
            "the array holds floating-point numbers where whole numbers are needed\n  hint: save",
        ),
        (
            "node_labels",
            array(&[4, 1], [0i64; 4]),
            "the array has shape [4, 1], expected [any]\n  hint: the shape",
        ),
        (
            "node_labels",
            array(&[4], [0i64, 9, 0, 0]),
            "class number 9 is larger than the number of nodes\n  hint:",
        ),
        (
            "node_features",
            array(&[3, 2], [0f32; 6]),
            "the array has shape [3, 2], expected [4, any]\n  hint: ",
        ),
        ("node_features", array(&[8], [0f32; 8]), "the array has shape [8], expected [4, any]\n  hint: "),
        (
            "edges",
            array(&[2, 3], [0i64; 6]),
            "the array has shape [2, 3], expected [any, 2]\n  hint: the shape",
        ),
        (
            "edges",
            array(&[1, 2], [0i64, 4]),
            "edge 0: node 4 out of range (num_nodes = 4)\n  hint: node numbers",
        ),
        (
            "edges",
            array(&[1, 2], [-1i64, 0]),
            "edge 0: node -1 out of range (num_nodes = 4)\n  hint: node numbers",
        ),
        ("train_masks", array(&[2, 5], [0u8; 10]), "the array has shape [2, 5], expected [any, 4]\n  hint: "),
        ("train_masks", array(&[5], [0u8; 5]), "the array has shape [5], expected [4]\n  hint: the shape"),
        ("val_masks", array(&[4], [0u8, 1, 0, 0]), "1 masks, but train_masks has 2\n  hint: give one"),
        ("test_masks", array(&[2, 4], [7i64; 8]), "the mask holds 7 for node 0\n  hint: masks say 1"),
        (
            "edge_weights",
            array(&[3], [1f32, -1.0, 1.0]),
            "edge 1: weight -1 is not a positive finite number\n  hint:",
        ),
        ("edge_weights", array(&[2], [1f32; 2]), "the array has shape [2], expected [3]\n  hint: the shape"),
        ("class_names", array(&[2], *b"{}"), "this is not a JSON array of strings: invalid type"),
        ("edges", b"not an array".to_vec(), "this is not a NumPy array\n  hint: save"),
    ] {
        let error = error(member, Some(bytes));
        assert!(error.starts_with(&format!("toy.npz: member {member}: {expected}")), "{error}");
        assert!(error.contains("\n  hint: "), "{error}");
    }
    let names = error("class_names", Some(array(&[5], *b"[\"a\"]")));
    assert!(
        names.starts_with("toy.npz: member node_labels: node 1 has class 1, but there are 1 classes"),
        "{names}"
    );
    let ids = error("node_ids", Some(array(&[5], *b"[\"a\"]")));
    assert!(ids.starts_with("toy.npz: 1 node ids for 4 nodes\n  hint: "), "{ids}");
    let nan = error("node_features", Some(array(&[4, 1], [1f32, 2.0, f32::NAN, 4.0])));
    assert!(nan.starts_with("toy.npz: 1 value is missing: `0` 1 (the first in row 2)\n  hint: "), "{nan}");
}

#[test]
fn pickled_objects_are_refused() {
    let bytes = array(&[1], [0i64]);
    let bytes = String::from_utf8_lossy(&bytes[8..128]).replace("'<i8'", "'|O' ");
    let mut object = b"\x93NUMPY\x01\x00".to_vec();
    object.extend_from_slice(bytes.as_bytes());
    object.extend_from_slice(b"cos\nsystem");
    let error = error("node_labels", Some(object));
    assert!(
        error.starts_with("toy.npz: member node_labels: the array holds pickled Python objects"),
        "{error}"
    );
}

#[test]
fn odd_arrays_are_named_with_what_is_wrong() {
    let with = |descr: &str, shape: &str, data: &[u8]| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    };
    for (member, descr, shape, bytes, problem) in [
        ("node_labels", "'>i8'", "(4,)", 32, "elements of type \">i8\" are not supported"),
        ("node_labels", "'<U1'", "(4,)", 16, "elements of type \"<U1\" are not supported"),
        ("node_labels", "'|S1'", "(4,)", 4, "elements of type \"|S1\" are not supported"),
        ("node_labels", "'<f8'", "(4,)", 32, "the array holds floating-point numbers"),
        ("node_labels", "[('a', '<i8')]", "(4,)", 32, "elements of type \"[('a', '<i8'), ]\""),
        ("node_labels", "'<i8'", "()", 8, "the array has shape [], expected [any]"),
        ("node_labels", "'<i8'", "(4,)", 31, "shape [4] needs"),
        ("node_labels", "'<i8'", "(4,)", 33, "shape [4] needs"),
        ("node_features", "'<f2'", "(4, 2)", 16, "elements of type \"<f2\" are not supported"),
        ("node_features", "'<f4'", "()", 4, "the array has shape [], expected [4, any]"),
        ("node_features", "'<f4'", "(4, 2, 1)", 32, "the array has shape [4, 2, 1], expected [4, any]"),
        ("train_masks", "'<f4'", "(4,)", 16, "the array holds floating-point numbers"),
        ("edges", "'<i8'", "(99999999999, 99999999999)", 0, "too large (limit: 8 GiB)"),
    ] {
        let error = error(member, Some(with(descr, shape, &vec![0; bytes])));
        assert!(error.starts_with(&format!("toy.npz: member {member}: ")), "{error}");
        assert!(error.contains(problem) && error.contains("\n  hint: "), "{error}");
    }
    let error = error("train_masks", Some(with("'|b1'", "(4,)", &[0, 1, 0, 7])));
    assert!(
        error.starts_with("toy.npz: member train_masks: the data cannot be read: invalid value"),
        "{error}"
    );
}

#[test]
fn sparse_features_are_checked_before_they_are_used() {
    let good = [
        ("features_shape", array(&[2], [4i64, 3])),
        ("features_indptr", array(&[5], [0i64, 1, 1, 3, 3])),
        ("features_indices", array(&[3], [2u32, 0, 1])),
        ("features_values", array(&[3], [1f32, 2.0, 3.0])),
    ];
    let with = |name: &str, bytes: Option<Vec<u8>>| {
        let mut all = members_but("node_features", None);
        let changed =
            good.iter().map(|(n, b)| (*n, bytes.clone().filter(|_| *n == name).unwrap_or(b.clone())));
        all.extend(changed);
        let (_folder, path) = archive(&all);
        load(&path)
    };
    assert_eq!(with("", None).unwrap().features().row_nonzeros(2), [(0, 2.0), (1, 3.0)]);
    for (member, bytes, problem) in [
        ("features_shape", array(&[2], [5i64, 3]), "is not the shape of features for 4 nodes"),
        ("features_shape", array(&[2], [4i64, -3]), "is not the shape of features for 4 nodes"),
        ("features_indptr", array(&[5], [0i64, 3, 1, 3, 3]), "do not ascend from 0 to 3"),
        ("features_indptr", array(&[5], [0i64, 1, 1, 3, 4]), "do not ascend from 0 to 3"),
        ("features_indptr", array(&[4], [0i64, 1, 1, 3]), "expected [5]"),
        ("features_indices", array(&[3], [3u32, 0, 1]), "the columns of node 0 do not ascend within 0..3"),
        ("features_indices", array(&[3], [2u32, 1, 1]), "the columns of node 2 do not ascend within 0..3"),
        ("features_values", array(&[2], [1f32; 2]), "expected [3]"),
    ] {
        let error = with(member, Some(bytes)).unwrap_err().to_string();
        assert!(error.contains(&format!("toy.npz: member {member}: ")) && error.contains(problem), "{error}");
    }
}

#[test]
fn damage_is_noticed_wherever_it_is() {
    let (folder, path) = archive(&members());
    let whole = fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.npz");
    let load_bytes = |bytes: &[u8]| {
        fs::write(&damaged, bytes).unwrap();
        load(&damaged)
    };
    for length in 0..whole.len() {
        let error = load_bytes(&whole[..length]).unwrap_err();
        assert!(error.to_string().contains("damaged.npz: ") && error.can_be_mended(), "{error}");
    }
    // Exchange the stored data of the features: the checksum no longer fits.
    let mut stored = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in members() {
        stored.start_file(format!("{name}.npy"), options).unwrap();
        stored.write_all(&bytes).unwrap();
    }
    stored.finish().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.windows(4).position(|w| w == 0.5f32.to_le_bytes()).unwrap();
    bytes[place] ^= 1;
    let error = load_bytes(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("member node_features: the data cannot be read: Invalid checksum\n  hint: "),
        "{error}"
    );
}

#[test]
fn a_small_file_cannot_claim_a_large_array() {
    let claim = |shape: &[usize]| array::<f32>(shape, []);
    let error_of = |shape: &[usize]| error("node_features", Some(claim(shape)));
    assert!(
        error_of(&[4, 1 << 20])
            .contains("shape [4, 1048576] needs 16777344 bytes, but there are 128\n  hint: ")
    );
    assert!(error_of(&[4, 1 << 40]).contains("too large (limit: 8 GiB)\n  hint: "));
    assert!(error_of(&[usize::MAX, usize::MAX]).contains("too large (limit: 8 GiB)"));
    // A member that unpacks to far more than its header needs: 64 MiB of zeros in 64 KiB.
    let mut bomb = array(&[4], [0i64; 4]);
    bomb.resize(64 << 20, 0);
    let error = error("node_labels", Some(bomb));
    assert!(
        error.contains("member node_labels: shape [4] needs 160 bytes, but there are 67108864"),
        "{error}"
    );
}

#[test]
fn another_kind_of_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.csv");
    fs::write(&path, "a,b\n").unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(
        error.contains("edges.csv: this is not a whole .npz file") && error.contains("\n  hint: "),
        "{error}"
    );
    assert!(!is_here(&path));
    let (_folder, path) = archive(&members());
    assert!(is_here(&path));
    assert!(load(&folder.path().join("absent.npz")).unwrap_err().can_be_mended());
}

mod others;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise.npz");
        fs::write(&path, bytes).unwrap();
        let _ = load(&path);
    }

    #[test]
    fn changed_archives_never_panic(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let (_folder, path) = archive(&members());
        let mut bytes = fs::read(&path).unwrap();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        fs::write(&path, bytes).unwrap();
        let _ = load(&path);
    }

    /// The checksum would catch most changes, so these are made before packing.
    #[test]
    fn changed_members_never_panic(
        member in 0usize..10,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full.npz");
        let sparse = Features::from_dense(Mat::from_fn(4, 9, |r, c| if r == c { 1.0 } else { 0.0 }));
        write(&full(sparse), &path, FeatureLayout::AsStored).unwrap();
        let mut zip = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
        let mut members = Vec::new();
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index).unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            members.push((entry.name().unwrap().trim_end_matches(".npy").to_string(), bytes));
        }
        let count = members.len();
        let bytes = &mut members[member % count].1;
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let members: Vec<_> = members.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        let (_folder, path) = archive(&members);
        let _ = read(&path, &LoadOptions::as_is(true));
    }
}
