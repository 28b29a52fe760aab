//! The formats against the real data: set `LHS_DATA` to the folder that holds it.

use std::path::{Path, PathBuf};

use lhs::graph::Dataset;
use lhs::io::{LoadOptions, geom_gcn, load, npz, planetoid};

/// The data folder, or `None` (with a note) when none was given.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("LHS_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: LHS_DATA is not set");
    }
    folder
}

fn load_plain(path: &Path) -> Dataset {
    load(path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// (name, nodes, edges, features, classes): the first nine as in the paper's table.
const GRAPHS: [(&str, usize, usize, usize, usize); 13] = [
    ("cora", 2708, 5278, 1433, 7),
    ("citeseer", 3327, 4552, 3703, 6),
    ("pubmed", 19717, 44324, 500, 3),
    ("chameleon", 2277, 31371, 2325, 5),
    ("squirrel", 5201, 198_353, 2089, 5),
    ("actor", 7600, 26659, 932, 5),
    ("texas", 183, 279, 1703, 5),
    ("cornell", 183, 277, 1703, 5),
    ("wisconsin", 251, 450, 1703, 5),
    ("chameleon_filtered", 890, 8854, 2325, 5),
    ("squirrel_filtered", 2223, 46998, 2089, 5),
    ("minesweeper", 10_000, 39402, 7, 2),
    ("tolokers", 11758, 519_000, 10, 2),
];

#[test]
fn every_npz_has_the_published_size() {
    let Some(data) = data() else { return };
    for (name, nodes, edges, features, classes) in GRAPHS {
        let dataset = load_plain(&data.join(format!("{name}.npz")));
        let found = (
            dataset.name(),
            dataset.num_nodes(),
            dataset.graph().num_edges(),
            dataset.features().dim(),
            dataset.num_classes(),
        );
        assert_eq!(found, (name, nodes, edges, features, classes));
        assert_eq!(dataset.splits().len(), 10, "{name}");
        assert!(
            !dataset.warnings().iter().any(|w| w.contains("dropped")),
            "{name}: {:?}",
            dataset.warnings()
        );
    }
}

/// The same graph, features and labels.
fn assert_same(found: &Dataset, expected: &Dataset) {
    let name = expected.name();
    assert!(found.graph() == expected.graph(), "{name}: other edges");
    assert!(found.features() == expected.features(), "{name}: other features");
    assert!(found.labels() == expected.labels(), "{name}: other labels");
}

#[test]
fn planetoid_files_equal_the_npz() {
    let Some(data) = data() else { return };
    for (name, train) in [("cora", 140), ("citeseer", 120), ("pubmed", 60)] {
        let expected = load_plain(&data.join(format!("{name}.npz")));
        for form in [format!("ind.{name}"), name.to_string()] {
            let source = data.join("raw/planetoid").join(form);
            assert!(planetoid::is_here(&source));
            let dataset = load_plain(&source);
            assert_eq!(dataset.name(), name);
            assert_same(&dataset, &expected);
            let split = &dataset.splits()[0];
            assert_eq!((split.train.len(), split.val.len(), split.test.len()), (train, 500, 1000));
        }
    }
    let several = load(data.join("raw/planetoid"), &LoadOptions::default()).unwrap_err().to_string();
    assert!(several.contains("several graphs: ind.citeseer, ind.cora, ind.pubmed"), "{several}");
}

#[test]
fn geom_gcn_folders_equal_the_npz() {
    let Some(data) = data() else { return };
    for (name, folder) in [("texas", "texas"), ("wisconsin", "wisconsin"), ("actor", "film")] {
        let expected = load_plain(&data.join(format!("{name}.npz")));
        let source = data.join("raw/geom-gcn/new_data").join(folder);
        let dataset = load_plain(&source);
        assert_eq!(dataset.name(), folder);
        assert_same(&dataset, &expected);
        assert_eq!(dataset.splits(), expected.splits(), "{name}");
        let directed = load(&source, &LoadOptions::directed(true)).unwrap();
        assert!(directed.graph().is_directed());
        assert_eq!(directed.graph().to_undirected().num_edges(), expected.graph().num_edges());
    }
    for folder in ["chameleon", "squirrel"] {
        let source = data.join("raw/geom-gcn/new_data").join(folder);
        assert!(geom_gcn::is_here(&source));
        let error = load(&source, &LoadOptions::default()).unwrap_err();
        assert!(error.can_be_mended());
        let error = error.to_string();
        assert!(
            error.contains(&format!("{folder}/out1_node_feature_label.txt: this file is missing\n  hint: ")),
            "{error}"
        );
    }
}

/// In the raw data, the table of Cornell's nodes is that of Texas, byte for byte, and the edges number the
/// nodes otherwise than the `.npz` does. So only what numbering and features do not touch can be compared.
#[test]
fn geom_gcns_cornell_has_the_shape_of_the_npz() {
    let Some(data) = data() else { return };
    let expected = load_plain(&data.join("cornell.npz"));
    let dataset = load_plain(&data.join("raw/geom-gcn/new_data/cornell"));
    let degrees = |dataset: &Dataset| {
        let mut degrees: Vec<_> = (0..dataset.num_nodes()).map(|n| dataset.graph().degree(n)).collect();
        degrees.sort_unstable();
        degrees
    };
    assert_eq!(degrees(&dataset), degrees(&expected));
    assert_eq!(dataset.features().dim(), expected.features().dim());
    assert_eq!(dataset.splits(), expected.splits());
}

#[test]
fn real_data_survives_both_writers() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in ["texas", "minesweeper"] {
        let dataset = load_plain(&data.join(format!("{name}.npz")));
        let (file, texts) = (folder.path().join(format!("{name}.npz")), folder.path().join(name));
        for layout in [npz::FeatureLayout::AsStored, npz::FeatureLayout::Dense] {
            npz::write(&dataset, &file, layout).unwrap();
            let again = load_plain(&file);
            assert_same(&again, &dataset);
            assert_eq!(again.splits(), dataset.splits());
        }
        geom_gcn::write(&dataset, &texts).unwrap();
        let again = load_plain(&texts);
        assert_same(&again, &dataset);
        assert_eq!(again.splits(), dataset.splits());
    }
}
