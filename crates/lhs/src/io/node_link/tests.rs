use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn load_with(text: &[u8], options: &LoadOptions) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.json");
    fs::write(&path, text).unwrap();
    crate::io::load(&path, options)
}

fn load(document: &Json) -> Result<Dataset> {
    load_with(document.to_string().as_bytes(), &LoadOptions::as_is(false))
}

fn good() -> Json {
    json!({
        "directed": false, "multigraph": true, "graph": {},
        "nodes": [
            {"id": 7, "age": 31, "ok": true, "x": [0.5, 1], "y": 1, "town": "Ulm"},
            {"id": "b", "age": 2.5, "ok": false, "x": [0.0, 2], "y": 0, "town": null},
            {"id": [0, 1], "age": -1, "ok": true, "x": [0.25, 3]}
        ],
        "links": [
            {"source": 7, "target": "b", "key": 0, "weight": 2.0},
            {"source": "b", "target": 7, "key": 1, "weight": 0.5},
            {"source": [0, 1], "target": "b", "key": 0, "weight": 1, "since": 1999}
        ]
    })
}

#[test]
fn nodes_attributes_class_and_parallel_edges_are_read() {
    let dataset = load(&good()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["7", "b", "[0,1]"]);
    assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), [(0, 1, 2.5), (1, 2, 1.0)]);
    assert_eq!(dataset.feature_names().unwrap(), ["age", "ok", "x[0]", "x[1]"]);
    assert_eq!(dataset.features().row_nonzeros(0), [(0, 31.0), (1, 1.0), (2, 0.5), (3, 1.0)]);
    assert_eq!(dataset.labels().names(), ["0", "1"]);
    assert_eq!((dataset.labels().get(0), dataset.labels().get(2)), (Some(1), None));
    let notes = dataset.warnings().join("\n");
    for expected in ["1 edge is named again: weights were added", "left out: \"town\"", "left out: \"since\""]
    {
        assert!(notes.contains(expected), "{notes}");
    }
}

#[test]
fn plain_numbers_need_no_ids_and_edges_may_be_called_so() {
    let document =
        json!({"directed": true, "nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 1, "target": 0}]});
    let dataset = load_with(document.to_string().as_bytes(), &LoadOptions::as_is(true)).unwrap();
    assert_eq!((dataset.node_ids(), dataset.graph().weights()), (None, None));
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0)]);
}

#[test]
fn what_is_wrong_is_said() {
    let but = |pointer: &str, value: Json| {
        let mut document = good();
        *document.pointer_mut(pointer).unwrap() = value;
        document
    };
    for (document, expected) in [
        (but("/nodes/1/id", json!(7)), "two nodes are called \"7\""),
        (but("/nodes/1/id", json!(null)), "node 1 (counted from 0): `id` is not an id"),
        (but("/nodes/1", json!({"age": 3})), "node 1 (counted from 0) has no `id`"),
        (but("/nodes/1", json!(3)), "`nodes`: entry 1 (counted from 0) is not an object"),
        (but("/nodes", json!({})), "`nodes` is not a list"),
        (but("/links", json!(3)), "`links` is not a list"),
        (but("/nodes/1/age", json!(null)), "node \"b\" has no value for the attribute \"age\""),
        (but("/nodes/1/age", json!(1e300)), "node \"b\": \"age\" is not a finite number"),
        (but("/nodes/1/x", json!([1])), "node \"b\" has no value for the attribute \"x[1]\""),
        (but("/links/0/target", json!("zoe")), "\"zoe\" is not one of the nodes"),
        (but("/links/0", json!({"source": 7})), "edge 0 (counted from 0) has no `target`"),
        (
            but("/links/0/weight", json!("2")),
            "edge 0 (counted from 0): the weight \"\\\"2\\\"\" is not a number",
        ),
        (but("/links/0/weight", json!(0)), "has the weight 0"),
        (but("/nodes", json!([])), "is not one of the nodes"),
        (json!({"nodes": [], "links": []}), "the graph has no nodes"),
        (json!({"nodes": [], "links": [], "edges": []}), "there are `links` and `edges`"),
        (json!({"nodes": [], "adjacency": []}), "this is a graph in JSON, but not as `nodes` and `links`"),
    ] {
        let error = load(&document).unwrap_err();
        assert!(
            error.can_be_mended() && error.to_string().contains(expected),
            "{error}\n  should say {expected}"
        );
    }
    let text = good().to_string();
    let error =
        load_with(&text.as_bytes()[..text.len() - 3], &LoadOptions::as_is(false)).unwrap_err().to_string();
    assert!(error.contains("line 1: this is not JSON that can be read"), "{error}");
    let error =
        load_with(text.replace("31", "NaN").as_bytes(), &LoadOptions::as_is(false)).unwrap_err().to_string();
    assert!(error.contains("NaN and Infinity are not JSON"), "{error}");
    let deep = format!("{{\"nodes\": [], \"links\": {}", "[".repeat(100_000));
    assert!(load_with(deep.as_bytes(), &LoadOptions::as_is(false)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn changed_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = good().to_string().into_bytes();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = load_with(&bytes, &LoadOptions::as_is(true));
    }
}
