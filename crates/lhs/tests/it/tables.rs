//! Plain tables from users: what is understood, what is refused and how.

use std::fs;
use std::path::Path;

use lhs::graph::{Dataset, DatasetParts, Features, Graph, Labels, Split};
use lhs::io::{self, LoadOptions, tables};
use lhs::linalg::{Mat, SparseMat};
use proptest::prelude::*;
use tempfile::TempDir;

const UNDIRECTED: LoadOptions = LoadOptions {
    directed: false,
    header: None,
    repeated_edges: tables::RepeatedEdges::Sum,
    label_column: None,
};

/// A folder with these tables.
fn folder(tables: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in tables {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn load(tables: &[(&str, &str)]) -> Result<Dataset, String> {
    let tables: Vec<(&str, &[u8])> = tables.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    load_bytes(&tables)
}

/// Loads the tables; an error is told without the temporary folder.
fn load_bytes(tables: &[(&str, &[u8])]) -> Result<Dataset, String> {
    let folder = folder(tables);
    let prefix = format!("{}/", folder.path().display());
    io::load(folder.path(), &UNDIRECTED).map_err(|error| error.to_string().replace(&prefix, ""))
}

#[track_caller]
fn refused(tables: &[(&str, &str)], message: &str) {
    let error = load(tables).expect_err("this should be refused");
    assert!(error.starts_with(message), "{error}");
}

fn edges(dataset: &Dataset) -> Vec<(u32, u32)> {
    dataset.graph().edges().collect()
}

#[test]
fn four_tables_make_a_dataset() {
    let dataset = load(&[
        ("edges.csv", "source,target,weight\na,b,0.5\nb,c,2\n"),
        ("features.csv", "node,age,size\nc,1,2\na,3,4\nb,5,6\n"),
        ("labels.csv", "node,label\na,red\nb,blue\nc,\n"),
        ("splits.csv", "split,node,part\n0,a,train\n0,b,val\n"),
    ]);
    // A split without a test part is refused, by the file that holds it.
    assert!(dataset.unwrap_err().starts_with("splits.csv: split 0: the test part of the split is empty"));
    let dataset = load(&[
        ("edges.csv", "source,target,weight\na,b,0.5\nb,c,2\n"),
        ("features.csv", "node,age,size\nc,1,2\na,3,4\nb,5,6\nd,7,8\n"),
        ("labels.csv", "node,label\na,red\nb,blue\nc,red\nd,\n"),
        ("splits.csv", "split,node,part\n10,a,train\n10,b,val\n10,c,test\n9,c,train\n9,b,val\n9,a,test\n"),
    ])
    .unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["c", "a", "b", "d"]);
    assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), [(0, 2, 2.0), (1, 2, 0.5)]);
    assert_eq!(dataset.features().row_nonzeros(1), [(0, 3.0), (1, 4.0)]);
    assert_eq!(dataset.labels().names(), ["blue", "red"]);
    assert_eq!(dataset.labels().get(3), None);
    assert_eq!(dataset.splits()[0], Split { train: vec![0], val: vec![2], test: vec![1] });
    assert_eq!(dataset.splits()[1].train, [1]);
    assert!(dataset.warnings().contains(&"1 node has no edges".to_string()));
}

#[test]
fn edges_alone_are_enough() {
    for text in ["0,1\n1,2\n", "source\ttarget\n0\t1\n1\t2\n", "# SNAP\r\n0 1\r\n1 2\r\n", "x;y\n0;1\n1;2"] {
        let dataset = load(&[("edges.tsv", text)]).unwrap();
        assert_eq!((edges(&dataset), dataset.node_ids()), (vec![(0, 1), (1, 2)], None), "{text:?}");
        assert_eq!((dataset.num_classes(), dataset.features().dim()), (0, 0));
    }
    let folder = folder(&[("friends.csv", b"ann,bob\nbob,cy\n")]);
    let dataset = io::load(folder.path().join("friends.csv"), &UNDIRECTED).unwrap();
    assert_eq!((dataset.name(), dataset.node_id(2)), ("friends", "cy".to_string()));
}

