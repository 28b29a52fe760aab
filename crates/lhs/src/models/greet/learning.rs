//! Learning without labels: the encoders from the contrast of two views, the discriminator from a ranking.

use std::rc::Rc;
use std::sync::Arc;

use rand::seq::index;

use super::classifier::Judge;
use super::contrast::{Same, contrast};
use super::encoders::{Channels, Encoder, Encoders, Prepared};
use super::{Greet, ViewConfig};
use crate::autograd::{Sparse, Var};
use crate::linalg::SparseMat;
use crate::linalg::random::{derive, generator};
use crate::models::parts::{ParamReader, noise, row_subset};
use crate::training::{Objective, Score};

/// Epochs from one look at the validation nodes to the next, as the authors look.
const LOOK_EVERY: usize = 20;

/// Learning without labels.
pub(super) struct Pretraining<'a> {
    pub config: &'a Greet,
    pub prepared: &'a Prepared,
    pub nearest: &'a SparseMat,
    pub judge: Judge<'a>,
}

impl Objective for Pretraining<'_> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        let mut reader = ParamReader::from(parameters);
        let channels = self.config.channels(self.prepared, &mut reader, Some(derive(seed, &[0])));
        let encoders = self.config.encoders(&mut reader);
        let contrast = self.contrast(&channels, &encoders, seed);
        if derive(seed, &[5]).is_multiple_of(2) {
            return contrast;
        }
        contrast.add(&self.ranking(&channels, &encoders, derive(seed, &[1])))
    }

    fn measured(&self, epoch: usize) -> bool {
        (epoch + 1).is_multiple_of(LOOK_EVERY.min(self.config.training.patience))
    }

    fn num_examples(&self) -> usize {
        self.prepared.pattern.rows()
    }

    fn score(&self, parameters: &[Var]) -> Option<Score> {
        self.judge.learn(self.config.embed(self.prepared, parameters).value()).score
    }
}

impl Pretraining<'_> {
    /// The encoders' loss; nothing of it reaches the discriminator.
    fn contrast(&self, channels: &Channels, encoders: &Encoders<'_>, seed: u64) -> Var {
        let nodes = self.batch(derive(seed, &[2]));
        let view = |encoder: &Encoder<'_>, propagation: &Sparse, config: &ViewConfig, seed: u64| {
            // Columns of the features are hidden by hiding the rows of the weight that they meet.
            let weight = hide_rows(encoder.own[0], config.hide_features, derive(seed, &[0]));
            let values = propagation.values.detach().dropout(config.hide_edges, derive(seed, &[1]));
            let propagation = Sparse::new(Arc::clone(&propagation.pattern), values);
            let own = self.config.first(self.prepared, [&weight, encoder.own[1]]);
            let rows = (1..self.config.hops).fold(own, |rows, _| propagation.matmul(&rows));
            // The last step, only to the nodes of the batch.
            encoder.projected(rows_of(&propagation, &nodes).matmul(&rows)) // [batch, hidden]
        };
        let low = view(&encoders.low, &channels.low, &self.config.low, derive(seed, &[3]));
        let high = view(&encoders.high, &channels.high, &self.config.high, derive(seed, &[4]));
        contrast(&low, &high, &Same::among(&nodes, self.nearest))
    }

    /// The nodes of one contrastive loss.
    fn batch(&self, seed: u64) -> Rc<[u32]> {
        let num_nodes = self.prepared.pattern.rows();
        if num_nodes <= self.config.batch {
            return (0..num_nodes as u32).collect();
        }
        let drawn = index::sample(&mut generator(seed, 0), num_nodes, self.config.batch);
        drawn.into_iter().map(|node| node as u32).collect()
    }

    /// The discriminator's loss; the encoders only judge.
    fn ranking(&self, channels: &Channels, encoders: &Encoders<'_>, seed: u64) -> Var {
        let fixed = [&encoders.low, &encoders.high].map(|encoder| encoder.own.map(Var::detach));
        let [low, high] = &fixed;
        let judge = |own: &'_ [Var; 2], propagation: &Sparse| {
            self.config.encode(self.prepared, [&own[0], &own[1]], propagation)
        };
        let (low, high) = (judge(low, &channels.low), judge(high, &channels.high));
        let rows = Var::concat_cols(&[&low, &high]).unit_rows(); // [n, 2 hidden]
        let (joined, random) = self.prepared.compared.products(&rows, seed); // [nnz, 1]
        let farther = random.sub(&joined); // how much closer a random pair is
        let edges = self.prepared.loops.scale(-1.0).add_scalar(1.0);
        let count = (self.prepared.pattern.nnz() - self.prepared.pattern.rows()).max(1) as f32;
        let excess = |apart: &Var, margin: f32, share: &Var| {
            let sure = share.add_scalar(-0.5).relu().mul(&edges);
            apart.add_scalar(margin).relu().mul(&sure).sum().scale(0.5 / count)
        };
        let heterophilic = channels.homophilic.scale(-1.0).add_scalar(1.0);
        let homophilic = excess(&farther, self.config.homophilic_margin, &channels.homophilic);
        homophilic.add(&excess(&farther.scale(-1.0), self.config.heterophilic_margin, &heterophilic))
    }
}

