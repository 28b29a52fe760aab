//! The list of models that the command line, suites and reports know by name.

use toml::Table;

use super::{
    ModelConfig, NodeClassifier, acm_gcn, alt_gcn, appnp, bm_gcn, fsgnn, gat, gcn, gcn_jaccard, gcn_svd,
    geom_gcn, glognn, gnnguard, gpnn, graphsage, greet, h2gcn, lhs, linkx, mixhop, mlp, nlgnn, node2seq,
    pro_gnn, rgcn, simp_gcn, ugcn,
};
use crate::error::{Error, Result};
use crate::training::Tensors;

/// A model as the command line knows it.
pub struct ModelKind {
    /// The name given to `--model`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Every setting with its default; sub-tables hold dotted settings.
    pub defaults: fn() -> Table,
    /// Reads settings (a complete table) and checks their ranges.
    pub build: fn(&Table) -> Result<Box<dyn ModelConfig>>,
    /// Restores a fitted model from its settings and tensors.
    pub load: fn(&Table, &Tensors) -> Result<Box<dyn NodeClassifier>>,
    /// What `lhs tune` searches.
    pub search: fn() -> Vec<(&'static str, SearchSpace)>,
    /// Settings that its authors published for some graph, as TOML: the first that `lhs tune` tries after the defaults. Only
    /// what is searched is taken from them.
    pub published: &'static [&'static str],
    /// Whether it has weights for each node, and so predicts only on graphs of the nodes that it learned from.
    pub knows_nodes: bool,
}

impl ModelKind {
    /// The same model with settings that its authors published.
    pub(super) const fn publishing(mut self, settings: &'static [&'static str]) -> Self {
        self.published = settings;
        self
    }
}

/// The values that a setting may take in a search.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchSpace {
    /// One of these.
    Choice(Vec<toml::Value>),
    /// Between two numbers, evenly.
    Uniform(f64, f64),
    /// Between two positive numbers, evenly in the logarithm.
    LogUniform(f64, f64),
}

/// All models, in the order in which they are listed.
pub fn kinds() -> &'static [ModelKind] {
    &[
        lhs::KIND,
        mlp::KIND,
        gcn::KIND,
        gat::KIND,
        graphsage::KIND,
        appnp::KIND,
        mixhop::KIND,
        h2gcn::KIND,
        nlgnn::KIND,
        geom_gcn::KIND,
        node2seq::KIND,
        gpnn::KIND,
        pro_gnn::KIND,
        ugcn::KIND,
        simp_gcn::KIND,
        bm_gcn::KIND,
        greet::KIND,
        alt_gcn::KIND,
        gcn_jaccard::KIND,
        gcn_svd::KIND,
        gnnguard::KIND,
        rgcn::KIND,
        linkx::KIND,
        glognn::KIND,
        acm_gcn::KIND,
        fsgnn::KIND,
    ]
}

/// The model of that name; the error names the nearest one.
pub fn kind(name: &str) -> Result<&'static ModelKind> {
    kinds().iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names: Vec<&str> = kinds().iter().map(|kind| kind.name).collect();
        Error::setting("model", format!("there is no model `{name}`"), crate::error::nearest(name, &names))
    })
}
