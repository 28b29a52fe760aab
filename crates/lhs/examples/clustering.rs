//! Clustering on the latent structure, against smoothed features.
//!
//! ```text
//! cargo run --release -p lhs --example clustering
//! ```

use lhs::cluster::{By, Method, cluster, fit};
use lhs::prelude::*;

fn main() -> lhs::Result<()> {
    let made_up =
        SynthConfig { nodes: 500, homophily: 0.1, mean_degree: 20.0, signal: 1.0, ..SynthConfig::default() };
    let dataset = made_up.generate(2)?;
    let split = &dataset.splits()[0];
    let mut found = Vec::new();
    for (name, method) in [("latent structure", Method::Latent), ("smoothed features", Method::Agc)] {
        let groups = cluster(&dataset, split, method, By::Kmeans, 0, &mut Session::default())?;
        let scores = fit(&dataset, split, &groups)?.test;
        println!(
            "{name:<18} accuracy {:.1} %, NMI {:.3}, ARI {:.3}",
            scores.accuracy, scores.nmi, scores.ari
        );
        found.push(scores.accuracy);
    }
    assert!(
        found[0] > found[1] + 10.0,
        "where neighbours differ, smoothing over them does not help: {found:?}"
    );
    Ok(())
}
