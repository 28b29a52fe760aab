//! Archives in the layouts of others, and our own with members left out.

use super::*;

/// The bytes of an array of texts: `<U3`.
fn texts(names: &[&str]) -> Vec<u8> {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(1);
    let data = names.iter().flat_map(|name| {
        let codes = name.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        codes.flat_map(u32::to_le_bytes)
    });
    raw(&format!("'<U{width}'"), &format!("({},)", names.len()), &data.collect::<Vec<_>>())
}

fn raw(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// What `numpy.savez(a=numpy.array(["x", "yé", "x"], dtype=object))` pickles.
const PICKLED: &[u8] = b"\x80\x04\x95\x96\0\0\0\0\0\0\0\x8c\x16numpy._core.multiarray\x94\x8c\x0c_reconstruct\x94\x93\x94\x8c\x05numpy\x94\
    \x8c\x07ndarray\x94\x93\x94K\0\x85\x94C\x01b\x94\x87\x94R\x94(K\x01K\x03\x85\x94h\x03\x8c\x05dtype\x94\x93\x94\x8c\x02O8\x94\x89\x88\x87\x94R\x94\
    (K\x03\x8c\x01|\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?t\x94b\x89]\x94(\x8c\x01x\x94\x8c\x03y\xc3\xa9\x94h\x13et\x94b.";

type Members = Vec<(&'static str, Vec<u8>)>;

fn changed(mut members: Members, name: &'static str, bytes: Option<Vec<u8>>) -> Members {
    members.retain(|member| member.0 != name);
    members.extend(bytes.map(|bytes| (name, bytes)));
    members
}

fn load_members(members: &Members, options: &LoadOptions) -> Result<Dataset> {
    let (_folder, path) = archive(members);
    crate::io::load(&path, options)
}

fn nettack() -> Members {
    vec![
        ("adj_data", array(&[4], [1f32; 4])),
        ("adj_indices", array(&[4], [1i32, 0, 2, 1])),
        ("adj_indptr", array(&[4], [0i32, 1, 3, 4])),
        ("adj_shape", array(&[2], [3i64, 3])),
        ("attr_data", array(&[2], [1f32, 2.0])),
        ("attr_indices", array(&[2], [3i32, 0])),
        ("attr_indptr", array(&[4], [0i32, 1, 1, 2])),
        ("attr_shape", array(&[2], [3i64, 9])),
        ("labels", array(&[3], [0i64, 1, 1])),
        ("node_names", texts(&["a", "bé", "ccc"])),
        ("class_names", texts(&["IR", "ML"])),
    ]
}

#[test]
fn archives_of_nettack_and_deeprobust_are_read() {
    let dataset = load_members(&nettack(), &LoadOptions::as_is(true)).unwrap();
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    assert_eq!((dataset.graph().is_directed(), dataset.graph().weights()), (false, None));
    assert_eq!((dataset.features().dim(), dataset.features().row_nonzeros(2)), (9, vec![(0, 2.0)]));
    assert_eq!(
        (dataset.labels().names(), dataset.labels().get(2)),
        (&["IR".to_string(), "ML".to_string()][..], Some(1))
    );
    assert_eq!(dataset.node_ids().unwrap(), ["a", "bé", "ccc"]);
}

#[test]
fn pickled_names_are_read_without_running_anything() {
    let members = changed(nettack(), "node_names", Some(raw("'|O'", "(3,)", PICKLED)));
    // They are the same for two of the nodes, which shows that they were read.
    let error = load_members(&members, &LoadOptions::as_is(false)).unwrap_err().to_string();
    assert!(error.contains("two nodes are called `x`"), "{error}");
    let code = raw("'|O'", "(3,)", b"\x80\x02cos\nsystem\nU\x04true\x85R.");
    let dataset =
        load_members(&changed(nettack(), "node_names", Some(code)), &LoadOptions::as_is(false)).unwrap();
    assert_eq!(dataset.node_ids(), None);
    assert!(
        dataset.warnings()[0].starts_with("node_names is left out: the array holds pickled Python objects")
    );
}

#[test]
fn dots_and_dense_features_are_understood() {
    let dotted = |name: &'static str| match name {
        "adj_data" => "adj_matrix.data",
        "adj_indices" => "adj_matrix.indices",
        "adj_indptr" => "adj_matrix.indptr",
        "adj_shape" => "adj_matrix.shape",
        other => other,
    };
    let members =
        nettack().into_iter().filter(|(name, _)| !name.starts_with("attr_") && *name != "node_names");
    let mut members: Members = members.map(|(name, bytes)| (dotted(name), bytes)).collect();
    members.push(("attr_matrix", array(&[3, 2], [1f32, 2.0, 3.0, 4.0, 5.0, 6.0])));
    members.push(("attr_names", texts(&["age", "posts"])));
    let dataset = load_members(&members, &LoadOptions::as_is(false)).unwrap();
    assert_eq!(
        (dataset.graph().num_edges(), dataset.feature_names().unwrap()),
        (2, &["age".to_string(), "posts".to_string()][..])
    );
}

#[test]
fn an_asymmetric_matrix_has_direction() {
    let members = changed(nettack(), "node_names", None);
    let members = changed(members, "adj_indices", Some(array(&[4], [1i32, 0, 2, 0])));
    assert_eq!(load_members(&members, &LoadOptions::as_is(false)).unwrap().graph().num_edges(), 3);
    let directed = load_members(&members, &LoadOptions::as_is(true)).unwrap();
    assert_eq!(directed.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 0), (1, 2), (2, 0)]);
}