#[test]
fn direction_is_kept_on_demand() {
    let folder = folder(&[("edges.csv", b"1,0\n0,1\n2,1\n")]);
    let dataset = io::load(folder.path(), &LoadOptions::directed(true)).unwrap();
    assert_eq!(edges(&dataset), [(0, 1), (1, 0), (2, 1)]);
    let dataset = io::load(folder.path(), &UNDIRECTED).unwrap();
    assert_eq!(edges(&dataset), [(0, 1), (1, 2)]);
    assert_eq!(dataset.warnings()[0], "1 duplicate edge dropped");
}

#[test]
fn whole_numbers_are_ordered_by_value() {
    let dataset = load(&[("edges.csv", "30,7\n7,100\n"), ("labels.csv", "100,10\n7,9\n30,9\n")]).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["7", "30", "100"]);
    assert_eq!(edges(&dataset), [(0, 1), (0, 2)]);
    assert_eq!(dataset.labels().names(), ["9", "10"]);
    assert_eq!(dataset.labels().get(2), Some(1));
}

#[test]
fn spreadsheets_leave_marks_that_do_not_matter() {
    let dataset = load(&[
        ("edges.csv", "\u{feff}source;target\r\n\"Smith, J.\";Müller\r\n"),
        ("labels.csv", "\u{feff}node,label\r\n\"Smith, J.\",x\r\nMüller,y\r\n"),
    ])
    .unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["Smith, J.", "Müller"]);
    assert_eq!(edges(&dataset), [(0, 1)]);
}

#[test]
fn the_long_form_may_leave_nodes_out() {
    let dataset =
        load(&[("edges.csv", "0,1\n1,2\n"), ("features.csv", "node,column,value\n2,4,1.5\n0,0,1\n0,0,1\n")])
            .unwrap();
    assert_eq!(dataset.features().dim(), 5);
    assert_eq!(dataset.features().row_nonzeros(2), [(4, 1.5)]);
    assert_eq!(dataset.features().nonzeros(), 2);
}

#[test]
fn missing_and_empty_files_are_named() {
    let error = io::load(Path::new("/nowhere/at/all"), &UNDIRECTED).unwrap_err();
    assert!(error.can_be_mended());
    let files = tables::TableFiles { edges: "/nowhere/edges.csv".into(), ..Default::default() };
    let error = tables::read_files(&files, &UNDIRECTED).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /nowhere/edges.csv"), "{error}");
    refused(&[("edges.csv", "")], "edges.csv: the table is empty");
    refused(&[("edges.csv", "# only a comment\n\n")], "edges.csv: the table is empty");
    refused(&[("edges.csv", "source,target\n")], "edges.csv: the graph has no nodes");
    refused(&[("edges.csv", "0,1\n"), ("features.csv", "")], "features.csv: the table is empty");
    refused(
        &[("edges.csv", "0,1\n"), ("features.csv", "node,f1\n")],
        "features.csv: the table has a header and no rows",
    );
    refused(&[("edges.csv", "0,1\n"), ("labels.csv", "\n")], "labels.csv: the table is empty");
}

#[test]
fn the_number_of_columns_is_checked() {
    refused(&[("edges.csv", "0,1\n1\n")], "edges.csv: line 2: found 1 column instead of 2");
    refused(&[("edges.csv", "# c\n0,1,1,1\n")], "edges.csv: line 2: found 4 columns instead of 2");
    refused(&[("edges.csv", "0\n1\n")], "edges.csv: line 1: found 1 column instead of 2");
    refused(
        &[("edges.csv", "0,1\n"), ("features.csv", "node,a,b\n0,1,2\n1,2\n")],
        "features.csv: line 3: found 2 columns instead of 3",
    );
    refused(
        &[("edges.csv", "0,1\n"), ("labels.csv", "node,label\n0,a,b\n")],
        "labels.csv: line 2: found 3 columns instead of 2",
    );
}

