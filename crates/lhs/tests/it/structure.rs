//! The latent structure on the real graphs: neighbours share a class far more often than in the given graph.

use std::path::PathBuf;

use lhs::graph::{Dataset, Graph, Split};
use lhs::io::{LoadOptions, load};
use lhs::structure::latent_graph::weighted_homophily;
use lhs::structure::{Structure, StructureConfig, Views};
use lhs::training::{Auto, Session, Task};

fn real(graph: &str) -> Option<Dataset> {
    let Some(folder) = std::env::var_os("LHS_DATA") else {
        println!("LHS_DATA is not set: skipped");
        return None;
    };
    Some(load(PathBuf::from(folder).join(format!("{graph}.npz")), &LoadOptions::default()).unwrap())
}

fn learned(dataset: &Dataset, split: &Split, config: &StructureConfig) -> (Views, Structure) {
    let task = Task::new(dataset, split).unwrap();
    let (fitted, structure) = config.fit(&task, 0, &mut Session::default()).unwrap();
    let again = fitted.apply(dataset.graph(), dataset.features()).unwrap();
    assert_eq!(again, structure, "the training graph has the structure that was learned on it");
    (fitted.choices().views, structure)
}

#[test]
fn adjacency_profiles_find_homophily_where_the_graph_has_little() {
    // Edge homophily of the given graphs: 23 % and 22 %.
    for (graph, floor) in [("chameleon", 0.60), ("squirrel", 0.45)] {
        let Some(dataset) = real(graph) else { return };
        let split = &dataset.splits()[0];
        let config = StructureConfig { rounds: 0, ..StructureConfig::default() };
        let (views, structure) = learned(&dataset, split, &config);
        assert_eq!(views, Views::Adjacency, "features say little on {graph}");
        let test = split.test.iter().copied();
        let found = weighted_homophily(structure.latent(), dataset.labels(), test).unwrap();
        println!("{graph}: {:.1} % of the latent weight stays within the class", 100.0 * found);
        assert!(found > floor, "{graph}: {found}");
    }
}

#[test]
fn refinement_adds_homophily() {
    for graph in ["cora", "chameleon"] {
        let Some(dataset) = real(graph) else { return };
        let split = &dataset.splits()[0];
        // The same neighbours per node in every round, so that only who they are can differ.
        let config = StructureConfig {
            top_k: Auto::Given(8),
            threshold: Auto::Given(0.0),
            ..StructureConfig::default()
        };
        let (_, structure) = learned(&dataset, split, &config);
        assert!(structure.rounds.len() > 1, "the training labels are for it");
        let of = |latent: &Graph| {
            weighted_homophily(latent, dataset.labels(), split.test.iter().copied()).unwrap()
        };
        let (before, after) = (of(&structure.rounds[0]), of(structure.latent()));
        println!("{graph}: {before:.3} {after:.3}");
        assert!(after > before, "{after} after {before}");
    }
}
