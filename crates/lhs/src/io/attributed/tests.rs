use super::*;
use crate::io::tables::ColumnNames;

fn graph(nodes: &[&[(&str, Value)]]) -> Attributed<'static> {
    let mut graph = Attributed::new(Path::new("toy"));
    for (number, values) in nodes.iter().enumerate() {
        graph.node(number.to_string()).unwrap();
        for (name, value) in *values {
            graph.value(name, value.clone()).unwrap();
        }
    }
    graph
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn classes(nodes: &[&[(&str, Value)]]) -> Vec<String> {
    graph(nodes).finish(&LoadOptions::default()).unwrap().labels().names().to_vec()
}

#[test]
fn only_what_can_be_a_class_is_taken_for_one() {
    use Value::{Flag, Number};
    assert_eq!(classes(&[&[("Label", text("a"))], &[("Label", text("a"))]]), ["a"]);
    assert_eq!(classes(&[&[("y", Number(10.0))], &[("y", Number(9.0))]]), ["9", "10"]);
    assert_eq!(classes(&[&[("TARGET", Flag(true))], &[("TARGET", Flag(false))]]), ["false", "true"]);
    assert_eq!(classes(&[&[("class", text(""))], &[]]), Vec::<String>::new());
    // Numbers between whole ones, names, and places are not classes.
    assert!(classes(&[&[("y", Number(0.5))], &[("y", Number(1.0))]]).is_empty());
    assert!(classes(&[&[("label", text("ann"))], &[("label", text("bob"))]]).is_empty());
    assert!(
        classes(&[&[("x", Number(1.0)), ("y", Number(1.0))], &[("x", Number(1.0)), ("y", Number(2.0))]])
            .is_empty()
    );
}

#[test]
fn between_two_nothing_is_guessed() {
    let two: &[(&str, Value)] = &[("class", text("a")), ("target", Value::Number(1.0))];
    let error = graph(&[two, two]).finish(&LoadOptions::default()).unwrap_err().to_string();
    assert!(
        error.starts_with("toy: each of these attributes could be the class: \"class\", \"target\""),
        "{error}"
    );
    let options = LoadOptions {
        columns: ColumnNames { label: Some("target".into()), ..ColumnNames::default() },
        ..LoadOptions::as_is(false)
    };
    let dataset = graph(&[two, two]).finish(&options).unwrap();
    assert_eq!(dataset.labels().names(), ["1"]);
}

#[test]
fn the_order_of_the_file_is_kept_even_if_edges_come_first() {
    let mut graph = Attributed::new(Path::new("toy.gexf.gz"));
    graph.edge("b", "a", None, false).unwrap();
    for id in ["a", "b"] {
        graph.node(id.into()).unwrap();
    }
    let dataset = graph.finish(&LoadOptions::default()).unwrap();
    assert_eq!(
        (dataset.name(), dataset.node_ids().unwrap()),
        ("toy", &["a".to_string(), "b".to_string()][..])
    );
    assert!(dataset.graph().has_edge(0, 1));
}