#[test]
fn numbers_must_be_numbers() {
    refused(
        &[("edges.csv", "0,1,2\n1,2,much\n")],
        "edges.csv: line 2, column 3: the weight `much` is not a finite",
    );
    refused(
        &[("edges.csv", "0,1,2\n1,2,inf\n")],
        "edges.csv: line 2, column 3: the weight `inf` is not a finite",
    );
    refused(
        &[("edges.csv", "0,1,2\n1,2,-1\n")],
        "edges.csv: line 2, column 3: the weight -1 is not positive",
    );
    refused(
        &[("edges.csv", "source,target,kind\n0,1,friend\n")],
        "edges.csv: line 1, column 3: column `kind` is not understood",
    );
    for bad in ["NaN", "inf", "", "1e99", "red"] {
        let features = format!("node,a,b\n0,1,2\n1,3,{bad}\n");
        let message = format!("features.csv: line 3, column 3: the feature `{bad}` is not a finite number");
        refused(&[("edges.csv", "0,1\n"), ("features.csv", &features)], &message);
    }
    refused(
        &[("edges.csv", "0,1\n"), ("features.csv", "node,column,value\n0,age,1\n")],
        "features.csv: line 2, column 2: `age` is not a column number",
    );
}

#[test]
fn a_node_described_twice_must_be_described_alike() {
    let edge = ("edges.csv", "0,1\n");
    refused(
        &[edge, ("features.csv", "node,a\n0,1\n1,2\n0,3\n")],
        "features.csv: line 4, column 1: node `0` has a second row with other features",
    );
    refused(
        &[edge, ("features.csv", "node,column,value\n1,7,1\n1,7,2\n")],
        "features.csv: column 7 of node `1` is both 1 and 2",
    );
    refused(
        &[edge, ("labels.csv", "node,label\n0,a\n1,b\n0,b\n")],
        "labels.csv: line 4, column 2: node `0` has another label further up",
    );
    let alike = [edge, ("features.csv", "node,a\n0,1\n1,2\n0,1\n"), ("labels.csv", "0,a\n0,a\n1,b\n")];
    assert_eq!(load(&alike).unwrap().num_nodes(), 2);
}

#[test]
fn dense_features_must_cover_every_node() {
    refused(
        &[("edges.csv", "ann,bob\nbob,cy\ncy,di\n"), ("features.csv", "node,a\nbob,1\nann,1\n")],
        "features.csv: 2 nodes of the other tables have no row here, the first is `cy`",
    );
    refused(
        &[("edges.csv", "0,1\n"), ("features.csv", "0,0.5\n1,0.5\n")],
        "features.csv: line 1, column 1: the header is missing",
    );
    // A node with features and no edge is isolated, not wrong.
    assert_eq!(
        load(&[("edges.csv", "0,1\n"), ("features.csv", "node,a\n0,1\n1,1\n2,1\n")]).unwrap().num_nodes(),
        3
    );
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let error = load_bytes(&[("edges.csv", b"a,b\nb,M\xfcller\n")]).unwrap_err();
    assert!(error.starts_with("edges.csv: line 2: the text is not UTF-8"), "{error}");
    refused(&[("edges.csv", "a,b\nb,c\n,c\n")], "edges.csv: line 3, column 1: the name of the node is empty");
}

#[test]
fn splits_must_name_nodes_and_parts() {
    let tables = [("edges.csv", "0,1\n1,2\n"), ("labels.csv", "0,a\n1,b\n2,a\n")];
    let with = |splits: &'static str| [tables[0], tables[1], ("splits.csv", splits)];
    refused(
        &with("0,0,train\n0,1,tset\n"),
        "splits.csv: line 2, column 3: `tset` is not a part of a split\n  hint: did you mean `test`?",
    );
    refused(
        &with("0,0,train\n0,9,val\n"),
        "splits.csv: line 2, column 2: no other table mentions the node `9`",
    );
    refused(&with("0,0,train\n0,1,val\n0,0,test\n"), "splits.csv: split 0: node 0 is in train and in test");
    refused(&with("split,node,part\n"), "splits.csv: the table has a header and no rows");
}

/// Everything that tables keep.
#[track_caller]
fn assert_same(a: &Dataset, b: &Dataset) {
    assert_eq!(a.graph(), b.graph());
    assert_eq!(a.features(), b.features());
    assert_eq!(a.labels(), b.labels());
    assert_eq!(a.node_ids(), b.node_ids());
    assert_eq!(a.splits(), b.splits());
}

fn round_trip(dataset: &Dataset) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    tables::write(dataset, folder.path()).unwrap();
    tables::read(folder.path(), &LoadOptions::directed(dataset.graph().is_directed())).unwrap()
}

