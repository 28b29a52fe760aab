//! How many layers pay, and how they learn.
//!
//! Linear hops are trained first. Then layers over the given graph are tried, and over the latent one, few before many, in trainings that are
//! only compared; they must get clearly more validation nodes right. They learn with shorter steps, and either with the dropout of
//! the rest or gently: graphs differ in which of the two suits them.

use super::super::trial::Trial;
use super::encoder::Channels;
use super::trial::{margin, quality};
use super::{Lhs, Prepared};
use crate::error::{Error, Result};
use crate::training::{Auto, Parameters, Session, Task};

/// How many layers are tried, one after the other, as long as they pay.
const LADDER: [usize; 2] = [4, 12];
/// On graphs of more nodes layers are not tried: they take time and memory there.
const LAYERS_TRIED_UP_TO: usize = 20_000;
/// With layers steps are so much shorter.
const STEP_WITH_LAYERS: f32 = 0.3;
/// Share of the codes dropped where layers learn gently.
const GENTLE_DROPOUT: f32 = 0.2;
/// Standard errors of a share at the validation nodes that layers must add.
const LAYERS_MARGIN: f32 = 0.75;

impl Lhs {
    /// The settings that an encoder with these channels learns by.
    pub(super) fn learning(&self, channels: &Channels) -> Lhs {
        let mut config = self.clone();
        if channels.given_layers + channels.latent_layers > 0 {
            config.training.learning_rate *= STEP_WITH_LAYERS;
            if channels.gentle {
                (config.input_dropout, config.dropout) = (0.0, GENTLE_DROPOUT.min(self.dropout));
                config.training.weight_decay = Auto::Given(0.0);
            }
        }
        config
    }

    /// The first member, with as many layers as pay.
    pub(super) fn with_layers(
        &self,
        task: &Task<'_>,
        prepared: &Prepared,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<(Channels, Parameters)> {
        let plain = prepared.channels;
        let (first, score) = self.member(task, prepared, plain, ("classifier-1", 0), seed, session)?;
        let mut best = (plain, quality(score));
        let hasty = self.hasty();
        let trial = |channels: Channels, stage: &str, session: &mut Session<'_>| {
            let observer = Trial(session.observer);
            let session = &mut observer.session(session.memo);
            let trained = hasty.member(task, prepared, channels, (stage, 0), seed, session)?;
            Ok::<_, Error>((channels, quality(trained.1)))
        };
        let count = task.val.nodes.len();
        let given: &dyn Fn(Channels, usize) -> Channels =
            &|channels, layers| Channels { given_layers: layers, ..channels };
        let latent: &dyn Fn(Channels, usize) -> Channels =
            &|channels, layers| Channels { latent_layers: layers, ..channels };
        let try_given = self.given_layers.given().is_none() && task.graph.num_edges() > 0;
        let try_latent = self.latent_layers.given().is_none() && plain.read_latent();
        for (name, asked, with) in [("given", try_given, given), ("latent", try_latent, latent)] {
            let start = best.0;
            let most = most_layers(task.graph.num_nodes());
            // Which way of learning suits the graph shows in the first layers.
            let mut ways: &[bool] = match self.gentle_layers.given() {
                Some(false) => &[false],
                Some(true) => &[true],
                None => &[false, true],
            };
            for layers in LADDER.into_iter().filter(|layers| asked && count > 0 && *layers <= most) {
                let before = best.1;
                for &gentle in ways {
                    let next = trial(Channels { gentle, ..with(start, layers) }, name, session)?;
                    if next.1 > best.1 && next.1 - before > margin(before, count, LAYERS_MARGIN) {
                        best = next;
                    }
                }
                if best.1 == before {
                    break;
                }
                ways = if best.0.gentle { &[true] } else { &[false] };
            }
        }
        if best.0 == plain {
            return Ok((plain, first));
        }
        let stage = ("classifier-1-layers", 0);
        Ok((best.0, self.member(task, prepared, best.0, stage, seed, session)?.0))
    }
}

/// How many layers over a graph are tried at most, on graphs of so many nodes.
pub(super) fn most_layers(nodes: usize) -> usize {
    if nodes <= LAYERS_TRIED_UP_TO { LADDER[LADDER.len() - 1] } else { 0 }
}
