//! A tiny model and a tiny dataset: the nearest class centre, approached epoch by epoch.
#![allow(dead_code)]

use lhs::error::{Error, Result};
use lhs::graph::{Dataset, DatasetParts, Features, Graph, Labels, Repairs, Split};
use lhs::linalg::Mat;
use lhs::models::{FittedModel, Model, ModelInfo, ModelKind, NodeClassifier, SavedModel, SearchSpace};
use lhs::training::{Checkpoint, EpochRecord, Session, Task, Tensors};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Nodes around the centre of their class, ten splits.
pub fn dataset() -> Dataset {
    let num_nodes = 90;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let labels = Labels::from_numbers(&(0..num_nodes).map(|n| n as i64 % 3).collect::<Vec<_>>()).unwrap();
    let features = Mat::from_fn(num_nodes, 4, |n, c| f32::from(n % 3 == c) + rng.random_range(-1.0..1.0f32));
    let edges: Vec<(u32, u32)> = (1..num_nodes as u32).map(|n| (n - 1, n)).collect();
    let splits = (0..10).map(|seed| Split::random(&labels, 0.5, 0.25, 0.25, seed).unwrap()).collect();
    Dataset::new(DatasetParts {
        name: "toy".into(),
        graph: Graph::from_edges(num_nodes, &edges).unwrap().0,
        repairs: Repairs::default(),
        features: Features::Dense(features),
        labels,
        node_ids: Some((0..num_nodes).map(|n| format!("node {n}")).collect()),
        splits,
        details: Default::default(),
    })
    .unwrap()
}

/// The model as a registry would list it.
pub fn kind() -> ModelKind {
    ModelKind::of::<Centre>()
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Centre {
    rate: f32,
    epochs: usize,
    noise: Noise,
}

#[derive(Clone, Serialize, Deserialize)]
struct Noise {
    scale: f32,
}

impl Default for Centre {
    fn default() -> Self {
        Centre { rate: 0.1, epochs: 12, noise: Noise { scale: 0.5 } }
    }
}

impl ModelInfo for Centre {
    const NAME: &'static str = "centre";
    const SUMMARY: &'static str = "nearest class centre";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        vec![
            ("rate", SearchSpace::LogUniform(0.001, 1.0)),
            ("epochs", SearchSpace::choice([4, 8, 16])),
            ("noise.scale", SearchSpace::Uniform(0.0, 2.0)),
        ]
    }
}

impl Model for Centre {
    type Fitted = FittedCentre;

    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedCentre> {
        let mut fitted = FittedCentre { centres: Mat::zeros(task.num_classes, task.features.dim()) };
        let mut first = 0;
        if let Some(mut checkpoint) = session.load("classifier")? {
            first = checkpoint.state["epoch"].as_u64().unwrap() as usize;
            fitted.centres = checkpoint.tensors.remove("centres").unwrap();
        }
        for epoch in first..self.epochs {
            let state = serde_json::json!({ "epoch": epoch });
            session.save("classifier", &Checkpoint { tensors: fitted.tensors(), state })?;
            session.observer.proceed()?;
            let loss = self.step(&mut fitted, task, seed.wrapping_add(epoch as u64));
            let predicted = lhs::metrics::predicted_classes(&fitted.predict(task.graph, task.features)?);
            let right =
                task.val.nodes.iter().zip(&task.val.classes).filter(|(n, c)| predicted[**n as usize] == **c);
            let val_accuracy = Some(right.count() as f32 / task.val.nodes.len() as f32);
            let stage = "classifier".to_string();
            session.observer.epoch(&EpochRecord {
                stage,
                epoch,
                train_loss: loss,
                val_loss: None,
                val_accuracy,
            });
        }
        Ok(fitted)
    }
}

impl Centre {
    /// Moves the centres towards their nodes, with noise of this epoch.
    fn step(&self, fitted: &mut FittedCentre, task: &Task<'_>, seed: u64) -> f32 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut loss = 0.0;
        for (&node, &class) in task.train.nodes.iter().zip(&task.train.classes) {
            let row = fitted.centres.row_mut(class as usize);
            for (column, value) in task.features.row_nonzeros(node as usize) {
                let error = value + self.noise.scale * rng.random_range(-1.0..1.0f32) - row[column as usize];
                row[column as usize] += self.rate * error;
                loss += error * error;
            }
        }
        loss
    }
}

pub struct FittedCentre {
    centres: Mat,
}

impl NodeClassifier for FittedCentre {
    fn predict(&self, _graph: &Graph, features: &Features) -> Result<Mat> {
        if features.dim() != self.centres.cols() {
            return Err(Error::data("other columns", ""));
        }
        let mut out = Mat::zeros(features.num_nodes(), self.centres.rows());
        for node in 0..features.num_nodes() {
            let row = features.row_nonzeros(node);
            for class in 0..self.centres.rows() {
                let centre = self.centres.row(class);
                let distance: f32 = row.iter().map(|&(c, v)| (v - centre[c as usize]).powi(2)).sum();
                out.row_mut(node)[class] = (-distance).exp();
            }
            let total: f32 = out.row(node).iter().sum();
            out.row_mut(node).iter_mut().for_each(|p| *p /= total);
        }
        Ok(out)
    }

    fn saved(&self) -> Result<SavedModel> {
        SavedModel::new(&Centre::default(), &(), self.tensors())
    }
}

impl FittedCentre {
    fn tensors(&self) -> Tensors {
        Tensors::from([("centres".to_string(), self.centres.clone())])
    }
}

impl FittedModel for FittedCentre {
    fn restore(saved: &SavedModel) -> Result<Self> {
        Ok(FittedCentre { centres: saved.tensor("centres")?.clone() })
    }
}
