use std::fs;

use proptest::prelude::*;

use super::*;
use crate::io::export::{Column, Export, ExportFormat};
use crate::io::tables::ColumnNames;

/// As NetworkX writes it, with an attribute of every type.
const GOOD: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <key id="d4" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d3" for="node" attr.name="class" attr.type="string"/>
  <key id="d2" for="node" attr.name="town" attr.type="string"/>
  <key id="d1" for="node" attr.name="active" attr.type="boolean"><default>false</default></key>
  <key id="d0" for="node" attr.name="age" attr.type="long"/>
  <graph edgedefault="undirected">
    <node id="ann"><data key="d0">31</data><data key="d1">True</data><data key="d2">Ulm &amp; Bonn</data><data key="d3">chess</data></node>
    <node id="b&lt;ob"><data key="d0">58</data><data key="d3">rowing</data></node>
    <node id="cid"><data key="d0">-2</data></node>
    <edge source="ann" target="b&lt;ob"><data key="d4">2.5</data></edge>
    <edge source="cid" target="ann"><data key="d4">1.0</data></edge>
  </graph>
</graphml>
"#;

fn load_with(text: &[u8], options: &LoadOptions) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.graphml");
    fs::write(&path, text).unwrap();
    crate::io::load(&path, options)
}

fn load(text: &str) -> Result<Dataset> {
    load_with(text.as_bytes(), &LoadOptions::as_is(false))
}

fn error(text: &str) -> String {
    let error = load(text).unwrap_err();
    assert!(error.can_be_mended());
    let text = error.to_string();
    text[text.find("toy.graphml").unwrap()..].to_string()
}

#[test]
fn nodes_attributes_class_and_weights_are_read() {
    let dataset = load(GOOD).unwrap();
    assert_eq!(dataset.name(), "toy");
    assert_eq!(dataset.node_ids().unwrap(), ["ann", "b<ob", "cid"]);
    assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), [(0, 1, 2.5), (0, 2, 1.0)]);
    assert_eq!(dataset.feature_names().unwrap(), ["active", "age"]);
    assert_eq!(dataset.features().row_nonzeros(0), [(0, 1.0), (1, 31.0)]);
    assert_eq!(dataset.features().row_nonzeros(2), [(1, -2.0)]);
    assert_eq!(dataset.labels().names(), ["chess", "rowing"]);
    assert_eq!((dataset.labels().get(1), dataset.labels().get(2)), (Some(1), None));
    assert_eq!(dataset.warnings()[0], "texts are no features and are left out: \"town\"");
}

#[test]
fn direction_is_kept_if_asked_for() {
    let text = GOOD.replace("edgedefault=\"undirected\"", "edgedefault=\"directed\"");
    assert!(!load(&text).unwrap().graph().is_directed());
    let graph = load_with(text.as_bytes(), &LoadOptions::as_is(true)).unwrap();
    assert_eq!(graph.graph().edges().collect::<Vec<_>>(), [(0, 1), (2, 0)]);
    let one = GOOD.replace("<edge source=\"cid\"", "<edge directed=\"true\" source=\"cid\"");
    let graph = load_with(one.as_bytes(), &LoadOptions::as_is(true)).unwrap();
    assert_eq!(graph.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 0), (2, 0)]);
    assert!(!load_with(GOOD.as_bytes(), &LoadOptions::as_is(true)).unwrap().graph().is_directed());
}

#[test]
fn the_class_can_be_named() {
    let options = LoadOptions {
        columns: ColumnNames { label: Some("Town".into()), ..ColumnNames::default() },
        ..LoadOptions::as_is(false)
    };
    let dataset = load_with(GOOD.as_bytes(), &options).unwrap();
    assert_eq!(dataset.labels().names(), ["Ulm & Bonn"]);
    let options = LoadOptions {
        columns: ColumnNames { label: Some("nothing".into()), ..ColumnNames::default() },
        ..LoadOptions::as_is(false)
    };
    let error = load_with(GOOD.as_bytes(), &options).unwrap_err().to_string();
    assert!(
        error.contains("no attribute of the nodes is called \"nothing\"\n  hint: the nodes have "),
        "{error}"
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let but = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        error(&GOOD.replace(from, to))
    };
    for (message, expected) in [
        (but("<node id=\"cid\">", "<node id=\"ann\">"), "toy.graphml: line 11: two nodes are called \"ann\""),
        (but("<node id=\"cid\">", "<node>"), "line 11: a <node> has no `id`"),
        (
            but("source=\"cid\"", "source=\"dora\""),
            "\"dora\" is not one of the nodes, but an edge says so: from \"dora\" to \"ann\"",
        ),
        (but("<data key=\"d0\">-2</data>", ""), "node \"cid\" has no value for the attribute \"age\""),
        (but(">58<", ">NaN<"), "node \"b<ob\": \"age\" is not a finite number"),
        (but(">58<", ">1e300<"), "node \"b<ob\": \"age\" is not a finite number"),
        (but(">58<", ">old<"), "line 10: \"age\" is declared as \"long\", but has the value \"old\""),
        (but("True", "perhaps"), "\"active\" is declared as \"boolean\""),
        (but("2.5", "heavy"), "the weight \"heavy\" is not a number"),
        (
            but("2.5", "-1"),
            "the edge from \"ann\" to \"b<ob\" has the weight -1, which is not a positive number",
        ),
        (but("<data key=\"d4\">2.5</data>", ""), "has no weight, but others have one"),
        (
            but("<data key=\"d0\">58</data>", "<data key=\"d0\">58</data><data key=\"d0\">59</data>"),
            "has \"age\" twice",
        ),
        (but("</graphml>", ""), "line 16: the document ends too early"),
        (but("</graphml>", "<graph/></graphml>"), "the file holds several graphs"),
        (but("  </graph>", "<hyperedge/></graph>"), "an edge of more than two nodes"),
        (but("<data key=\"d3\">rowing</data>", "<graph/>"), "the file holds several graphs"),
        (but("&amp;", "&bomb;"), "the entity &bomb; is not one of XML's own"),
        (
            but("</node>\n    <node id=\"cid\">", "\n    <node id=\"cid\">"),
            "this is not XML that can be read",
        ),
        (but("id=\"d3\"", "id=\"d2\""), "two keys have the id \"d2\""),
        (but("attr.name=\"town\"", "attr.name=\"label\""), "could be the class"),
        (error("<graphml/>"), "the graph has no nodes"),
        (error("<graphml"), "line 1: this is not XML that can be read"),
    ] {
        assert!(message.contains(expected), "{message}\n  should say {expected}");
    }
}

