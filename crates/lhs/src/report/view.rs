//! A training run, looked at: how good its answers are, its latent graph, and every node in both graphs.

use super::explorer::{Explorer, ExplorerInput, truth};
use super::facts::{DataFacts, Facts};
use super::figures::{self, Figure};
use super::quality::ShownAnswers;
use super::{certificate, latent, summary};
use crate::certify::CertificateRecord;
use crate::error::Result;
use crate::experiment::{CellRecord, Manifest};
use crate::graph::{Dataset, Split};
use crate::models::NodeClassifier;
use crate::training::EpochRecord;

/// What a page shows of a run.
///
/// Scores and curves are read from its records. What no record holds is computed from the model: its answers, its latent
/// structure, where the weight of the latent graph lies, and for the explorer the neighbours and places of every node.
pub struct RunView {
    /// Name of the data.
    pub dataset: String,
    /// Name of the model.
    pub model: String,
    /// The split that is looked at closely.
    pub split: usize,
    /// When, how and on what.
    pub facts: Facts,
    /// What was found, in sentences.
    pub found: Vec<String>,
    /// What the model decided.
    pub remarks: Vec<String>,
    /// Scores of all splits.
    pub results: Vec<CellRecord>,
    /// How good its answers are.
    pub(super) quality: Vec<Figure>,
    /// Wrong answers at test nodes, those first that the model was surest of.
    pub(super) errors: Vec<WrongAnswer>,
    /// What no change of some edges can undo, if that was certified.
    pub(super) certified: Option<Figure>,
    /// What was learned.
    pub(super) figures: Vec<Figure>,
    /// For walking through the graphs.
    pub(super) explorer: Explorer,
}

/// A wrong answer.
pub(super) struct WrongAnswer {
    /// The node.
    pub id: String,
    /// Its class.
    pub truth: String,
    /// What the model took it for.
    pub predicted: String,
    /// How sure it was, 0..=1.
    pub confidence: f64,
    /// How many of its neighbours are of another class, in the given graph and in the latent one.
    pub h: [Option<f64>; 2],
}

/// What a view is made from.
pub struct RunViewInput<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// What the run's folder remembers.
    pub manifest: &'a Manifest,
    /// The split that is looked at closely, and its number.
    pub split: (&'a Split, usize),
    /// The model that was trained on it.
    pub model: &'a dyn NodeClassifier,
    /// Its name.
    pub name: &'a str,
    /// Names of its classes.
    pub classes: &'a [String],
    /// Its training curve.
    pub curve: &'a [EpochRecord],
    /// Scores of all splits.
    pub results: Vec<CellRecord>,
    /// What was certified, if anything.
    pub certificate: Option<&'a CertificateRecord>,
}

impl RunView {
    /// Looks at a run.
    pub fn new(input: RunViewInput<'_>) -> Result<Self> {
        let (dataset, model) = (input.dataset, input.model);
        let (graph, features) = (dataset.graph(), dataset.features());
        let probabilities = model.predict(graph, features)?;
        let measured = input.results.iter().find(|record| record.id.split == input.split.1);
        let measured = measured.and_then(|record| record.result.as_ref());
        let positive = measured.and_then(|measured| measured.positive_class.as_deref());
        let positive = positive.and_then(|name| input.classes.iter().position(|class| class == name));
        let threshold = measured.and_then(|measured| measured.threshold);
        let answers =
            ShownAnswers::new(input.classes, &probabilities, truth(dataset, input.classes), input.split.0)
                .decided(positive.map(|class| class as u32), threshold);
        let curve = figures::curve("While training", &[(input.name.to_string(), input.curve)]);
        let mut figures: Vec<Figure> = curve.into_iter().collect();
        let structure = model.structure(graph, features)?;
        let latent = structure.as_ref().map(|structure| structure.latent());
        if let Some(latent) = latent {
            figures.extend(latent::figures(dataset, latent)?);
        }
        let wrong = answers.worst_errors();
        let channels = model.channel_scores(graph, features)?;
        let explorer =
            Explorer::new(ExplorerInput { dataset, answers: &answers, latent, channels, wanted: &wrong })?;
        let mut found = summary::of_run(input.name, dataset.name(), &answers, &input.results);
        found.extend(input.certificate.and_then(certificate::finding));
        Ok(RunView {
            dataset: dataset.name().into(),
            model: input.name.into(),
            split: input.split.1,
            facts: facts(input.manifest, dataset),
            found,
            remarks: model.summary(),
            results: input.results,
            quality: answers.figures(),
            certified: input.certificate.and_then(certificate::figure),
            errors: wrong.iter().map(|&node| wrong_answer(dataset, &answers, &explorer, node)).collect(),
            figures,
            explorer,
        })
    }

    /// What it is called.
    pub fn title(&self) -> String {
        format!("{} on {}, split {}", self.model, self.dataset, self.split)
    }
}

/// What the folder remembers; the size of the data is known, whoever made the folder.
fn facts(manifest: &Manifest, dataset: &Dataset) -> Facts {
    let mut facts = Facts::of(manifest);
    let size = Some((dataset.num_nodes(), dataset.graph().num_edges()));
    facts.data = facts.data.into_iter().map(|data| DataFacts { size, ..data }).collect();
    facts
}

fn wrong_answer(
    dataset: &Dataset,
    answers: &ShownAnswers<'_>,
    explorer: &Explorer,
    node: usize,
) -> WrongAnswer {
    let id = dataset.node_id(node);
    let place = explorer.ids.iter().position(|known| *known == id);
    let h = |h: &[Option<f64>]| place.and_then(|place| h[place]);
    let name =
        |class: Option<u32>| class.map_or_else(String::new, |class| answers.classes[class as usize].clone());
    WrongAnswer {
        truth: name(answers.truth[node]),
        predicted: name(Some(answers.predicted[node])),
        confidence: answers.confidence(node),
        h: [h(&explorer.given.h), explorer.latent.as_ref().and_then(|latent| h(&latent.h))],
        id,
    }
}
