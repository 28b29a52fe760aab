//! A folder in which the models of one kind are kept: what `train` leaves, and what `predict` and others read.

use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::cell::{CellId, CellRecord};
use super::columns;
use super::data::DataRecord;
use super::matched::{Learned, Matched};
use super::store::{Manifest, model_folder, read_cells};
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Features, Labelled, Split};
use crate::io::atomic;
use crate::linalg::Mat;
use crate::metrics::predictions::TrainedNodes;
use crate::metrics::{Predictions, class_named, positive_class};
use crate::models::{NodeClassifier, Registry, SavedModel};
use crate::structure::node_identity::NodeIdentity;
use crate::training::EpochRecord;

const MODEL: &str = "model.lhs";
const CURVE: &str = "curve.jsonl";
const PREDICTIONS: &str = "predictions.csv";
/// The list, beside the model's own, of the fingerprints of the nodes that it learned from.
const NODES: &str = "nodes_learned_from";

/// One model on some splits of one dataset, kept on disk.
#[derive(Clone, Debug)]
pub struct Run {
    path: PathBuf,
    manifest: Manifest,
    records: Vec<CellRecord>,
}

impl Run {
    /// Opens a run that is there; a process may still be at work on it.
    pub fn open(path: &Path) -> Result<Self> {
        let (manifest, records) = read_cells(path)?;
        if !manifest.keeps_models || manifest.suite.models.len() != 1 || manifest.data.len() != 1 {
            return Err(Error::input(
                path,
                "",
                "these are results of a suite, not of one trained model",
                "give the folder of a training",
            ));
        }
        Ok(Run { path: path.to_path_buf(), manifest, records })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was run.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Name of the model.
    pub fn model_name(&self) -> &str {
        &self.manifest.suite.models[0]
    }

    /// The effective settings of the model.
    pub fn settings(&self) -> Table {
        self.manifest.suite.settings.get(self.model_name()).cloned().unwrap_or_default()
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.manifest.suite.seeds.first().copied().unwrap_or(0)
    }

    /// The data that was learned from.
    pub fn data(&self) -> &DataRecord {
        &self.manifest.data[0]
    }

    /// The finished splits, by number, on clean data.
    pub fn results(&self) -> Vec<&CellRecord> {
        let clean = |record: &&CellRecord| {
            record.id.attack.is_none() && !record.id.inductive && record.result.is_some()
        };
        let mut results: Vec<&CellRecord> = self.records.iter().filter(clean).collect();
        results.sort_by_key(|record| record.id.split);
        results
    }

    /// Where what a split left is kept.
    pub fn split_folder(&self, split: usize) -> PathBuf {
        let id = CellId {
            dataset: self.data().name.clone(),
            model: self.model_name().to_string(),
            variant: None,
            split,
            seed: self.seed(),
            attack: None,
            inductive: false,
        };
        model_folder(&self.path, &id, false)
    }

    /// How training on a split went.
    pub fn curve(&self, split: usize) -> Result<Vec<EpochRecord>> {
        let file = self.split_folder(split).join(CURVE);
        let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let record = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                let remedy = "delete the folder of the split to train it again";
                Error::input(&file, format!("line {}", number + 1), error.to_string(), remedy)
            })
        };
        text.lines().enumerate().map(record).collect()
    }

    /// The model that was trained on a split.
    pub fn model(&self, registry: &Registry, split: usize) -> Result<Box<dyn NodeClassifier>> {
        Ok(self.trained(registry, split)?.model)
    }

    /// The model that was trained on a split, with what is remembered of the nodes that it learned from.
    pub fn trained(&self, registry: &Registry, split: usize) -> Result<TrainedModel> {
        if !self.results().iter().any(|record| record.id.split == split) {
            return Err(Error::input(
                &self.path,
                "",
                format!("split {split} is not finished"),
                "finish the run, or choose another split",
            ));
        }
        let kind = registry.kind(self.model_name())?;
        let file = self.split_folder(split).join(MODEL);
        let saved = SavedModel::read(&file)?;
        Ok(TrainedModel {
            model: (kind.restore)(&saved).map_err(|error| error.in_file(&file))?,
            nodes: TrainedNodes::read(&self.split_folder(split).join(PREDICTIONS))?,
            identity: saved.list(NODES).ok().map(|list| NodeIdentity::from_fingerprints(list.to_vec())),
            have_ids: self.data().has_ids,
            data: self.data().clone(),
            remembers_nodes: kind.remembers_nodes,
        })
    }

    /// Predictions of the model of a split, decided as its training decided, about the class that training looked for, or
    /// about another that is named. `learned_from` is the split under the numbers of the predictions' nodes.
    pub fn judged<'a>(
        &self,
        predictions: Predictions<'a>,
        split: usize,
        learned_from: &Split,
        named: Option<&str>,
    ) -> Result<Predictions<'a>> {
        let classes = &self.data().classes;
        let results = self.results();
        let result = results.iter().find(|record| record.id.split == split);
        let measured = result.and_then(|record| record.result.as_ref());
        let kept = measured.and_then(|measured| measured.positive_class.as_deref());
        let positive = match kept {
            Some(name) => Some(class_named(name, classes)?),
            None => {
                let train = predictions.answers(learned_from.train.iter().copied()).truth;
                positive_class(classes, None, &train)
            }
        };
        let decided =
            predictions.about(positive).decided_at(measured.and_then(|measured| measured.threshold));
        Ok(match named {
            Some(name) => decided.about(Some(class_named(name, classes)?)),
            None => decided,
        })
    }

    /// A split as it was trained on, by the rows of the data that it was trained on.
    pub fn trained_split(&self, split: usize) -> Result<Split> {
        Ok(TrainedNodes::read(&self.split_folder(split).join(PREDICTIONS))?.split)
    }

    /// A split as it was trained on, after making sure that its nodes are those of the data, in their order.
    pub fn split(&self, dataset: &Dataset, split: usize) -> Result<Split> {
        let nodes = TrainedNodes::read(&self.split_folder(split).join(PREDICTIONS))?;
        let learned = Learned {
            nodes: &nodes,
            have_ids: self.data().has_ids,
            identity: None,
            remembered: false,
            checked: true,
        };
        if Matched::new(dataset, &learned)?.is_in_order() {
            return Ok(nodes.split);
        }
        Err(Error::data(
            format!(
                "{} does not have the {} nodes of the run, in their order",
                dataset.name(),
                nodes.ids.len()
            ),
            "give the rows in the order of the training data; predicting and scoring work in any order",
        ))
    }
}

