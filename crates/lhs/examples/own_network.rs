//! The latent graph in a network of your own, through the tape: one convolution over it beats one over the given graph.
//!
//! ```text
//! cargo run --release -p lhs --example own_network
//! ```

use lhs::autograd::{Sparse, Var};
use lhs::graph::normalise;
use lhs::linalg::random::{generator, glorot};
use lhs::prelude::*;
use lhs::structure::StructureConfig;
use lhs::training::{Input, Network, Parameters, Supervised, TrainingConfig, probabilities, train};

/// `softmax(Ĝ X W)` over whichever graph it is given.
struct OneHop {
    input: Input,
    propagation: Sparse,
}

impl Network for OneHop {
    fn scores(&self, parameters: &[Var], _dropout_seed: Option<u64>) -> Var {
        self.propagation.matmul(&self.input.matmul(&parameters[0]))
    }
}

fn main() -> lhs::Result<()> {
    // Neighbours are mostly of other classes.
    let made_up =
        SynthConfig { nodes: 600, homophily: 0.1, mean_degree: 20.0, signal: 1.0, ..SynthConfig::default() };
    let dataset = made_up.generate(3)?;
    let split = &dataset.splits()[0];
    let task = Task::new(&dataset, split)?;

    let (fitted, structure) = StructureConfig::default().fit(&task, 0, &mut Session::default())?;
    fitted.choices().diagnostics().iter().for_each(|line| println!("{line}"));

    let given = accuracy(&task, &dataset, split, task.graph)?;
    let latent = accuracy(&task, &dataset, split, structure.latent())?;
    println!("one hop over the given graph: {given:.1} %, over the latent graph: {latent:.1} %");
    assert!(latent > given + 3.0, "{given} {latent}");
    Ok(())
}

/// Trains the network on a graph; accuracy at the test nodes, in percent.
fn accuracy(task: &Task<'_>, dataset: &Dataset, split: &Split, graph: &Graph) -> lhs::Result<f64> {
    let network = OneHop {
        input: Input::new(task.features),
        propagation: Sparse::constant(&normalise::symmetric_with_self_loops(graph)),
    };
    let mut parameters = Parameters::default();
    parameters.weight("weight", glorot(&mut generator(0, 0), task.features.dim(), task.num_classes));
    let objective = Supervised::on(&network, &task.train, &task.val);
    train("one-hop", &objective, &mut parameters, &TrainingConfig::default(), 0, &mut Session::default())?;
    let found = probabilities(&network, &parameters.constants());
    let predictions = Predictions::new(dataset, dataset.labels().names(), found)?;
    Ok(100.0 * predictions.confusion(split.test.iter().copied()).accuracy().unwrap_or(0.0))
}