#[test]
fn a_matrix_of_scipy_is_a_graph_alone() {
    let scipy = |format: &[u8]| -> Members {
        vec![
            ("indices", array(&[2], [1i32, 0])),
            ("indptr", array(&[4], [0i32, 1, 2, 2])),
            ("format", raw("'|S3'", "()", format)),
            ("shape", array(&[2], [3i64, 3])),
            ("data", array(&[2], [0.5f64, 0.5])),
        ]
    };
    for format in [b"csr", b"csc"] {
        let dataset = load_members(&scipy(format), &LoadOptions::as_is(false)).unwrap();
        assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), [(0, 1, 0.5)]);
        assert_eq!((dataset.num_nodes(), dataset.features().dim(), dataset.num_classes()), (3, 0, 0));
    }
    let error = load_members(&scipy(b"bsr"), &LoadOptions::as_is(false)).unwrap_err().to_string();
    assert!(error.contains("format \"bsr\" is not read\n  hint: save it as compressed rows"), "{error}");
    let mut coo = changed(changed(scipy(b"coo"), "indices", None), "indptr", None);
    coo.extend([("row", array(&[2], [2i32, 0])), ("col", array(&[2], [0i32, 1]))]);
    assert_eq!(load_members(&coo, &LoadOptions::as_is(false)).unwrap().graph().num_edges(), 2);
    let huge = changed(coo, "shape", Some(array(&[2], [1i64 << 31, 1 << 31])));
    assert!(
        load_members(&huge, &LoadOptions::as_is(false))
            .unwrap_err()
            .to_string()
            .contains("nodes, but only 2 entries")
    );
}

fn geometric() -> Members {
    vec![
        ("x", array(&[3, 2], [1f32, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("edge_index", array(&[2, 4], [0i64, 1, 1, 2, 1, 0, 2, 1])),
        ("y", array(&[3], [0i64, 1, 1])),
        ("train_mask", array(&[3, 2], [true, false, false, true, false, false])),
        ("val_mask", array(&[3, 2], [false, true, true, false, false, false])),
        ("test_mask", array(&[3, 2], [false, false, false, false, true, true])),
    ]
}

#[test]
fn arrays_of_pytorch_geometric_are_read() {
    let dataset = load_members(&geometric(), &LoadOptions::as_is(true)).unwrap();
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    assert!(!dataset.graph().is_directed());
    let splits = [
        Split { train: vec![0], val: vec![1], test: vec![2] },
        Split { train: vec![1], val: vec![0], test: vec![2] },
    ];
    assert_eq!(dataset.splits(), splits);
    let weighted = changed(geometric(), "edge_weight", Some(array(&[4], [1f32, 1.0, 2.0, 2.0])));
    let dataset = load_members(&weighted, &LoadOptions::as_is(false)).unwrap();
    assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 2, 2.0)]);
    let alone: Members = geometric().into_iter().filter(|(name, _)| *name == "edge_index").collect();
    let error = load_members(&alone, &LoadOptions::as_is(false)).unwrap_err().to_string();
    assert!(error.contains("neither x nor y say how many nodes there are"), "{error}");
    let counted = changed(alone, "num_nodes", Some(array(&[], [3i64])));
    assert_eq!(load_members(&counted, &LoadOptions::as_is(false)).unwrap().num_nodes(), 3);
}

