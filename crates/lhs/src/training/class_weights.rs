//! How much each class counts in the loss.

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml::Value;

use super::Task;
use crate::autograd::Var;
use crate::error::{Error, Result, nearest};
use crate::quality::positive::class_named;

const KEY: &str = "training.class_weights";

/// How the training nodes are weighed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ClassWeights {
    /// All count the same.
    #[default]
    None,
    /// Each class counts as much as any other: its nodes count inversely to its frequency among the training nodes.
    Auto,
    /// By class; one that is not named counts 1. Only the ratios matter.
    Given(Vec<(String, f64)>),
}

impl ClassWeights {
    pub(super) fn validate(&self, key: &str) -> Result<()> {
        let ClassWeights::Given(weights) = self else { return Ok(()) };
        let wrong = |problem: String, remedy: &str| Err(Error::setting(key, problem, remedy));
        for (place, (class, weight)) in weights.iter().enumerate() {
            if !(*weight > 0.0 && weight.is_finite()) {
                return wrong(format!("{class}={weight} is out of range"), "choose positive numbers");
            }
            if weights[..place].iter().any(|(other, _)| other == class) {
                return wrong(format!("class `{class}` is named twice"), "name it once");
            }
        }
        Ok(())
    }

    /// The loss for the classes of a task; the mean weight of its training nodes is 1.
    pub fn resolve(&self, task: &Task<'_>) -> Result<ClassLoss> {
        let mut sizes = vec![0usize; task.num_classes];
        task.train.classes.iter().for_each(|&class| sizes[class as usize] += 1);
        let mut weights = vec![1.0; task.num_classes];
        match self {
            ClassWeights::None => return Ok(ClassLoss(None)),
            // A class without training nodes has no frequency, and nothing to weigh.
            ClassWeights::Auto => {
                let filled = weights.iter_mut().zip(&sizes).filter(|(_, size)| **size > 0);
                filled.for_each(|(weight, &size)| *weight = 1.0 / size as f64);
            }
            ClassWeights::Given(given) => {
                for (class, weight) in given {
                    let place = class_named(class, task.class_names).map_err(|error| match error {
                        Error::Data { problem, remedy } => Error::setting(KEY, problem, remedy),
                        other => other,
                    })?;
                    weights[place as usize] = *weight;
                }
            }
        }
        let total: f64 = weights.iter().zip(&sizes).map(|(weight, &size)| weight * size as f64).sum();
        let scale = task.train.classes.len() as f64 / total;
        Ok(ClassLoss(Some(weights.into_iter().map(|weight| (weight * scale) as f32).collect())))
    }
}

/// Cross-entropy in which classes may count more or less.
#[derive(Clone, Debug, Default)]
pub struct ClassLoss(Option<Rc<[f32]>>);

impl ClassLoss {
    /// The loss of class scores, a row per node of these classes.
    pub fn of(&self, scores: &Var, classes: &Rc<[u32]>) -> Var {
        match &self.0 {
            None => scores.cross_entropy(classes),
            Some(weights) => {
                let rows: Rc<[f32]> = classes.iter().map(|&class| weights[class as usize]).collect();
                scores.weighted_cross_entropy(classes, &rows)
            }
        }
    }

    /// A loss with these weights, as [`ClassLoss::weights`] gave them.
    pub(crate) fn from_weights(weights: Option<&[f32]>) -> Self {
        ClassLoss(weights.map(Rc::from))
    }

    /// The weight of each class; none where all count the same.
    pub fn weights(&self) -> Option<&[f32]> {
        self.0.as_deref()
    }
}

impl fmt::Display for ClassWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassWeights::None => f.write_str("none"),
            ClassWeights::Auto => f.write_str("auto"),
            ClassWeights::Given(weights) => {
                let pairs: Vec<String> =
                    weights.iter().map(|(class, weight)| format!("{class}={weight}")).collect();
                f.write_str(&pairs.join(","))
            }
        }
    }
}

impl FromStr for ClassWeights {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "none" => Ok(ClassWeights::None),
            "auto" => Ok(ClassWeights::Auto),
            // A slip in one of the words, not a class.
            word if !word.contains('=') => {
                let remedy = format!(
                    "{}, or give weights by class, such as fraud=10,ok=1",
                    nearest(word, &["auto", "none"])
                );
                Err(Error::setting(KEY, format!("`{word}` is no way to weigh classes"), remedy))
            }
            pairs => pairs.split(',').map(pair).collect::<Result<_>>().map(ClassWeights::Given),
        }
    }
}

/// `CLASS=WEIGHT`; the class may have a `=` in its name.
fn pair(text: &str) -> Result<(String, f64)> {
    let found = text.rsplit_once('=').and_then(|(class, weight)| Some((class, weight.trim().parse().ok()?)));
    found.map(|(class, weight)| (class.trim().to_string(), weight)).ok_or_else(|| {
        Error::setting(KEY, format!("`{text}` is not a class with its weight"), "write fraud=10,ok=1")
    })
}

impl TryFrom<Value> for ClassWeights {
    type Error = Error;

