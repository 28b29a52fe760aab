//! Predictions against labels: scored, and written as a table with the user's own ids and class names.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::linalg::Mat;
use crate::quality::answers::Answers;
use crate::quality::confusion::{Confusion, predicted_classes};
use crate::quality::threshold::is_positive;

/// What a model says about a dataset.
pub struct Predictions<'a> {
    dataset: &'a Dataset,
    probabilities: Mat,
    predicted: Vec<u32>,
    /// The classes that the model knows, then those that only the data knows.
    classes: Vec<String>,
    num_model_classes: usize,
    /// The class of each node by its place in `classes`.
    truth: Vec<Option<u32>>,
    positive: Option<u32>,
    /// How many edges each prediction survives, where that was certified.
    radii: Option<Vec<usize>>,
}

impl<'a> Predictions<'a> {
    /// Matches the model's classes to those of the data by name: other data may number them otherwise.
    pub fn new(dataset: &'a Dataset, model_classes: &[String], probabilities: Mat) -> Result<Self> {
        if probabilities.shape() != (dataset.num_nodes(), model_classes.len()) {
            let (rows, cols) = probabilities.shape();
            return Err(Error::data(
                format!(
                    "the model gives {rows} nodes {cols} classes, not {} nodes {}",
                    dataset.num_nodes(),
                    model_classes.len()
                ),
                "its weights and its run folder do not belong together: train again",
            ));
        }
        let mut classes = model_classes.to_vec();
        let labels = dataset.labels();
        let places: Vec<u32> = labels.names().iter().map(|name| place_of(name, &mut classes)).collect();
        let truth = (0..labels.len()).map(|n| labels.get(n).map(|class| places[class as usize])).collect();
        let predicted = predicted_classes(&probabilities);
        Ok(Predictions {
            dataset,
            probabilities,
            predicted,
            classes,
            num_model_classes: model_classes.len(),
            truth,
            positive: None,
            radii: None,
        })
    }

    /// The same with a class that is looked for, by the model's number of it.
    pub fn about(self, positive: Option<u32>) -> Self {
        let positive = positive.filter(|&class| (class as usize) < self.num_model_classes);
        Predictions { positive, ..self }
    }

    /// The same with the number of edges that each prediction survives, which its table then says, too.
    pub fn with_radii(self, radii: Vec<usize>) -> Self {
        Predictions { radii: Some(radii), ..self }
    }

    /// The same with another decision, if the model knows two classes: who is of the positive one with at least this
    /// probability is taken for it. Without a threshold the likelier class wins.
    pub fn decided_at(mut self, threshold: Option<f64>) -> Self {
        self.predicted = match (threshold, self.positive) {
            (Some(threshold), Some(positive)) if self.num_model_classes == 2 => {
                let probability = |node: usize| self.probabilities.row(node)[positive as usize];
                let decide =
                    |node| if is_positive(probability(node), threshold) { positive } else { 1 - positive };
                (0..self.probabilities.rows()).map(decide).collect()
            }
            _ => predicted_classes(&self.probabilities),
        };
        self
    }

    /// The data.
    pub fn dataset(&self) -> &Dataset {
        self.dataset
    }

    /// Probabilities `[num_nodes, classes that the model knows]`.
    pub fn probabilities(&self) -> &Mat {
        &self.probabilities
    }

    /// The class that is looked for, if there is one.
    pub fn positive(&self) -> Option<u32> {
        self.positive
    }

    /// The class that a node is taken for.
    pub fn prediction(&self, node: u32) -> &str {
        &self.classes[self.predicted[node as usize] as usize]
    }

    /// The class of a node, where it is known.
    pub fn label(&self, node: u32) -> Option<&str> {
        self.truth[node as usize].map(|class| self.classes[class as usize].as_str())
    }

