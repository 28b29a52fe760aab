//! Who competes in a suite: models, or ways of clustering.

use toml::Table;

use crate::cluster::{By, Method};
use crate::error::{Error, Result, nearest};
use crate::eval::settings;
use crate::models::{self, ModelKind};

/// What is trained and scored.
#[derive(Clone, Copy)]
pub enum Contender {
    /// A model, which predicts classes.
    Model(&'static ModelKind),
    /// A way of clustering, whose clusters are matched to classes.
    Clustering(&'static Clustering),
}

/// A way of clustering.
pub struct Clustering {
    /// Its name in suites.
    pub name: &'static str,
    /// What is clustered.
    pub method: Method,
    /// How.
    pub by: By,
}

const CLUSTERINGS: [Clustering; 3] = [
    Clustering { name: "latent-kmeans", method: Method::Latent, by: By::Kmeans },
    Clustering { name: "latent-spectral", method: Method::Latent, by: By::Spectral },
    Clustering { name: "agc", method: Method::Agc, by: By::Spectral },
];

impl Contender {
    /// The model, or the way of clustering, of that name.
    pub fn find(name: &str, clustering: bool) -> Result<Self> {
        if !clustering {
            return models::kind(name).map(Contender::Model);
        }
        let found = CLUSTERINGS.iter().find(|known| known.name == name);
        found.map(Contender::Clustering).ok_or_else(|| {
            let names = CLUSTERINGS.each_ref().map(|known| known.name);
            Error::setting("models", format!("there is no way of clustering `{name}`"), nearest(name, &names))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Model(kind) => kind.name,
            Contender::Clustering(clustering) => clustering.name,
        }
    }

    /// The settings that differ from its defaults.
    pub fn changed(self, settings: &Table) -> Table {
        match self {
            Contender::Model(kind) => settings::changed(kind, settings),
            Contender::Clustering(_) => Table::new(),
        }
    }
}
