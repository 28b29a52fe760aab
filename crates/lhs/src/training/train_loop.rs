//! The loop: step, measure, keep the best, stop early, save, resume.

use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Auto, Checkpoint, ClassWeights, EpochRecord, Parameters, Session, Tensors};
use crate::autograd::{Adam, AdamConfig, Order, Var, gradients};
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::quality::metric::Metric;

/// How long training may go on unsaved.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// How a model is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingConfig {
    /// At most this many epochs, 1 or more.
    pub epochs: usize,
    /// Stops after this many epochs without improvement at the validation nodes, 1 or more.
    pub patience: usize,
    /// Step size of Adam, above 0.
    pub learning_rate: f32,
    /// Pulls weights (not biases) towards zero, 0 or above, or `auto`: one over the number of training nodes, a pull of
    /// the same strength against each of them.
    pub weight_decay: Auto<f32>,
    /// What counts as an improvement.
    pub monitor: Monitor,
    /// How much the training nodes of each class count: `none` (all the same), `auto` (each class as much as any other), or
    /// weights by class, such as `fraud=10,ok=1`.
    pub class_weights: ClassWeights,
}

/// What early stopping looks at, at the validation nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Monitor {
    /// Higher accuracy; of equals, lower cross-entropy.
    Accuracy,
    /// Lower cross-entropy.
    Loss,
    /// A higher mean over the classes of the share that is right; of equals, lower cross-entropy, as below.
    BalancedAccuracy,
    /// A higher mean of the classes' F1 scores.
    MacroF1,
    /// A higher ROC AUC of the positive class, or over the classes.
    RocAuc,
    /// A higher average precision, likewise.
    AveragePrecision,
}

impl Monitor {
    /// The figure that [`Score::value`] must hold, beside those that it always has.
    pub fn metric(self) -> Option<Metric> {
        match self {
            Monitor::Accuracy | Monitor::Loss => None,
            Monitor::BalancedAccuracy => Some(Metric::BalancedAccuracy),
            Monitor::MacroF1 => Some(Metric::MacroF1),
            Monitor::RocAuc => Some(Metric::RocAuc),
            Monitor::AveragePrecision => Some(Metric::AveragePrecision),
        }
    }
}

impl Default for TrainingConfig {
    fn default() -> Self {
        TrainingConfig {
            epochs: 1000,
            patience: 100,
            learning_rate: 0.01,
            weight_decay: Auto::Given(5e-4),
            monitor: Monitor::Accuracy,
            class_weights: ClassWeights::None,
        }
    }
}

impl TrainingConfig {
    /// Checks the ranges; `prefix` is the path of these settings, such as `training`.
    pub fn validate(&self, prefix: &str) -> Result<()> {
        let wrong = |key: &str, value: &dyn std::fmt::Display, range: &str| {
            Err(Error::setting(
                format!("{prefix}.{key}"),
                format!("{value} is out of range"),
                format!("choose {range}"),
            ))
        };
        if self.epochs == 0 {
            return wrong("epochs", &self.epochs, "1 or more");
        }
        if self.patience == 0 {
            return wrong("patience", &self.patience, "1 or more");
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return wrong("learning_rate", &self.learning_rate, "a positive number, such as 0.01");
        }
        if let Some(decay) = self.weight_decay.given()
            && !(decay >= 0.0 && decay.is_finite())
        {
            return wrong("weight_decay", &decay, "auto, 0 or a small positive number, such as 5e-4");
        }
        self.class_weights.validate(&format!("{prefix}.class_weights"))
    }

    /// The optimiser of a loss that is a mean of so many examples.
    pub(crate) fn adam(&self, examples: usize) -> AdamConfig {
        AdamConfig {
            learning_rate: self.learning_rate,
            weight_decay: self.weight_decay.given().unwrap_or(1.0 / examples.max(1) as f32),
            ..AdamConfig::default()
        }
    }
}

/// What is minimised, and how progress is measured.
pub trait Objective {
    /// The loss of one step; everything random in it comes from `seed`.
    fn loss(&self, parameters: &[Var], seed: u64) -> Var;

    /// Steps of the optimiser in an epoch, 1 or more.
    fn steps(&self) -> usize {
        1
    }

    /// The loss of a step of an epoch, and its gradients with respect to the parameters. An objective with several steps
    /// finds them itself, each of another share of its examples; everything random comes from the seed, which is the epoch's.
    fn gradient(&self, values: &[Rc<Mat>], seed: u64, _step: usize) -> (f32, Vec<Rc<Mat>>) {
        let parameters: Vec<Var> = values.iter().map(|value| Var::parameter(Rc::clone(value))).collect();
        let loss = self.loss(&parameters, seed);
        let found = gradients(&loss, &parameters.iter().collect::<Vec<_>>(), Order::First);
        (loss.scalar(), found.iter().map(Var::shared_value).collect())
    }