    /// What is said about the labelled ones of some nodes, to be scored.
    pub fn answers(&self, nodes: impl IntoIterator<Item = u32>) -> Answers {
        let nodes: Vec<u32> = nodes.into_iter().filter(|&node| self.truth[node as usize].is_some()).collect();
        Answers {
            num_classes: self.classes.len(),
            truth: nodes.iter().filter_map(|&node| self.truth[node as usize]).collect(),
            predicted: nodes.iter().map(|&node| self.predicted[node as usize]).collect(),
            probabilities: self.probabilities.select_rows(&nodes),
            positive: self.positive,
        }
    }

    /// Names of the classes, in the order of [`Confusion`]'s numbers.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Classes with labelled nodes that the model has never heard of, and so always gets wrong.
    pub fn unknown_classes(&self) -> Vec<&str> {
        let unknown = (self.num_model_classes..self.classes.len())
            .filter(|&class| self.truth.contains(&Some(class as u32)));
        unknown.map(|class| self.classes[class].as_str()).collect()
    }

    /// Counts right and wrong among the labelled ones of some nodes.
    pub fn confusion(&self, nodes: impl IntoIterator<Item = u32>) -> Confusion {
        let pairs = nodes.into_iter().filter_map(|node| {
            let node = node as usize;
            Some((self.truth[node]?, self.predicted[node]))
        });
        Confusion::count(self.classes.len(), pairs)
    }

    /// How many nodes were predicted to be of each class that the model knows.
    pub fn class_sizes(&self) -> Vec<(&str, usize)> {
        let count = |class| self.predicted.iter().filter(|&&p| p as usize == class).count();
        (0..self.num_model_classes).map(|class| (self.classes[class].as_str(), count(class))).collect()
    }

    /// Writes `node,label,prediction,correct,part,p_CLASS…`, and `radius` where predictions are certified; what is not known stays
    /// empty.
    pub fn write_csv(&self, out: impl Write, split: Option<&Split>, path: &Path) -> Result<()> {
        self.write_csv_of(0..self.dataset.num_nodes() as u32, out, split, path)
    }

    /// The same of some nodes.
    pub fn write_csv_of(
        &self,
        nodes: impl IntoIterator<Item = u32>,
        out: impl Write,
        split: Option<&Split>,
        path: &Path,
    ) -> Result<()> {
        let parts = part_names(self.dataset.num_nodes(), split);
        let mut table = csv::Writer::from_writer(out);
        let failed = |error: csv::Error| write_error(error, path);
        let probability_names =
            self.classes[..self.num_model_classes].iter().map(|class| format!("p_{class}"));
        let header = ["node", "label", "prediction", "correct", "part"].map(String::from);
        let radius_name = self.radii.iter().map(|_| "radius".to_string());
        table.write_record(header.into_iter().chain(probability_names).chain(radius_name)).map_err(failed)?;
        for node in nodes.into_iter().map(|node| node as usize) {
            let (truth, predicted) = (self.truth[node], self.predicted[node]);
            let fields = [
                self.dataset.node_id(node),
                truth.map_or_else(String::new, |class| self.classes[class as usize].clone()),
                self.classes.get(predicted as usize).cloned().unwrap_or_default(),
                truth.map_or_else(String::new, |class| (class == predicted).to_string()),
                parts[node].to_string(),
            ];
            let probabilities = self.probabilities.row(node).iter().map(f32::to_string);
            let radius = self.radii.iter().map(|radii| radii[node].to_string());
            table.write_record(fields.into_iter().chain(probabilities).chain(radius)).map_err(failed)?;
        }
        table.flush().map_err(Error::io("write", path))
    }
}

fn place_of(name: &str, classes: &mut Vec<String>) -> u32 {
    let known = classes.iter().position(|class| class == name);
    known.unwrap_or_else(|| {
        classes.push(name.to_string());
        classes.len() - 1
    }) as u32
}

pub(super) fn part_names(num_nodes: usize, split: Option<&Split>) -> Vec<&'static str> {
    let mut names = vec![""; num_nodes];
    for (name, part) in split.iter().flat_map(|split| split.parts()) {
        part.iter().for_each(|&node| names[node as usize] = name);
    }
    names
}