/// A model, and the nodes that it learned from.
pub struct TrainedModel {
    /// The model.
    pub model: Box<dyn NodeClassifier>,
    nodes: TrainedNodes,
    identity: Option<NodeIdentity>,
    have_ids: bool,
    data: DataRecord,
    remembers_nodes: bool,
}

impl TrainedModel {
    /// A remark where the columns of some data have another order than those that the model learned from; they are put right.
    pub fn column_note(&self, dataset: &Dataset) -> Result<Option<String>> {
        Ok(columns::matched(dataset, &self.data)?.1)
    }

    /// Data with its feature columns in the order of the training data, matched by name where both sides have names; refused
    /// where columns are missing, are additional, or were scaled otherwise.
    pub fn with_columns<'a>(&self, dataset: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        match columns::matched(dataset, &self.data)?.0 {
            Cow::Borrowed(_) => Ok(Cow::Borrowed(dataset)),
            Cow::Owned(features) => {
                let mut parts = DatasetParts { features, ..dataset.clone().into_parts() };
                parts.details.feature_names = self.data.feature_names.clone();
                Dataset::new(parts).map(Cow::Owned)
            }
        }
    }

    /// What the model says about the nodes of some data, and the parts that they belonged to in training. Nodes are matched
    /// by id, in any order; where neither side has ids, by position.
    pub fn predict(&self, dataset: &Dataset) -> Result<(Mat, Split)> {
        let dataset = self.with_columns(dataset)?;
        let matched = self.matched(&dataset, self.remembers_nodes)?;
        Ok((matched.predict(self.model.as_ref())?, matched.split(&self.nodes.split)))
    }

    /// The same for data that must have the nodes of the training data, all of them and no others.
    pub fn predict_again(&self, dataset: &Dataset) -> Result<(Mat, Split)> {
        let dataset = self.with_columns(dataset)?;
        let matched = complete(self.matched(&dataset, true)?, &dataset, &self.nodes)?;
        Ok((matched.predict(self.model.as_ref())?, matched.split(&self.nodes.split)))
    }

    /// Data in the order in which the model expects it, for whoever asks the model itself, and its nodes that the model
    /// learned from. Nodes that the model must meet in their places, but that are gone, have stand-ins without edges.
    /// The columns are as [`TrainedModel::with_columns`] leaves them.
    pub fn arranged<'a>(&self, dataset: &'a Dataset, classes: &[String]) -> Result<Arranged<'a>> {
        if let Some(note) = self.column_note(dataset)? {
            return Err(Error::data(note, "put the columns right first"));
        }
        let matched = self.matched(dataset, self.remembers_nodes)?;
        let (arranged, places) = matched.dataset(&self.nodes.ids)?;
        let place = |node: u32| places.as_ref().map_or(node, |places| places[node as usize]);
        let move_part = |part: &[u32]| {
            let mut part: Vec<u32> = part.iter().map(|&node| place(node)).collect();
            part.sort_unstable();
            part
        };
        let split = matched.split(&self.nodes.split);
        let mut learned_from = Labelled::default();
        for (node, known) in matched.known() {
            let class = classes.iter().position(|name| *name == self.nodes.labels[known as usize]);
            if let (true, Some(class)) = (split.train.binary_search(&node).is_ok(), class) {
                learned_from.nodes.push(place(node));
                learned_from.classes.push(class as u32);
            }
        }
        let split = Split {
            train: move_part(&split.train),
            val: move_part(&split.val),
            test: move_part(&split.test),
        };
        Ok(Arranged { dataset: arranged, split, learned_from, places })
    }

    fn matched<'a>(&self, dataset: &'a Dataset, checked: bool) -> Result<Matched<'a>> {
        let learned = Learned {
            nodes: &self.nodes,
            have_ids: self.have_ids,
            identity: self.identity.as_ref(),
            remembered: self.remembers_nodes,
            checked,
        };
        Matched::new(dataset, &learned)
    }
}

