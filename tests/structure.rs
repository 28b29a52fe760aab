//! The latent structure on the real graphs: neighbours share a class far more often than in the given graph.

use std::path::PathBuf;

use lhs::io::{LoadOptions, load};
use lhs::structure::{InduceConfig, View, induce};

/// Share of the latent weight at the test nodes of split 0 that leads to their own class.
fn latent_homophily(graph: &str, view: View) -> f32 {
    let folder = PathBuf::from(std::env::var_os("LHS_DATA").expect("checked by the caller"));
    let dataset = load(&folder.join(format!("{graph}.npz")), &LoadOptions::default()).unwrap();
    let rows = view.rows(dataset.graph(), dataset.features(), 128);
    let latent = induce(&rows, dataset.num_classes(), &InduceConfig::default()).unwrap();
    let test = dataset.splits()[0].test.iter().copied();
    latent.weighted_homophily(dataset.labels(), test).unwrap()
}

#[test]
fn adjacency_profiles_find_homophily_where_the_graph_has_little() {
    if std::env::var_os("LHS_DATA").is_none() {
        println!("LHS_DATA is not set: skipped");
        return;
    }
    // Edge homophily of the given graphs: 23 %, 22 %, 81 %.
    for (graph, floor) in [("chameleon", 0.55), ("squirrel", 0.45), ("cora", 0.65)] {
        let found = latent_homophily(graph, View::Adjacency);
        println!("{graph}: {:.1} % of the latent weight stays within the class", 100.0 * found);
        assert!(found > floor, "{graph}: {found}");
    }
    let features = latent_homophily("chameleon", View::Features);
    println!("chameleon, features: {:.1} %", 100.0 * features);
    assert!(features < 0.45, "features carry little there: {features}");
}