#[test]
fn writing_replaces_older_tables() {
    let full = load(&[("edges.csv", "0,1\n"), ("features.csv", "node,a\n0,1\n1,2\n")]).unwrap();
    let bare = load(&[("edges.csv", "0,1\n")]).unwrap();
    let folder = folder(&[("edges.tsv", b"5,6\n"), ("notes.txt", b"mine")]);
    tables::write(&full, folder.path()).unwrap();
    assert_same(&tables::read(folder.path(), &UNDIRECTED).unwrap(), &full);
    tables::write(&bare, folder.path()).unwrap();
    assert_same(&tables::read(folder.path(), &UNDIRECTED).unwrap(), &bare);
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["edges.csv", "labels.csv", "notes.txt"]);
}

#[test]
fn a_failed_write_leaves_the_old_tables() {
    let old = load(&[("edges.csv", "0,1\n")]).unwrap();
    let folder = folder(&[]);
    tables::write(&old, folder.path()).unwrap();
    let broken = Dataset::new(DatasetParts {
        node_ids: Some(vec!["a\nb".into(), "c".into()]),
        ..old.clone().into_parts()
    });
    assert!(tables::write(&broken.unwrap(), folder.path()).unwrap_err().to_string().contains("line break"));
    assert_same(&tables::read(folder.path(), &UNDIRECTED).unwrap(), &old);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

fn any_dataset() -> impl Strategy<Value = Dataset> {
    let ids = prop::collection::btree_set("[ -~éß]{1,6}", 6..20);
    let edges = prop::collection::vec((0u32..100, 0u32..100, 1u8..9), 0..60);
    (ids, edges, any::<[bool; 4]>(), any::<u64>()).prop_map(
        |(ids, edges, [named, directed, weighted, sparse], seed)| {
            let ids: Vec<String> = ids.into_iter().collect();
            let n = ids.len();
            let pairs: Vec<_> = edges.iter().map(|&(a, b, _)| (a % n as u32, b % n as u32)).collect();
            let weights: Vec<f32> = edges.iter().map(|&(_, _, w)| f32::from(w) / 3.0).collect();
            let (graph, repairs) = Graph::build(n, &pairs, weighted.then_some(&weights), directed).unwrap();
            let features = if sparse {
                let entries =
                    edges.iter().map(|&(a, b, w)| (a % n as u32, b % 40, f32::from(w) / 7.0)).collect();
                Features::from_sparse(SparseMat::from_triplets(n, 40, entries))
            } else {
                Features::from_dense(Mat::from_fn(n, 3, |r, c| (r as f32 + 0.1) * (c as f32 - 1.5)))
            };
            let classes = (0..n as u32).map(|node| (node != 5).then_some(node % 2)).collect();
            let labels = Labels::new(classes, vec!["a,b".into(), "c \"d\"".into()]).unwrap();
            let splits = (0..2).map(|k| Split::random(&labels, 0.4, 0.3, 0.3, seed ^ k).unwrap());
            let splits = splits.filter(|split| split.validate(&labels).is_ok()).collect();
            let node_ids = named.then_some(ids);
            Dataset::new(DatasetParts {
                name: "any".into(),
                graph,
                repairs,
                features,
                labels,
                node_ids,
                splits,
                details: Default::default(),
            })
            .unwrap()
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(dataset in any_dataset()) {
        // Whole numbers as names would be sorted on the way back.
        prop_assume!(dataset.node_ids().is_none_or(|ids| ids.iter().any(|id| id.parse::<i64>().is_err())));
        assert_same(&dataset, &round_trip(&dataset));
    }
}

/// Ten text ids in a ring, under a header.
fn ring(header: &str) -> String {
    let id = |n: usize| format!("user-{}", n % 10);
    let rows: String = (0..10).map(|n| format!("{},{}\n", id(n), id(n + 1))).collect();
    format!("{header}\n{rows}")
}

#[test]
fn a_header_is_never_taken_for_a_node() {
    for header in ["user_a,user_b", "from_id,to_id", "id_1,id_2", "buyer,seller", "source,target"] {
        let dataset = load(&[("edges.csv", &ring(header))]).unwrap();
        assert_eq!(dataset.num_nodes(), 10, "{header}");
        let said = dataset.warnings().iter().any(|warning| warning.contains(header));
        assert_eq!(said, header != "source,target", "what was decided by comparison is said: {header}");
    }
    // The same ids as whole numbers.
    let numbers = ring("id_1,id_2").replace("user-", "");
    assert_eq!(load(&[("edges.csv", &numbers)]).unwrap().num_nodes(), 10);
    // An edge is no header: its ends occur again.
    let data = ring("user-3,user-7");
    assert_eq!(load(&[("edges.csv", &data)]).unwrap().graph().num_edges(), 11);
}

#[test]
fn a_header_is_never_taken_for_a_class() {
    let edges = ring("source,target");
    let labels = |header: &str, class: fn(usize) -> &'static str| {
        let rows: String = (0..10).map(|n| format!("user-{n},{}\n", class(n))).collect();
        format!("{header}\n{rows}")
    };
    let flags = labels("account,is_fraud", |n| if n % 3 == 0 { "1" } else { "0" });
    let topics = labels("paper,subject", |n| if n % 3 == 0 { "physics" } else { "biology" });
    for (text, classes) in [(flags, ["0", "1"]), (topics, ["biology", "physics"])] {
        let dataset = load(&[("edges.csv", &edges), ("labels.csv", &text)]).unwrap();
        assert_eq!(
            (dataset.num_nodes(), dataset.labels().names()),
            (10, &classes.map(String::from)[..]),
            "{text}"
        );
    }
    // Without a header, all rows are data.
    let bare = labels("user-0,physics", |n| if n % 3 == 0 { "physics" } else { "biology" });
    assert_eq!(load(&[("edges.csv", &edges), ("labels.csv", &bare)]).unwrap().num_nodes(), 10);
}

#[test]
fn in_doubt_about_a_header_the_user_is_asked() {
    // Four pairs without a node in common: the first could be a header as well as an edge.
    let pairs = "ann,bob\ncy,dee\neve,fay\ngus,hal\n";
    refused(&[("edges.csv", pairs)], "edges.csv: line 1: is `ann,bob` a header or data?");
    let folder = folder(&[("edges.csv", pairs.as_bytes())]);
    for (header, edges) in [(true, 3), (false, 4)] {
        let options = LoadOptions { header: Some(header), ..UNDIRECTED };
        assert_eq!(io::load(folder.path(), &options).unwrap().graph().num_edges(), edges);
    }
    // Well-known names that are ids of another table are neither taken for a header nor for data.
    let labels = "node,label\nsource,1\ntarget,2\nc,1\n";
    refused(
        &[("edges.csv", "source,target\ntarget,c\n"), ("labels.csv", labels)],
        "edges.csv: line 1: is `source,target`",
    );
}

#[test]
fn the_order_of_named_columns_is_respected() {
    let folder = folder(&[("edges.csv", b"target,source,weight\nb,a,2\nc,b,3\n")]);
    let dataset = io::load(folder.path(), &LoadOptions::directed(true)).unwrap();
    let named: Vec<(String, String)> = dataset
        .graph()
        .edges()
        .map(|(a, b)| (dataset.node_id(a as usize), dataset.node_id(b as usize)))
        .collect();
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    assert_eq!(
        named.into_iter().collect::<std::collections::BTreeSet<_>>(),
        [pair("a", "b"), pair("b", "c")].into()
    );
}

#[test]
fn weights_of_repeated_edges_are_added_unless_asked_otherwise() {
    let text = "source,target,weight\na,b,1\nb,a,2\na,c,5\na,b,4\n";
    let folder = folder(&[("edges.csv", text.as_bytes())]);
    let weights = |repeated_edges, directed| {
        let options = LoadOptions { repeated_edges, directed, ..LoadOptions::default() };
        let dataset = io::load(folder.path(), &options).unwrap();
        let said = dataset
            .warnings()
            .iter()
            .any(|warning| warning.contains("repeat an edge") || warning.contains("repeats an edge"));
        assert!(said, "{:?}", dataset.warnings());
        dataset.graph().weighted_edges().map(|(_, _, weight)| weight).collect::<Vec<f32>>()
    };
    use tables::RepeatedEdges::{First, Max, Mean, Sum};
    assert_eq!(weights(Sum, false), [7.0, 5.0]);
    assert_eq!(weights(Mean, false), [7.0 / 3.0, 5.0]);
    assert_eq!(weights(Max, false), [4.0, 5.0]);
    assert_eq!(weights(First, false), [1.0, 5.0]);
    assert_eq!(weights(Sum, true), [5.0, 5.0, 2.0], "a,b and b,a are two edges");
}