/// Sets a share of the rows to zero.
fn hide_rows(weight: &Var, share: f32, seed: u64) -> Var {
    let mut kept = noise::uniform(weight.rows(), 1, seed);
    kept.as_mut_slice().iter_mut().for_each(|kept| *kept = f32::from(*kept >= share));
    weight.mul_col(&Var::constant(kept))
}

/// Some rows of a matrix, in this order.
fn rows_of(mat: &Sparse, rows: &[u32]) -> Sparse {
    let (pattern, entries) = row_subset(&mat.pattern, rows);
    Sparse::new(pattern, mat.values.gather_rows(&entries.into()))
}

#[cfg(test)]
mod tests {
    use super::super::encoders::tests::path;
    use super::*;
    use crate::graph::Labelled;
    use crate::linalg::Mat;
    use crate::training::Monitor;

    #[test]
    fn the_two_losses_teach_different_networks() {
        let config = Greet { projection_layers: 2, ..Greet::default() };
        let prepared = path(&config);
        let nearest = SparseMat::from_triplets(4, 4, vec![(0, 1, 1.0)]);
        let nobody = Labelled::default();
        let judge = Judge {
            train: &nobody,
            val: &nobody,
            num_classes: 1,
            monitor: Monitor::Accuracy,
            positive: None,
        };
        let objective = Pretraining { config: &config, prepared: &prepared, nearest: &nearest, judge };
        let parameters: Vec<Var> = config.parameters(3, 1).constants();
        let parameters: Vec<Var> = parameters.iter().map(|p| Var::parameter(p.shared_value())).collect();
        let mut reader = ParamReader::from(&parameters);
        let channels = config.channels(&prepared, &mut reader, Some(1));
        let encoders = config.encoders(&mut reader);
        let all: Vec<&Var> = parameters.iter().collect();
        let reached = |loss: &Var| -> Vec<bool> {
            let found = crate::autograd::gradients(loss, &all, crate::autograd::Order::First);
            found.iter().map(|gradient| gradient.value().as_slice().iter().any(|g| *g != 0.0)).collect()
        };
        let contrast = reached(&objective.contrast(&channels, &encoders, 5));
        assert!(contrast[..5].iter().all(|reached| !reached) && contrast[5..].iter().any(|reached| *reached));
        let projections: Vec<bool> = [7, 9, 13, 15].map(|weight| contrast[weight]).into();
        assert_eq!(
            (contrast.len(), projections),
            (17, vec![true; 4]),
            "both layers of both projections learn"
        );
        let ranking = reached(&objective.ranking(&channels, &encoders, 5));
        assert!(ranking[..5].iter().any(|reached| *reached) && ranking[5..].iter().all(|reached| !reached));
    }

    #[test]
    fn some_rows_are_those_of_the_whole() {
        let pattern = path(&Greet::default()).pattern;
        let values = Var::constant(Mat::from_fn(pattern.nnz(), 1, |row, _| row as f32));
        let whole = Sparse::new(pattern, values);
        let x = Var::constant(Mat::from_fn(4, 2, |row, col| (row + col) as f32));
        let found = rows_of(&whole, &[2, 0]).matmul(&x);
        assert_eq!(found.value(), whole.matmul(&x).gather_rows(&[2, 0].into()).value());
    }
}
