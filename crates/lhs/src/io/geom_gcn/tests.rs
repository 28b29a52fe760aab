//! Round trips and bad input.

use tempfile::TempDir;

use super::*;
use crate::linalg::Mat;

const TOY_EDGES: &str = "node_id\tnode_id\n0\t1\n2\t1\r\n\n1\t2\n";
const TOY_NODES: &str = "node_id\tfeature\tlabel\n1\t0,1.5,0\t0\n0\t0,0,0\t1\n2\t-2,0,1e-3\t-1\n";

/// A folder called `toy` inside a temporary one.
fn folder(edges: &str, nodes: &str) -> (TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data").join("toy");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(EDGES), edges).unwrap();
    fs::write(folder.join(NODES), nodes).unwrap();
    (outer, folder)
}

fn load(folder: &Path) -> Result<Dataset> {
    read(folder, &LoadOptions::default())
}

fn error(edges: &str, nodes: &str) -> String {
    let (outer, folder) = folder(edges, nodes);
    let error = load(&folder).unwrap_err();
    assert!(error.can_be_mended(), "{error}");
    error.to_string().replace(&format!("{}/data/", outer.path().display()), "")
}

fn write_split(path: &Path, num_nodes: usize, nodes: [u32; 3]) {
    ArchiveWriter::create(path, |archive| {
        for (member, node) in ["train_mask", "val_mask", "test_mask"].into_iter().zip(nodes) {
            archive.add(member, &[num_nodes], mask(&[node], num_nodes).into_iter().map(u8::from))?;
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn both_tables_are_read() {
    let (_outer, folder) = folder(TOY_EDGES, TOY_NODES);
    assert!(is_here(&folder) && !is_here(folder.parent().unwrap()));
    let dataset = load(&folder).unwrap();
    assert_eq!(dataset.name(), "toy");
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    let expected = Mat::from_slice(3, 3, &[0.0, 0.0, 0.0, 0.0, 1.5, 0.0, -2.0, 0.0, 1e-3]);
    assert_eq!(dataset.features(), &Features::from_dense(expected));
    assert_eq!([0, 1, 2].map(|node| dataset.labels().get(node)), [Some(1), Some(0), None]);
    let directed = read(&folder, &LoadOptions::directed(true)).unwrap();
    assert_eq!(directed.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 1)]);
}

#[test]
fn features_may_be_the_columns_of_ones() {
    let nodes = "node_id\tfeature(feature_amount:9)\tlabel\n0\t9,2,2\t0\n1\t\t1\n";
    let (_outer, folder) = folder("node_id\tnode_id\n", nodes);
    let dataset = load(&folder).unwrap();
    assert_eq!(dataset.features().dim(), 10);
    assert_eq!(dataset.features().row_nonzeros(0), [(2, 1.0), (9, 1.0)]);
    assert_eq!(dataset.features().row_nonzeros(1), []);
}

#[test]
fn splits_are_found_in_three_places_in_the_order_of_their_numbers() {
    let nodes = "node_id\tfeature\tlabel\n0\t1\t0\n1\t1\t1\n2\t1\t0\n";
    for place in ["data/toy", "data/splits", "splits"] {
        let (outer, folder) = folder(TOY_EDGES, nodes);
        let splits = outer.path().join(place);
        fs::create_dir_all(&splits).unwrap();
        for number in [10, 2] {
            let first = number % 3;
            let path = splits.join(format!("toy_split_0.6_0.2_{number}.npz"));
            write_split(&path, 3, [first, (first + 1) % 3, (first + 2) % 3]);
        }
        fs::write(splits.join("other_split_0.6_0.2_0.npz"), b"not ours").unwrap();
        let dataset = load(&folder).unwrap();
        let first: Vec<_> = dataset.splits().iter().map(|split| split.train[0]).collect();
        assert_eq!(first, [2, 1], "{place}");
    }
}

#[test]
fn bad_splits_are_named() {
    let (_outer, folder) = folder(TOY_EDGES, TOY_NODES);
    let path = folder.join("toy_split_0.6_0.2_0.npz");
    write_split(&path, 4, [0, 1, 2]);
    let error = load(&folder).unwrap_err().to_string();
    let expected =
        "toy_split_0.6_0.2_0.npz: member train_mask: the array has shape [4], expected [3]\n  hint: ";
    assert!(error.contains(expected), "{error}");
    ArchiveWriter::create(&path, |archive| archive.add("other", &[1], [0u8])).unwrap();
    let error = load(&folder).unwrap_err().to_string();
    assert!(error.contains("toy_split_0.6_0.2_0.npz: there is no split in this file\n  hint: "), "{error}");
    fs::write(&path, b"no archive").unwrap();
    let error = load(&folder).unwrap_err().to_string();
    assert!(error.contains("toy_split_0.6_0.2_0.npz: this is not a whole .npz file"), "{error}");
}

#[test]
fn bad_lines_are_named_with_a_remedy() {
    let edges = |line: &str| error(&format!("node_id\tnode_id\n0\t1\n{line}\n"), TOY_NODES);
    let nodes =
        |line: &str| error("node_id\tnode_id\n", &format!("node_id\tfeature\tlabel\n0\t1,2\t0\n{line}\n"));
    for (found, expected) in [
        (edges("0\t3"), "toy/out1_graph_edges.txt: line 3: node 3 out of range (num_nodes = 3)\n  hint: "),
        (edges("0\t-1"), "toy/out1_graph_edges.txt: line 3: \"-1\" is not a node number\n  hint: "),
        (edges("0 1"), "toy/out1_graph_edges.txt: line 3: 1 columns, expected 2: two node numbers\n  hint: "),
        (edges("0\t1\t2"), "toy/out1_graph_edges.txt: line 3: 3 columns, expected 2"),
        (nodes("0\t1,2\t0"), "toy/out1_node_feature_label.txt: line 3: node 0 comes twice\n  hint: "),
        (
            nodes("2\t1,2\t0"),
            "toy/out1_node_feature_label.txt: line 3: node 2 out of range (num_nodes = 2)\n  hint: ",
        ),
        (
            nodes("1\t1,2,3\t0"),
            "toy/out1_node_feature_label.txt: line 3: 3 features, but the first node has 2\n  hint: ",
        ),
        (nodes("1\t1,x\t0"), "toy/out1_node_feature_label.txt: line 3: \"x\" is not a number\n  hint: "),
        (nodes("1\t1,nan\t0"), "toy/out1_node_feature_label.txt: line 3: feature 1 is NaN\n  hint: "),
        (
            nodes("1\t1,2\ta"),
            "toy/out1_node_feature_label.txt: line 3: \"a\" is not a class number\n  hint: ",
        ),
        (
            nodes("1\t1,2\t99"),
            "toy/out1_node_feature_label.txt: class number 99 is larger than the number of nodes",
        ),
        (error("0\t1\n", TOY_NODES), "toy/out1_graph_edges.txt: line 1: the heading is missing\n  hint: "),
        (error(TOY_EDGES, ""), "toy/out1_node_feature_label.txt: line 1: the file is empty\n  hint: "),
        (error("node_id\tnode_id\n", "node_id\tfeature\tlabel\n"), "toy: the graph has no nodes\n  hint: "),
        (
            error(TOY_EDGES, "node_id\tfeature(feature_amount:3)\tlabel\n0\t4\t0\n"),
            "toy/out1_node_feature_label.txt: line 2: column 4 out of range (columns = 4)\n  hint: ",
        ),
        (
            error(TOY_EDGES, "node_id\tfeature(feature_amount:many)\tlabel\n0\t4\t0\n"),
            "toy/out1_node_feature_label.txt: line 1: the heading has no number after `feature_amount:`\n  hint: ",
        ),
    ] {
        assert!(found.starts_with(expected), "{found}\nexpected: {expected}");
    }
}

#[test]
fn missing_files_and_other_bytes_are_named() {
    let (_outer, folder) = folder(TOY_EDGES, TOY_NODES);
    fs::write(folder.join(EDGES), b"node_id\tnode_id\n\xff\xfe\t1\n").unwrap();
    let error = load(&folder).unwrap_err().to_string();
    assert!(error.contains("out1_graph_edges.txt: line 2: this is not text in UTF-8\n  hint: "), "{error}");
    for (file, other) in [(NODES, EDGES), (EDGES, NODES)] {
        let (_outer, folder) = self::folder(TOY_EDGES, TOY_NODES);
        fs::remove_file(folder.join(file)).unwrap();
        assert!(is_here(&folder), "{other} is still there");
        let error = load(&folder).unwrap_err().to_string();
        assert!(error.contains(&format!("toy/{file}: this file is missing\n  hint: ")), "{error}");
    }
}

fn dataset(features: Features, weights: Option<&[f32]>) -> Dataset {
    let (graph, repairs) = Graph::build(4, &[(1, 0), (2, 1), (1, 2)], weights, true).unwrap();
    Dataset::new(DatasetParts {
        name: "toy".into(),
        graph,
        repairs,
        features,
        labels: Labels::from_numbers(&[0, 1, -1, 1]).unwrap(),
        node_ids: None,
        splits: vec![
            Split { train: vec![0], val: vec![1], test: vec![3] },
            Split { train: vec![3], val: vec![0], test: vec![1] },
        ],
        details: Default::default(),
    })
    .unwrap()
}

#[test]
fn what_is_written_is_read() {
    let dense = Features::from_dense(Mat::from_fn(4, 3, |r, c| (r as f32 - 1.0) / (c as f32 + 3.0)));
    let sparse =
        Features::from_dense(Mat::from_fn(4, 9, |r, c| if r == c { f32::MIN_POSITIVE } else { 0.0 }));
    for features in [dense, sparse, Features::none(4)] {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("new").join("toy");
        let dataset = dataset(features, None);
        write(&dataset, &folder).unwrap();
        let again = read(&folder, &LoadOptions::directed(true)).unwrap();
        assert_eq!(again.name(), dataset.name());
        assert_eq!(again.graph(), dataset.graph());
        assert_eq!(again.features(), dataset.features());
        assert_eq!(again.labels(), dataset.labels());
        assert_eq!(again.splits(), dataset.splits());
        let fewer = dataset.with_splits(vec![]).unwrap();
        write(&fewer, &folder).unwrap();
        assert!(load(&folder).unwrap().splits().is_empty(), "the old splits are gone");
    }
}

#[test]
fn weights_are_not_lost_silently() {
    let outer = tempfile::tempdir().unwrap();
    let weighted = dataset(Features::none(4), Some(&[1.0, 2.0, 3.0]));
    let error = write(&weighted, &outer.path().join("toy")).unwrap_err().to_string();
    assert!(
        error.contains("edge weights, which Geom-GCN files cannot hold\n  hint: write an .npz"),
        "{error}"
    );
    assert!(!outer.path().join("toy").exists());
}
