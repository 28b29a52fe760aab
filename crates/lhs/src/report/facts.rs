//! What a reader must know to do it again: when, by which command, on which data, with which seed and version.

use maud::{Markup, html};

use crate::experiment::Manifest;

/// The circumstances of some results.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// When it was begun, as RFC 3339 has it; none in results of earlier versions.
    pub started: Option<String>,
    /// The command; none in results of earlier versions, and where a program did it.
    pub command: Option<String>,
    /// The version of the program.
    pub version: String,
    /// Seeds of everything random.
    pub seeds: Vec<u64>,
    /// The data.
    pub data: Vec<DataFacts>,
}

/// Which data.
#[derive(Clone, Debug, Default)]
pub struct DataFacts {
    /// Its name.
    pub name: String,
    /// How many nodes and edges it has; none in results of earlier versions.
    pub size: Option<(usize, usize)>,
    /// SHA-256 of its content.
    pub sha256: String,
}

impl Facts {
    /// What a folder of results remembers.
    pub fn of(manifest: &Manifest) -> Self {
        let data = manifest.data.iter().map(|data| DataFacts {
            name: data.name.clone(),
            size: data.num_nodes.zip(data.num_edges),
            sha256: data.sha256.clone(),
        });
        Facts {
            started: manifest.started.clone(),
            command: manifest.command.clone(),
            version: manifest.lhs_version.clone(),
            seeds: manifest.suite.seeds.clone(),
            data: data.collect(),
        }
    }

    /// A list for the page.
    pub fn html(&self) -> Markup {
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        html! {
            dl.facts {
                @if let Some(started) = &self.started { dt { "date" } dd { time datetime=(started) { (started) } } }
                @if let Some(command) = &self.command { dt { "command" } dd { code { (command) } } }
                dt { "data" }
                dd { @for data in &self.data { (data.html()) } }
                dt { "seed" } dd { (seeds.join(", ")) }
                dt { "version" } dd { "lhs " (self.version) }
            }
        }
    }
}

impl DataFacts {
    fn html(&self) -> Markup {
        let short: String = self.sha256.chars().take(12).collect();
        html! {
            span {
                (self.name)
                @if let Some((nodes, edges)) = self.size { ": " (nodes) " nodes, " (edges) " edges" }
                ", SHA-256 " code title=(self.sha256) { (short) "…" }
            }
        }
    }
}