    /// A text, a list of texts `CLASS=WEIGHT`, or a table of weights by class.
    fn try_from(value: Value) -> Result<Self> {
        let wrong = |value: &Value| {
            Error::setting(
                KEY,
                format!("{value} is no way to weigh classes"),
                "give none, auto, or weights by class",
            )
        };
        match value {
            Value::String(text) => text.parse(),
            Value::Array(list) => {
                let pairs = list.iter().map(|item| item.as_str().ok_or_else(|| wrong(item)).and_then(pair));
                pairs.collect::<Result<_>>().map(ClassWeights::Given)
            }
            Value::Table(table) => {
                let number = |value: &Value| value.as_float().or(value.as_integer().map(|n| n as f64));
                let pairs = table
                    .iter()
                    .map(|(class, value)| Ok((class.clone(), number(value).ok_or_else(|| wrong(value))?)));
                pairs.collect::<Result<_>>().map(ClassWeights::Given)
            }
            other => Err(wrong(&other)),
        }
    }
}

/// A list, because a name may hold a comma, or a dot, which would be a path among settings.
impl From<ClassWeights> for Value {
    fn from(weights: ClassWeights) -> Value {
        match weights {
            ClassWeights::Given(pairs) => Value::Array(
                pairs.into_iter().map(|(class, weight)| format!("{class}={weight}").into()).collect(),
            ),
            word => word.to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Features, Graph, Labelled};
    use crate::linalg::Mat;

    fn weights(of: &ClassWeights, classes: &[u32], names: &[String]) -> Result<Option<Vec<f32>>> {
        let graph = Graph::from_edges(classes.len(), &[]).unwrap().0;
        let features = Features::none(classes.len());
        let task = Task {
            graph: &graph,
            features: &features,
            num_classes: names.len(),
            train: Labelled { nodes: (0..classes.len() as u32).collect(), classes: classes.to_vec() },
            val: Labelled::default(),
            class_names: names,
            positive_class: None,
            copies: Default::default(),
        };
        Ok(of.resolve(&task)?.weights().map(<[f32]>::to_vec))
    }

    #[test]
    fn rare_classes_count_more_and_the_mean_is_one() {
        let names = ["ok", "fraud", "never"].map(String::from);
        let train = [0, 0, 0, 1];
        assert_eq!(weights(&ClassWeights::None, &train, &names).unwrap(), None);
        // 4/2 per class: thirds of 2 and 2. The class without nodes is not looked at.
        let auto = weights(&ClassWeights::Auto, &train, &names).unwrap().unwrap();
        assert!((auto[0] - 2.0 / 3.0).abs() < 1e-6 && (auto[1] - 2.0).abs() < 1e-6, "{auto:?}");
        // 3 times 1 and once 9, four nodes: divided by 3.
        let given = weights(&"fraud=9".parse().unwrap(), &train, &names).unwrap().unwrap();
        assert!((given[0] - 1.0 / 3.0).abs() < 1e-6 && (given[1] - 3.0).abs() < 1e-6, "{given:?}");
        let problem = weights(&"fruad=9".parse().unwrap(), &train, &names).unwrap_err().to_string();
        assert!(problem.contains("there is no class `fruad`") && problem.contains("did you mean `fraud`?"));
    }

    #[test]
    fn weights_are_read_in_every_form() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Held {
            weights: ClassWeights,
        }
        let read = |text: &str| toml::from_str::<Held>(text).map(|held| held.weights);
        let given = ClassWeights::Given(vec![("a, b".into(), 2.5), ("c.d=e".into(), 1.0)]);
        assert_eq!(read("weights = \"auto\"").unwrap(), ClassWeights::Auto);
        assert_eq!(read("weights = [\"a, b=2.5\", \"c.d=e=1\"]").unwrap(), given);
        assert_eq!(read("[weights]\n\"a, b\" = 2.5\n\"c.d=e\" = 1").unwrap(), given);
        let plain = ClassWeights::Given(vec![("fraud".into(), 10.0), ("ok".into(), 1.0)]);
        assert_eq!(read("weights = \"fraud=10, ok=1\"").unwrap(), plain);
        for held in [given, plain, ClassWeights::None, ClassWeights::Auto].map(|weights| Held { weights }) {
            assert_eq!(toml::from_str::<Held>(&toml::to_string(&held).unwrap()).unwrap(), held);
        }
        let problem = "atuo".parse::<ClassWeights>().unwrap_err().to_string();
        assert!(problem.contains("did you mean `auto`?"), "{problem}");
        assert!("fraud=much".parse::<ClassWeights>().is_err() && read("weights = 3").is_err());
        for wrong in ["a=0", "a=-1", "a=inf", "a=1,a=2"] {
            assert!(wrong.parse::<ClassWeights>().unwrap().validate("w").is_err(), "{wrong}");
        }
    }

    #[test]
    fn equal_weights_cost_what_no_weights_cost() {
        let scores = Var::constant(Mat::from_fn(3, 2, |row, col| (row + 2 * col) as f32));
        let classes: Rc<[u32]> = Rc::from([0, 1, 1]);
        let plain = ClassLoss::default().of(&scores, &classes).scalar();
        let equal = ClassLoss(Some(Rc::from([1.0, 1.0]))).of(&scores, &classes).scalar();
        assert!((plain - equal).abs() < 1e-6);
        let only_first = ClassLoss(Some(Rc::from([3.0, 0.0]))).of(&scores, &classes).scalar();
        let first = scores.gather_rows(&Rc::from([0])).cross_entropy(&Rc::from([0])).scalar();
        assert!((only_first - first).abs() < 1e-6);
    }
}
