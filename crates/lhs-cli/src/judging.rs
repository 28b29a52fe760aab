//! What models are judged by: the metric, the class that is looked for, class weights, the threshold.

use toml::{Table, Value};

use lhs::error::Result;
use lhs::experiment::settings::{self, Layer};
use lhs::metrics::{Metric, Threshold};
use lhs::models::ModelKind;
use lhs::training::ClassWeights;

const MONITOR: &str = "training.monitor";
const CLASS_WEIGHTS: &str = "training.class_weights";

/// What training and searching go by.
#[derive(Debug, clap::Args)]
pub struct JudgingArgs {
    /// What early stopping looks at and what is shown: accuracy, balanced_accuracy, macro_f1, roc_auc or average_precision [default: stop by the model's settings; show roc_auc of two classes, accuracy of more]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<Metric>,
    #[command(flatten)]
    pub positive: PositiveClass,
    /// How much classes count in the loss: auto (rare ones more), none, or weights such as fraud=10,ok=1 [default: none]
    #[arg(long, value_name = "WEIGHTS")]
    pub class_weights: Option<ClassWeights>,
}

/// The class that is looked for.
#[derive(Debug, clap::Args)]
pub struct PositiveClass {
    /// The class that is looked for, such as fraud [default: of two classes 1, true or yes, else the rarer]
    #[arg(long, value_name = "CLASS")]
    pub positive_class: Option<String>,
}

/// How decisions come of probabilities.
#[derive(Debug, clap::Args)]
pub struct ThresholdArg {
    /// From which probability on a node is taken for the positive class of two: auto (chosen at the validation nodes) or a number [default: 0.5, with a --metric other than accuracy auto]
    #[arg(long, value_name = "P")]
    pub threshold: Option<Threshold>,
}

impl JudgingArgs {
    /// The settings with what was asked for here; a monitor that was set by name stays.
    pub fn applied(&self, kind: &ModelKind, mut settings: Table, own: &[Layer]) -> Result<Table> {
        let mut set = |key: &str, value: Value| -> Result<()> {
            let mut table = Table::new();
            settings::insert(&mut table, key, value.clone());
            // Refuses what the model does not have.
            settings::layered(kind, &[Layer::from_table(table)])?;
            settings::insert(&mut settings, key, value);
            Ok(())
        };
        let is_set = own.iter().any(|layer| layer.keys().iter().any(|key| key == MONITOR));
        if let Some(metric) = self.metric.filter(|_| !is_set) {
            set(MONITOR, metric.name().into())?;
        }
        if let Some(weights) = &self.class_weights {
            set(CLASS_WEIGHTS, weights.clone().into())?;
        }
        Ok(settings)
    }
}
