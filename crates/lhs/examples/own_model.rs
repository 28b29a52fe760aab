//! A model of one's own behind the trait, in a suite beside others.
//!
//! ```text
//! cargo run --release -p lhs --example own_model
//! ```

use lhs::experiment::table::AccuracyTable;
use lhs::prelude::*;
use serde::{Deserialize, Serialize};

/// The share of each class among a node's labelled neighbours, and a little of everything.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NeighbourVote {
    /// How much each class counts before anybody voted.
    prior: f32,
}

impl Default for NeighbourVote {
    fn default() -> Self {
        NeighbourVote { prior: 0.1 }
    }
}

impl ModelInfo for NeighbourVote {
    const NAME: &'static str = "neighbour-vote";
    const SUMMARY: &'static str = "classes of the labelled neighbours";
}

impl Model for NeighbourVote {
    type Fitted = FittedVote;

    fn validate(&self) -> lhs::Result<()> {
        if self.prior > 0.0 {
            Ok(())
        } else {
            Err(Error::setting("prior", "it must be positive", "choose 0.1"))
        }
    }

    fn fit_with(&self, task: &Task<'_>, _seed: u64, _session: &mut Session<'_>) -> lhs::Result<FittedVote> {
        self.validate()?;
        let mut votes = Mat::zeros(task.graph.num_nodes(), task.num_classes);
        for (&node, &class) in task.train.nodes.iter().zip(&task.train.classes) {
            votes.row_mut(node as usize)[class as usize] = 1.0;
        }
        Ok(FittedVote { model: self.clone(), votes })
    }
}

/// After learning: who votes for what.
struct FittedVote {
    model: NeighbourVote,
    /// `[nodes, classes]`, 1 at the class of a training node.
    votes: Mat,
}

impl NodeClassifier for FittedVote {
    fn predict(&self, graph: &Graph, _features: &Features) -> lhs::Result<Mat> {
        let mut out = Mat::full(graph.num_nodes(), self.votes.cols(), self.model.prior);
        for node in 0..graph.num_nodes() {
            for &other in graph.neighbours(node) {
                let votes = self.votes.row(other as usize);
                out.row_mut(node).iter_mut().zip(votes).for_each(|(sum, vote)| *sum += vote);
            }
            let total: f32 = out.row(node).iter().sum();
            out.row_mut(node).iter_mut().for_each(|share| *share /= total);
        }
        Ok(out)
    }

    fn saved(&self) -> lhs::Result<SavedModel> {
        SavedModel::new(
            &self.model,
            &(),
            std::collections::BTreeMap::from([("votes".into(), self.votes.clone())]),
        )
    }
}

impl FittedModel for FittedVote {
    fn restore(saved: &SavedModel) -> lhs::Result<Self> {
        Ok(FittedVote { model: saved.settings()?, votes: saved.tensor("votes")?.clone() })
    }
}

fn main() -> lhs::Result<()> {
    let suite: Suite = "title = \"A vote against two networks\"\n\
                        datasets = [\"made-up\"]\n\
                        models = [\"neighbour-vote\", \"mlp\", \"gcn\"]"
        .parse()?;
    let dataset =
        SynthConfig { nodes: 400, homophily: 0.8, splits: 2, ..SynthConfig::default() }.generate(0)?;
    let plan = Plan::on(&suite, vec![Data::new(dataset)?], &Registry::default().with::<NeighbourVote>())?;
    let outcome = Runner::new(&plan).run()?;
    let table = AccuracyTable::new(&suite, &outcome.records);
    println!("{}", table.plain());

    let vote = table.entry(0, 0).mean();
    assert!(vote > Some(60.0), "where neighbours agree, a vote goes far: {vote:?}");
    assert_eq!(outcome.failed, 0);

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("vote.lhs");
    let data = &plan.data[0].dataset;
    let model = NeighbourVote::default().fit(&Task::new(data, &data.splits()[0])?)?;
    model.save(&file)?;
    let again = FittedVote::load(&file)?;
    assert_eq!(again.predict(data.graph(), data.features())?, model.predict(data.graph(), data.features())?);
    Ok(())
}