#[test]
fn what_is_wrong_in_them_is_said_with_its_member() {
    for (members, name, bytes, expected) in [
        (
            nettack(),
            "adj_indices",
            array(&[4], [1i32, 0, 3, 1]),
            "member adj_indices: the entry in row 1, column 3 is outside",
        ),
        (
            nettack(),
            "adj_indices",
            array(&[3], [1i32, 0, 3]),
            "member adj_indices: the array has shape [3], expected [4]",
        ),
        (
            nettack(),
            "adj_indptr",
            array(&[4], [0i32, 3, 1, 4]),
            "member adj_indptr: the bounds of the rows do not ascend",
        ),
        (nettack(), "adj_indptr", array(&[3], [0i32, 3, 4]), "3 bounds do not make 3 rows"),
        (nettack(), "adj_shape", array(&[2], [3i64, 4]), "3 rows and 4 columns are no adjacency matrix"),
        (nettack(), "adj_shape", array(&[2], [-3i64, 4]), "is not a shape"),
        (nettack(), "adj_data", array(&[4], [1f32, -1.0, 1.0, 1.0]), "the entry from node 1 to node 0 is -1"),
        (nettack(), "adj_data", array(&[4], [1f32, f32::NAN, 1.0, 1.0]), "is NaN, which no weight"),
        (nettack(), "attr_shape", array(&[2], [4i64, 9]), "member attr_indptr: 4 bounds do not make 4 rows"),
        (nettack(), "attr_data", array(&[2], [1f32, f32::NAN]), "is NaN"),
        (nettack(), "labels", array(&[2], [0i64, 1]), "member labels: the array has shape [2], expected [3]"),
        (
            geometric(),
            "edge_index",
            array(&[4, 2], [0i64; 8]),
            "member edge_index: the array has shape [4, 2], expected [2, any]",
        ),
        (
            geometric(),
            "edge_index",
            array(&[2, 1], [0i64, 3]),
            "member edge_index: edge 0: node 3 out of range",
        ),
        (
            geometric(),
            "edge_weight",
            array(&[2], [1f32; 2]),
            "member edge_weight: the array has shape [2], expected [4]",
        ),
        (geometric(), "y", array(&[3, 4], [0i64; 12]), "member y: 4 answers per node"),
        (
            geometric(),
            "x",
            array(&[4, 1], [0f32; 4]),
            "member x: the array has shape [4, 1], expected [3, any]",
        ),
        (
            geometric(),
            "val_mask",
            array(&[2, 3], [true; 6]),
            "member val_mask: the array has shape [2, 3], expected [3, any]",
        ),
    ] {
        let error =
            load_members(&changed(members, name, Some(bytes)), &LoadOptions::as_is(false)).unwrap_err();
        assert!(
            error.can_be_mended() && error.to_string().contains(expected),
            "{error}\n  should say {expected}"
        );
    }
}

#[test]
fn our_own_layout_may_leave_features_and_labels_out() {
    let plain = LoadOptions::default();
    let without = |names: &[&str]| -> Members {
        members().into_iter().filter(|(name, _)| !names.contains(name)).collect()
    };
    assert_eq!(load_members(&without(&["node_features"]), &plain).unwrap().features().dim(), 0);
    let masks = ["train_masks", "val_masks", "test_masks"];
    let unlabelled = load_members(&without(&[&masks[..], &["node_labels"]].concat()), &plain).unwrap();
    assert_eq!((unlabelled.num_nodes(), unlabelled.num_classes()), (4, 0));
    let edges = without(&[&masks[..], &["node_labels", "node_features"]].concat());
    let error = load_members(&edges, &plain).unwrap_err().to_string();
    assert!(error.contains("neither node_labels, node_features nor node_ids say how many nodes"), "{error}");
    let ids = changed(edges.clone(), "node_ids", Some(array(&[17], *b"[\"a\",\"b\",\"c\",\"d\"]")));
    assert_eq!(load_members(&ids, &plain).unwrap().node_ids().unwrap(), ["a", "b", "c", "d"]);
    let hollow = changed(edges, "node_features", Some(array(&[1 << 40, 0], [0f32; 0])));
    assert!(load_members(&hollow, &plain).unwrap_err().to_string().contains("nodes, but only 3 entries"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn changed_members_of_others_never_panic(
        foreign in any::<bool>(),
        member in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut members = if foreign { nettack() } else { geometric() };
        let member = member.index(members.len());
        for (place, value) in changes {
            let place = place.index(members[member].1.len());
            members[member].1[place] = value;
        }
        let _ = load_members(&members, &LoadOptions::as_is(true));
    }
}