    /// How many examples the loss is a mean of.
    fn num_examples(&self) -> usize;

    /// Whether progress is measured after this epoch; an epoch that is not measured is not kept.
    fn measured(&self, _epoch: usize) -> bool {
        true
    }

    /// The state at the validation nodes; `None` when there is nothing to measure, and every epoch counts.
    fn score(&self, parameters: &[Var]) -> Option<Score>;

    /// What is learned in turns with the parameters, if anything.
    fn companion(&self) -> Option<&dyn Companion> {
        None
    }
}

/// What an objective learns by itself, in turns with the parameters: each epoch is one step of it, then some of the
/// optimiser, each of them measured.
pub trait Companion {
    /// Steps of the optimiser in each epoch, 1 or more.
    fn optimiser_steps(&self) -> usize;

    /// Takes a step, the parameters being as they are.
    fn step(&self, epoch: usize, parameters: &[Var]);

    /// Remembers the present state as the best so far.
    fn keep(&self);

    /// Everything that [`Companion::resume`] needs, by names of its own.
    fn save(&self, tensors: &mut Tensors);

    /// Goes on from what was saved.
    fn resume(&self, tensors: &Tensors) -> Result<()>;
}

/// A measurement at the validation nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Share that was right, 0..=1.
    pub accuracy: f32,
    /// Cross-entropy.
    pub loss: f32,
    /// What else is looked at, 0..=1; none where it makes no sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f32>,
}

impl Score {
    /// Whether this is an improvement.
    pub fn beats(&self, other: &Score, monitor: Monitor) -> bool {
        let better =
            |own: Option<f32>, others: Option<f32>| own > others || (own == others && self.loss < other.loss);
        match monitor {
            Monitor::Loss => self.loss < other.loss,
            Monitor::Accuracy => better(Some(self.accuracy), Some(other.accuracy)),
            _ => better(self.value, other.value),
        }
    }
}

/// How a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Epochs run.
    pub epochs: usize,
    /// The epoch whose parameters were kept.
    pub best_epoch: usize,
    /// Its score, where there is one.
    pub best: Option<Score>,
}

impl Trained {
    /// Whether all epochs are run, or patience is at its end.
    pub(crate) fn finished(&self, config: &TrainingConfig) -> bool {
        self.epochs >= config.epochs || self.epochs > self.best_epoch + config.patience
    }
}

