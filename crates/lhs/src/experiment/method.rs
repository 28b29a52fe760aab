//! What is trained and scored: models, or ways of clustering.

use toml::{Table, Value};

use super::settings;
use crate::cluster::{By, Method as ClusterMethod};
use crate::error::{Error, Result, nearest};
use crate::models::{ModelKind, Registry};

/// What is trained and scored.
#[derive(Clone, Copy)]
pub enum Method {
    /// A model, which predicts classes.
    Model(ModelKind),
    /// A way of clustering, whose clusters are matched to classes.
    Clustering(&'static Clustering),
}

/// A method with complete settings for one dataset.
#[derive(Clone)]
pub struct ConfiguredMethod {
    /// Which.
    pub method: Method,
    /// Name of the variant; none for the method as it is.
    pub variant: Option<String>,
    /// Its settings, complete.
    pub settings: Table,
}

/// A way of clustering.
pub struct Clustering {
    /// Its name in suites.
    pub name: &'static str,
    /// What is clustered.
    pub method: ClusterMethod,
    /// How.
    pub by: By,
}

const CLUSTERINGS: [Clustering; 3] = [
    Clustering { name: "latent-kmeans", method: ClusterMethod::Latent, by: By::Kmeans },
    Clustering { name: "latent-spectral", method: ClusterMethod::Latent, by: By::Spectral },
    Clustering { name: "agc", method: ClusterMethod::Agc, by: By::Spectral },
];

impl Method {
    /// The model, or the way of clustering, of that name.
    pub fn find(name: &str, clustering: bool, registry: &Registry) -> Result<Self> {
        if !clustering {
            return registry.kind(name).copied().map(Method::Model);
        }
        let found = CLUSTERINGS.iter().find(|known| known.name == name);
        found.map(Method::Clustering).ok_or_else(|| {
            let names = CLUSTERINGS.each_ref().map(|known| known.name);
            Error::setting("models", format!("there is no way of clustering `{name}`"), nearest(name, &names))
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Model(kind) => kind.name,
            Method::Clustering(clustering) => clustering.name,
        }
    }
}

impl ConfiguredMethod {
    /// The settings as they are hashed: what came later, and changes nothing as it is, is left out, so that cells of
    /// earlier builds are found again.
    pub fn hashed(&self) -> Table {
        let mut settings = self.settings.clone();
        if let Some(training) = settings.get_mut("training").and_then(Value::as_table_mut)
            && training.get("class_weights").and_then(Value::as_str) == Some("none")
        {
            training.remove("class_weights");
        }
        settings
    }

    /// The settings that differ from its defaults.
    pub fn changed(&self) -> Table {
        match &self.method {
            Method::Model(kind) => settings::changed(kind, &self.settings),
            Method::Clustering(_) => Table::new(),
        }
    }
}