pub(super) fn write_error(error: csv::Error, path: &Path) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::io("write", path)(source),
        other => Error::input(path, "", format!("{other:?}"), ""),
    }
}

/// The nodes that a model learned from, as its table of predictions remembers them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainedNodes {
    /// Their ids, in the order of the training data.
    pub ids: Vec<String>,
    /// Their labels; empty where there was none.
    pub labels: Vec<String>,
    /// The parts that they belonged to.
    pub split: Split,
}

impl TrainedNodes {
    /// Reads a table that [`Predictions::write_csv`] wrote.
    pub fn read(path: &Path) -> Result<Self> {
        let damaged = |problem: String| Error::input(path, "", problem, "train again");
        let file = std::fs::File::open(path).map_err(Error::io("read", path))?;
        let mut table = csv::Reader::from_reader(std::io::BufReader::new(file));
        let mut nodes = TrainedNodes::default();
        for record in table.records() {
            let record = record.map_err(|error| damaged(error.to_string()))?;
            let (Some(id), Some(label), Some(part)) = (record.get(0), record.get(1), record.get(4)) else {
                return Err(damaged("not a table of predictions".into()));
            };
            let node = nodes.ids.len() as u32;
            nodes.ids.push(id.to_string());
            nodes.labels.push(label.to_string());
            match part {
                "train" => nodes.split.train.push(node),
                "val" => nodes.split.val.push(node),
                "test" => nodes.split.test.push(node),
                _ => {}
            }
        }
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{DatasetParts, Features, Graph, Labels, Repairs};

    fn dataset() -> Dataset {
        let names = vec!["fox, red".to_string(), "owl".to_string(), "elk".to_string()];
        Dataset::new(DatasetParts {
            name: "zoo".into(),
            graph: Graph::from_edges(4, &[(0, 1)]).unwrap().0,
            repairs: Repairs::default(),
            features: Features::none(4),
            labels: Labels::new(vec![Some(0), Some(1), None, Some(2)], names).unwrap(),
            node_ids: Some(["a", "b \"x\"", "c,d", "e"].map(String::from).to_vec()),
            splits: vec![],
            details: Default::default(),
        })
        .unwrap()
    }

    #[test]
    fn classes_are_matched_by_name_and_ids_survive() {
        let dataset = dataset();
        let probabilities = Mat::from_slice(4, 2, &[0.25, 0.75, 0.9, 0.1, 0.5, 0.5, 1.0, 0.0]);
        let model_classes = ["owl".to_string(), "fox, red".to_string()];
        let predictions = Predictions::new(&dataset, &model_classes, probabilities).unwrap();
        assert_eq!(predictions.unknown_classes(), ["elk"]);
        assert_eq!(predictions.confusion(0..4).accuracy(), Some(2.0 / 3.0));
        let split = Split { train: vec![0], val: vec![1], test: vec![3] };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        predictions.write_csv(std::fs::File::create(&path).unwrap(), Some(&split), &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = "node,label,prediction,correct,part,p_owl,\"p_fox, red\"\n\
                        a,\"fox, red\",\"fox, red\",true,train,0.25,0.75\n\
                        \"b \"\"x\"\"\",owl,owl,true,val,0.9,0.1\n\
                        \"c,d\",,owl,,,0.5,0.5\n\
                        e,elk,owl,false,test,1,0\n";
        assert_eq!(text, expected);
        let ids = ["a", "b \"x\"", "c,d", "e"].map(String::from).to_vec();
        let labels = ["fox, red", "owl", "", "elk"].map(String::from).to_vec();
        assert_eq!(TrainedNodes::read(&path).unwrap(), TrainedNodes { ids, labels, split });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let dataset = dataset();
        let predictions = Predictions::new(&dataset, &["owl".to_string()], Mat::full(4, 1, 1.0)).unwrap();
        assert!(Predictions::new(&dataset, &["owl".to_string()], Mat::full(4, 2, 1.0)).is_err());
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let error = predictions.write_csv(full, None, Path::new("/dev/full")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write /dev/full"), "{error}");
    }
}
