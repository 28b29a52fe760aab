//! The models by their names.

use std::path::Path;

use toml::Table;

use super::{
    AnyModel, FittedModel, Model, NodeClassifier, SavedModel, acm_gcn, alt_gcn, appnp, bm_gcn, fsgnn, gat,
    gcn, gcn_jaccard, gcn_svd, geom_gcn, glognn, gnnguard, gpnn, graphsage, greet, h2gcn, lhs, linkx,
    memoriser, mixhop, mlp, nlgnn, node2seq, pro_gnn, rgcn, settings, simp_gcn, ugcn,
};
use crate::error::{Error, Result, nearest};

/// A model as a list knows it, without its types.
#[derive(Clone, Copy)]
pub struct ModelKind {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Every setting with its default; sub-tables hold dotted settings.
    pub defaults: fn() -> Table,
    /// Reads settings (a complete table) and checks their ranges.
    pub build: fn(&Table) -> Result<AnyModel>,
    /// Restores a fitted model.
    pub restore: fn(&SavedModel) -> Result<Box<dyn NodeClassifier>>,
    /// What a search for settings tries.
    pub search: fn() -> Vec<(&'static str, SearchSpace)>,
    /// [`super::ModelInfo::PUBLISHED`].
    pub published: &'static [&'static str],
    /// [`super::ModelInfo::TRANSDUCTIVE`].
    pub transductive: bool,
    /// [`super::ModelInfo::REMEMBERS_NODES`].
    pub remembers_nodes: bool,
    /// [`super::ModelInfo::READS_DIRECTION`].
    pub reads_direction: bool,
    /// [`Model::LEARNS_FROM_COPIES`].
    pub learns_from_copies: bool,
}

impl ModelKind {
    /// A model of one's own, or one of those here, for a list.
    pub const fn of<M: Model>() -> Self {
        ModelKind {
            name: M::NAME,
            summary: M::SUMMARY,
            defaults: settings::defaults::<M>,
            build: |table| {
                let model: M = settings::read(table)?;
                model.validate()?;
                Ok(AnyModel::new(model))
            },
            restore: |saved| Ok(Box::new(M::Fitted::restore(saved)?)),
            search: M::search,
            published: M::PUBLISHED,
            transductive: M::TRANSDUCTIVE,
            remembers_nodes: M::REMEMBERS_NODES,
            reads_direction: M::READS_DIRECTION,
            learns_from_copies: M::LEARNS_FROM_COPIES,
        }
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

/// Models by name: those of this library, and those that a program adds.
#[derive(Clone)]
pub struct Registry(Vec<ModelKind>);

impl Default for Registry {
    fn default() -> Self {
        Registry(kinds().to_vec())
    }
}

impl Registry {
    /// The same with one more model, which takes the place of one of the same name.
    pub fn with<M: Model>(mut self) -> Self {
        self.0.retain(|kind| kind.name != M::NAME);
        self.0.push(ModelKind::of::<M>());
        self
    }

    /// The model of that name; the error names the nearest one.
    pub fn kind(&self, name: &str) -> Result<&ModelKind> {
        find(&self.0, name)
    }
}

/// All models of this library, in the order in which they are listed.
pub fn kinds() -> &'static [ModelKind] {
    const KINDS: &[ModelKind] = &[
        ModelKind::of::<lhs::Lhs>(),
        ModelKind::of::<mlp::Mlp>(),
        ModelKind::of::<gcn::Gcn>(),
        ModelKind::of::<gat::Gat>(),
        ModelKind::of::<graphsage::GraphSage>(),
        ModelKind::of::<appnp::Appnp>(),
        ModelKind::of::<mixhop::MixHop>(),
        ModelKind::of::<h2gcn::H2Gcn>(),
        ModelKind::of::<nlgnn::Nlgnn>(),
        ModelKind::of::<geom_gcn::GeomGcn>(),
        ModelKind::of::<node2seq::Node2Seq>(),
        ModelKind::of::<gpnn::Gpnn>(),
        ModelKind::of::<pro_gnn::ProGnn>(),
        ModelKind::of::<ugcn::Ugcn>(),
        ModelKind::of::<simp_gcn::SimpGcn>(),
        ModelKind::of::<bm_gcn::BmGcn>(),
        ModelKind::of::<greet::Greet>(),
        ModelKind::of::<alt_gcn::AltGcn>(),
        ModelKind::of::<gcn_jaccard::GcnJaccard>(),
        ModelKind::of::<gcn_svd::GcnSvd>(),
        ModelKind::of::<gnnguard::GnnGuard>(),
        ModelKind::of::<rgcn::Rgcn>(),
        ModelKind::of::<linkx::Linkx>(),
        ModelKind::of::<glognn::GloGnn>(),
        ModelKind::of::<acm_gcn::AcmGcn>(),
        ModelKind::of::<fsgnn::Fsgnn>(),
        ModelKind::of::<memoriser::Memoriser>(),
    ];
    KINDS
}

/// The model of this library of that name; the error names the nearest one.
pub fn kind(name: &str) -> Result<&'static ModelKind> {
    find(kinds(), name)
}

fn find<'a>(kinds: &'a [ModelKind], name: &str) -> Result<&'a ModelKind> {
    kinds.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        Error::setting("model", format!("there is no model `{name}`"), nearest(name, &names))
    })
}

/// Reads a fitted model of any kind from a file that [`super::Save::save`] wrote.
pub fn load(path: impl AsRef<Path>) -> Result<Box<dyn NodeClassifier>> {
    let path = path.as_ref();
    let saved = SavedModel::read(path)?;
    kind(&saved.model).and_then(|kind| (kind.restore)(&saved)).map_err(|error| error.in_file(path))
}
