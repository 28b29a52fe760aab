use std::fs;

use proptest::prelude::*;

use super::*;

const GOOD: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n% made by hand\n\n4 4 3\n2 1 0.5\n3 1 2\n4 2 1e0\n";

fn load_with(text: &[u8], options: &LoadOptions) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.mtx");
    fs::write(&path, text).unwrap();
    crate::io::load(&path, options)
}

fn edges(text: &str, options: &LoadOptions) -> Vec<(u32, u32, f32)> {
    load_with(text.as_bytes(), options).unwrap().graph().weighted_edges().collect()
}

#[test]
fn every_kind_of_adjacency_matrix_is_read() {
    let plain = LoadOptions::default();
    assert_eq!(edges(GOOD, &plain), [(0, 1, 0.5), (0, 2, 2.0), (1, 3, 1.0)]);
    assert_eq!(edges(GOOD, &LoadOptions::directed(true)), [(0, 1, 0.5), (0, 2, 2.0), (1, 3, 1.0)]);
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 3\n";
    let dataset = load_with(pattern.as_bytes(), &plain).unwrap();
    assert_eq!((dataset.num_nodes(), dataset.graph().num_edges(), dataset.graph().weights()), (3, 1, None));
    assert_eq!((dataset.features().dim(), dataset.num_classes()), (0, 0));
    assert!(dataset.warnings().contains(&"1 self loop dropped".to_string()));
    let both = "%%matrixmarket MATRIX coordinate INTEGER general\n3 3 4\n1 2 1\n2 1 1\n2 3 1\n3 1 0\n";
    assert_eq!(edges(both, &plain), [(0, 1, 1.0), (1, 2, 1.0)]);
    assert_eq!(edges(both, &LoadOptions::directed(true)), [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0)]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (from, to, expected) in [
        ("coordinate", "array", "line 1: a dense matrix (`array`) is not an adjacency matrix that is read"),
        ("real", "complex", "a matrix of \"complex\" numbers"),
        ("symmetric", "skew-symmetric", "a matrix that is \"skew-symmetric\""),
        (" symmetric", "", "line 1: the first line is not understood"),
        ("4 4 3", "4 5 3", "line 4: 4 rows and 5 columns are no adjacency matrix"),
        ("4 4 3", "4 4", "rows, columns and the number of entries are needed"),
        ("4 4 3", "4 4 2", "line 7: there are more than the 2 entries"),
        ("4 4 3", "4 4 9999999999", "3 entries instead of 9999999999"),
        ("4 4 3", "9999999999 9999999999 3", "9999999999 nodes, but only 3 entries"),
        ("4 4 3", "3 3 3", "line 7: \"4\" is not a node from 1 to 3"),
        ("2 1 0.5", "0 1 0.5", "line 5: \"0\" is not a node from 1 to 4"),
        ("2 1 0.5", "2 1 nan", "line 5: the value \"nan\" is no weight"),
        ("2 1 0.5", "2 1 -1", "the value \"-1\" is no weight"),
        ("2 1 0.5", "2 1", "the value \"\" is no weight"),
        ("2 1 0.5", "2 1 0.5 7", "\"7\" is too much in this line"),
        ("\n4 4 3\n2 1 0.5\n3 1 2\n4 2 1e0\n", "", "the size of the matrix is missing"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = load_with(GOOD.replacen(from, to, 1).as_bytes(), &LoadOptions::default()).unwrap_err();
        assert!(
            error.can_be_mended() && error.to_string().contains(expected),
            "{error}\n  should say {expected}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn changed_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = load_with(&bytes, &LoadOptions::directed(true));
    }
}