#[test]
fn bombs_and_towers_do_no_harm() {
    let bomb = "<!DOCTYPE g [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>";
    let text = GOOD.replace("<graphml", &format!("{bomb}<graphml")).replace("chess", "&b;");
    assert!(error(&text).contains("the entity &b; is not one of XML's own"));
    let deep = format!("<graphml>{}", "<desc>".repeat(200_000));
    assert!(error(&deep).contains("ends too early"));
    let many: String = (0..100_000).map(|n| format!(" a{n}=\"\"")).collect();
    assert!(load(&GOOD.replace("<node id=\"cid\">", &format!("<node id=\"cid\"{many}>"))).is_ok());
    let keys: String = (0..6000)
        .map(|n| format!("<key id=\"k{n}\" for=\"node\" attr.name=\"k{n}\" attr.type=\"int\"><default>1</default></key>"))
        .collect();
    let nodes: String = (0..6000).map(|n| format!("<node id=\"{n}\"/>")).collect();
    let message = error(&format!("<graphml>{keys}<graph>{nodes}</graph></graphml>"));
    assert!(message.contains("would be written out"), "{message}");
}

#[test]
fn captions_and_drawings_are_neither_classes_nor_features() {
    // As Gephi writes it.
    let mut text = String::from("<graphml>");
    for (name, kind) in [
        ("label", "string"),
        ("size", "float"),
        ("r", "int"),
        ("g", "int"),
        ("b", "int"),
        ("x", "float"),
        ("y", "float"),
    ] {
        text += &format!("<key attr.name=\"{name}\" attr.type=\"{kind}\" for=\"node\" id=\"{name}\"/>");
    }
    text += "<graph edgedefault=\"undirected\">";
    for node in 0..3 {
        text += &format!("<node id=\"{node}\"><data key=\"label\">N{node}</data>");
        for name in ["size", "r", "g", "b", "x", "y"] {
            text += &format!("<data key=\"{name}\">{node}</data>");
        }
        text += "</node>";
    }
    text += "<edge source=\"0\" target=\"1\"/></graph></graphml>";
    let dataset = load(&text).unwrap();
    assert_eq!((dataset.features().dim(), dataset.num_classes(), dataset.node_ids()), (0, 0, None));
    let notes = dataset.warnings().join("\n");
    for expected in [
        "\"label\" is not taken for the class: it is different for every node",
        "how nodes are drawn is left out",
    ] {
        assert!(notes.contains(expected), "{notes}");
    }
}

#[test]
fn parallel_edges_are_joined_as_told() {
    let twice = GOOD.replace(
        "  </graph>",
        "<edge source=\"b&lt;ob\" target=\"ann\"><data key=\"d4\">0.5</data></edge></graph>",
    );
    let dataset = load(&twice).unwrap();
    assert_eq!(dataset.graph().weighted_edges().next(), Some((0, 1, 3.0)));
    assert!(dataset.warnings().contains(&"1 edge is named again: weights were added".to_string()));
}

#[test]
fn our_own_exports_read_back() {
    let export = Export {
        name: "a <toy>",
        node_ids: ["a&b", " blank\tand\r\nlines ", "日本"].map(String::from).to_vec(),
        columns: vec![
            ("class".into(), Column::Text(vec![Some("<x>".into()), None, Some("y".into())])),
            ("degree".into(), Column::Integer(vec![1, 2, 3])),
            ("score".into(), Column::Number(vec![Some(0.5), Some(-1e-9), Some(3e9)])),
        ],
        edges: vec![(0, 1, 0.1), (1, 2, f32::MAX)],
    };
    let folder = tempfile::tempdir().unwrap();
    for format in [ExportFormat::GraphMl, ExportFormat::Gexf] {
        let path = folder.path().join("export");
        export.write(&path, format).unwrap();
        let dataset = crate::io::load(&path, &LoadOptions::as_is(false)).unwrap();
        assert_eq!(dataset.node_ids().unwrap(), export.node_ids);
        assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), export.edges);
        assert_eq!(dataset.labels().names(), ["<x>", "y"]);
        assert_eq!(dataset.labels().get(1), None);
        assert_eq!(dataset.feature_names().unwrap(), ["degree", "score"]);
        assert_eq!(dataset.features().row_nonzeros(2), [(0, 3.0), (1, 3e9)]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn changed_and_cut_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = load_with(&bytes, &LoadOptions::as_is(true));
        bytes.truncate(end.index(bytes.len()));
        let _ = load_with(&bytes, &LoadOptions::as_is(false));
    }
}