/// Minimises an objective and leaves the best parameters in `parameters`. `stage` names this training in the
/// curve and in checkpoints. Same objective, settings and seed: same bits, also across a resume.
pub fn train(
    stage: &str,
    objective: &impl Objective,
    parameters: &mut Parameters,
    config: &TrainingConfig,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Trained> {
    let adam = config.adam(objective.num_examples());
    let companion = objective.companion();
    let mut state = match session.load(stage)? {
        Some(checkpoint) => State::resume(&checkpoint, parameters, adam, companion, objective.steps())?,
        None => State::fresh(parameters, adam),
    };
    let mut saved = Instant::now();
    while !state.progress.finished(config) {
        if session.observer.stopping() {
            session.save(stage, &state.checkpoint(parameters, companion))?;
            session.observer.proceed()?;
        }
        if session.keeps_checkpoints() && saved.elapsed() > SAVE_EVERY {
            session.save(stage, &state.checkpoint(parameters, companion))?;
            saved = Instant::now();
        }
        let epoch = state.progress.epochs;
        let seed = derive(seed, &[epoch as u64]);
        if let Some(companion) = companion {
            companion.step(epoch, &state.constants());
        }
        let (mut train_loss, mut score) = (f32::NAN, None);
        for step in 0..companion.map_or(1, Companion::optimiser_steps) {
            let seed = if companion.is_some() { derive(seed, &[step as u64]) } else { seed };
            train_loss = state.step(objective, &parameters.decays, seed);
            if !train_loss.is_finite() {
                return Err(Error::Diverged { stage: stage.to_string(), epoch, loss: train_loss });
            }
            // The last epoch always is, so that something is kept.
            if objective.measured(epoch) || epoch + 1 == config.epochs {
                score = state.measure(objective, config.monitor);
            }
        }
        state.progress.epochs += 1;
        session.observer.epoch(&EpochRecord {
            stage: stage.to_string(),
            epoch,
            train_loss,
            val_loss: score.map(|score| score.loss),
            val_accuracy: score.map(|score| score.accuracy),
        });
    }
    Ok(state.finish(parameters))
}

/// Everything that changes from epoch to epoch.
struct State {
    values: Vec<Rc<Mat>>,
    best: Vec<Mat>,
    adam: Adam,
    progress: Trained,
}

impl State {
    fn fresh(parameters: &Parameters, adam: AdamConfig) -> Self {
        let values = &parameters.values;
        State {
            values: values.iter().cloned().map(Rc::new).collect(),
            best: values.clone(),
            adam: Adam::new(adam, values.iter().map(Mat::shape)),
            progress: Trained { epochs: 0, best_epoch: 0, best: None },
        }
    }

    /// The steps of an epoch; says what they lost on average.
    fn step(&mut self, objective: &impl Objective, decays: &[bool], seed: u64) -> f32 {
        let mut sum = 0.0;
        for step in 0..objective.steps() {
            let (loss, found) = objective.gradient(&self.values, seed, step);
            // With the variables gone, the values are this state's alone and are updated in place.
            self.adam.next_step();
            for (index, (value, gradient)) in self.values.iter_mut().zip(&found).enumerate() {
                self.adam.update(index, Rc::make_mut(value), gradient, decays[index]);
            }
            sum += loss;
        }
        sum / objective.steps() as f32
    }

    fn constants(&self) -> Vec<Var> {
        self.values.iter().map(|value| Var::constant(Rc::clone(value))).collect()
    }

    fn measure(&mut self, objective: &impl Objective, monitor: Monitor) -> Option<Score> {
        let score = objective.score(&self.constants());
        let improved = match (score, self.progress.best) {
            (Some(score), Some(best)) => score.beats(&best, monitor),
            _ => true,
        };
        if improved {
            self.progress.best_epoch = self.progress.epochs;
            self.progress.best = score;
            objective.companion().inspect(|companion| companion.keep());
        }
        if improved && score.is_some() {
            for (best, value) in self.best.iter_mut().zip(&self.values) {
                best.as_mut_slice().copy_from_slice(value.as_slice());
            }
        }
        score
    }

    /// Leaves the best parameters; the last ones, where nothing was measured.
    fn finish(self, parameters: &mut Parameters) -> Trained {
        parameters.values = match self.progress.best {
            Some(_) => self.best,
            None => self.values.into_iter().map(Rc::unwrap_or_clone).collect(),
        };
        self.progress
    }

    fn checkpoint(&self, parameters: &Parameters, companion: Option<&dyn Companion>) -> Checkpoint {
        let mut checkpoint = Checkpoint {
            state: serde_json::to_value(self.progress).unwrap_or_default(),
            ..Checkpoint::default()
        };
        for (index, name) in parameters.names.iter().enumerate() {
            let mut put = |kind: &str, mat: &Mat| {
                checkpoint.tensors.insert(format!("{kind}/{name}"), mat.clone());
            };
            put("value", &self.values[index]);
            put("best", &self.best[index]);
            put("adam_first", &self.adam.first[index]);
            put("adam_second", &self.adam.second[index]);
        }
        if let Some(companion) = companion {
            companion.save(&mut checkpoint.tensors);
        }
        checkpoint
    }

    fn resume(
        checkpoint: &Checkpoint,
        parameters: &Parameters,
        adam: AdamConfig,
        companion: Option<&dyn Companion>,
        steps: usize,
    ) -> Result<Self> {
        let mut state = Self::fresh(parameters, adam);
        state.progress = serde_json::from_value(checkpoint.state.clone()).map_err(|error| {
            Error::data(format!("the checkpoint cannot be read: {error}"), "begin the training again")
        })?;
        let restore = |kind: &str| -> Result<Vec<Mat>> {
            let mut copy = parameters.clone();
            copy.names.iter_mut().for_each(|name| *name = format!("{kind}/{name}"));
            copy.restore(&checkpoint.tensors)?;
            Ok(copy.values)
        };
        state.values = restore("value")?.into_iter().map(Rc::new).collect();
        state.best = restore("best")?;
        state.adam.first = restore("adam_first")?;
        state.adam.second = restore("adam_second")?;
        let steps = steps * companion.map_or(1, Companion::optimiser_steps);
        state.adam.steps = (state.progress.epochs * steps) as u64;
        if let Some(companion) = companion {
            companion.resume(&checkpoint.tensors)?;
        }
        Ok(state)
    }
}