/// Data as a model expects it.
pub struct Arranged<'a> {
    /// The data.
    pub dataset: Cow<'a, Dataset>,
    /// The parts that its nodes belonged to in training.
    pub split: Split,
    /// The nodes that were learned from, with the numbers of their classes among those of the model.
    pub learned_from: Labelled,
    places: Option<Vec<u32>>,
}

impl Arranged<'_> {
    /// Where a node of the data stands now.
    pub fn place(&self, node: usize) -> usize {
        self.places.as_ref().map_or(node, |places| places[node] as usize)
    }
}

fn complete<'a>(matched: Matched<'a>, dataset: &Dataset, nodes: &TrainedNodes) -> Result<Matched<'a>> {
    if matched.is_complete() {
        return Ok(matched);
    }
    Err(Error::data(
        format!("{} does not have the {} nodes of the run", dataset.name(), nodes.ids.len()),
        "predict instead of scoring: that works on other nodes",
    ))
}

/// What a training leaves beside its cell.
pub(super) struct Artefacts<'a> {
    pub(super) model: &'a dyn NodeClassifier,
    pub(super) curve: &'a [EpochRecord],
    pub(super) predictions: &'a Predictions<'a>,
    pub(super) split: &'a Split,
    pub(super) features: &'a Features,
}

impl Artefacts<'_> {
    /// Whether a folder has them all.
    pub(super) fn are_in(folder: &Path) -> bool {
        [MODEL, CURVE, PREDICTIONS].iter().all(|file| folder.join(file).exists())
    }

    /// Writes the files, each whole or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let mut saved = self.model.saved()?;
        saved.contents.lists.insert(NODES.into(), NodeIdentity::of(self.features).fingerprints().to_vec());
        saved.write(&folder.join(MODEL))?;
        write_curve(&folder.join(CURVE), self.curve)?;
        let table = folder.join(PREDICTIONS);
        atomic::write(&table, |out| self.predictions.write_csv(out, Some(self.split), &table))
    }
}

fn write_curve(path: &Path, curve: &[EpochRecord]) -> Result<()> {
    atomic::write(path, |out| {
        for record in curve {
            let line = serde_json::to_string(record).map_err(|error| Error::data(error.to_string(), ""))?;
            writeln!(out, "{line}").map_err(Error::io("write", path))?;
        }
        Ok(())
    })
}

/// Writes the effective settings of a model as a file that can be given back as settings.
pub fn write_settings(folder: &Path, model: &str, settings: &Table) -> Result<()> {
    let section = Table::from_iter([(model.to_string(), Value::Table(settings.clone()))]);
    atomic::write_bytes(&folder.join("settings.toml"), section.to_string().as_bytes())
}

/// `FOLDER/STEM`, or `FOLDER/STEM-2`, `-3`, … when that is taken.
pub fn free_name(folder: &Path, stem: &str) -> PathBuf {
    numbered_names(folder, stem).find(|path| !path.exists()).unwrap_or_else(|| folder.join(stem))
}

/// The last of `FOLDER/STEM`, `FOLDER/STEM-2`, … that is there.
pub fn last_name(folder: &Path, stem: &str) -> Option<PathBuf> {
    numbered_names(folder, stem).take_while(|path| path.exists()).last()
}

fn numbered_names(folder: &Path, stem: &str) -> impl Iterator<Item = PathBuf> {
    let first = std::iter::once(folder.join(stem));
    first.chain((2u64..).map(move |number| folder.join(format!("{stem}-{number}"))))
}
