use std::fs;

use proptest::prelude::*;

use super::*;
use crate::io::tables::ColumnNames;

/// As NetworkX and Gephi write it.
const GOOD: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
  <meta lastmodifieddate="2026-01-01"><creator>NetworkX</creator></meta>
  <graph defaultedgetype="undirected" mode="static">
    <attributes class="node" mode="static">
      <attribute id="0" title="age" type="integer"/>
      <attribute id="1" title="category" type="string"/>
      <attribute id="2" title="known" type="boolean"><default>true</default></attribute>
    </attributes>
    <attributes class="edge" mode="static"><attribute id="0" title="since" type="integer"/></attributes>
    <nodes>
      <node id="ann" label="Ann"><attvalues><attvalue for="0" value="31"/><attvalue for="1" value="chess"/></attvalues><viz:size value="3"/></node>
      <node id="bob" label="Bob"><attvalues><attvalue for="0" value="58"/><attvalue for="1" value="rowing"/><attvalue for="2" value="false"/></attvalues></node>
      <node id="cid" label="Cid"><attvalues><attvalue for="0" value="29"/></attvalues></node>
    </nodes>
    <edges>
      <edge id="0" source="ann" target="bob" weight="2.0"><attvalues><attvalue for="0" value="1999"/></attvalues></edge>
      <edge id="1" source="cid" target="bob"/>
    </edges>
  </graph>
</gexf>
"#;

fn load_with(text: &[u8], options: &LoadOptions) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.gexf");
    fs::write(&path, text).unwrap();
    crate::io::load(&path, options)
}

fn load(text: &str) -> Result<Dataset> {
    load_with(text.as_bytes(), &LoadOptions::as_is(false))
}

#[test]
fn nodes_attributes_class_and_weights_are_read() {
    let dataset = load(GOOD).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["ann", "bob", "cid"]);
    // A missing weight is 1 in this format.
    assert_eq!(dataset.graph().weighted_edges().collect::<Vec<_>>(), [(0, 1, 2.0), (1, 2, 1.0)]);
    assert_eq!(dataset.feature_names().unwrap(), ["known", "age"]);
    assert_eq!(dataset.features().row_nonzeros(1), [(1, 58.0)]);
    assert_eq!(dataset.labels().names(), ["chess", "rowing"]);
    assert_eq!(dataset.labels().get(2), None);
    assert_eq!(dataset.warnings()[0], "edges have more than a weight, which is left out: \"since\"");
}

#[test]
fn direction_is_that_of_the_graph_or_the_edge() {
    let directed = LoadOptions::as_is(true);
    let text = GOOD.replace("defaultedgetype=\"undirected\"", "defaultedgetype=\"directed\"");
    assert_eq!(
        load_with(text.as_bytes(), &directed).unwrap().graph().edges().collect::<Vec<_>>(),
        [(0, 1), (2, 1)]
    );
    let text = GOOD.replace("<edge id=\"1\"", "<edge id=\"1\" type=\"directed\"");
    let graph = load_with(text.as_bytes(), &directed).unwrap();
    assert_eq!(graph.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 0), (2, 1)]);
}

#[test]
fn a_caption_is_a_class_only_if_that_is_said() {
    let shared = GOOD.replace("category", "hobby").replace("label=\"Ann\"", "label=\"Bob\"");
    let dataset = load(&shared).unwrap();
    assert_eq!(dataset.num_classes(), 0);
    assert!(
        dataset.warnings().iter().any(|note| note.contains("if it is the class, say so")),
        "{:?}",
        dataset.warnings()
    );
    let options = LoadOptions {
        columns: ColumnNames { label: Some("label".into()), ..ColumnNames::default() },
        ..LoadOptions::as_is(false)
    };
    let dataset = load_with(shared.as_bytes(), &options).unwrap();
    assert_eq!(dataset.labels().names(), ["Bob", "Cid"]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (from, to, expected) in [
        ("id=\"cid\"", "id=\"ann\"", "toy.gexf: line 14: two nodes are called \"ann\""),
        ("target=\"bob\"/>", "target=\"eve\"/>", "\"eve\" is not one of the nodes"),
        ("target=\"bob\"/>", "/>", "a <edge> has no `target`"),
        ("<attvalue for=\"0\" value=\"29\"/>", "", "node \"cid\" has no value for the attribute \"age\""),
        ("value=\"29\"", "value=\"young\"", "line 14: \"age\" is declared as \"integer\""),
        ("value=\"29\"", "", "a <attvalue> has no `value`"),
        ("for=\"0\" value=\"29\"", "for=\"9\" value=\"29\"", "no <attribute> has the id \"9\""),
        ("weight=\"2.0\"", "weight=\"0\"", "has the weight 0, which is not a positive number"),
        ("weight=\"2.0\"", "weight=\"much\"", "the weight \"much\" is not a number"),
        (
            "mode=\"static\">\n    <attributes class=\"node\"",
            "mode=\"dynamic\">\n    <attributes class=\"node\"",
            "changes in time",
        ),
        ("<viz:size value=\"3\"/>", "<nodes/>", "nodes inside of other nodes"),
        ("id=\"1\" title", "id=\"0\" title", "two attributes have the id \"0\""),
        ("</gexf>", "", "the document ends too early"),
        ("title=\"age\"", "title=\"target\"", "could be the class"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = load(&GOOD.replacen(from, to, 1)).unwrap_err();
        assert!(
            error.can_be_mended() && error.to_string().contains(expected),
            "{error}\n  should say {expected}"
        );
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
