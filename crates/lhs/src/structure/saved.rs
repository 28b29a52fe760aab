//! A learned structure as named matrices and lists of whole numbers, and back. Its [`Choices`] are saved beside them.

use super::inputs::{Bases, EdgeBasis};
use super::learner::{Choices, FittedStructure, Round};
use super::low_rank::DirectionMap;
use super::node_identity::NodeIdentity;
use super::refiner::Refiner;
use super::views::{Basis, NeighbourRows, View};
use crate::error::{Error, Result};
use crate::io::tensors::Contents;
use crate::linalg::Mat;
use crate::training::Tensors;

/// The list of the parts of the known nodes, counted from 1; 0 is a node of none.
const PARTS: &str = "structure.parts";
/// What the names of the structure's views begin with.
const STRUCTURE: &str = "structure";

impl Bases {
    /// Adds everything that [`Bases::restore`] needs, under names that begin with `prefix`.
    pub fn save(&self, prefix: &str, contents: &mut Contents) {
        let mut put =
            |name: &str, mat: &Mat| contents.tensors.insert(format!("{prefix}.{name}"), mat.clone());
        put("basis.features", self.features.directions());
        put("basis.profiles", self.edges.profile_directions.directions());
        put("degrees", self.edges.neighbour_rows.degrees());
        if let Some(incoming) = &self.incoming {
            put("incoming.profiles", incoming.profile_directions.directions());
            put("incoming.degrees", incoming.neighbour_rows.degrees());
        }
        contents.lists.insert(format!("{prefix}.known"), self.identity.fingerprints().to_vec());
    }

    /// Restores what [`Bases::save`] added.
    pub fn restore(prefix: &str, contents: &Contents) -> Result<Self> {
        let named = |name: &str| format!("{prefix}.{name}");
        let tensor = |name: &str| {
            let name = named(name);
            contents.tensors.get(&name).cloned().ok_or_else(|| missing(&name))
        };
        let edges = |directions: &str, degrees: &str| -> Result<EdgeBasis> {
            Ok(EdgeBasis {
                profile_directions: Basis::from_directions(View::Adjacency, tensor(directions)?),
                neighbour_rows: NeighbourRows::from_degrees(tensor(degrees)?),
            })
        };
        let known = contents.lists.get(&named("known")).ok_or_else(|| missing(&named("known")))?;
        let incoming = contents.tensors.contains_key(&named("incoming.degrees"));
        let bases = Bases {
            identity: NodeIdentity::from_fingerprints(known.clone()),
            features: Basis::from_directions(View::Features, tensor("basis.features")?),
            edges: edges("basis.profiles", "degrees")?,
            incoming: incoming.then(|| edges("incoming.profiles", "incoming.degrees")).transpose()?,
        };
        let all = std::iter::once(&bases.edges).chain(&bases.incoming);
        if all.into_iter().any(|basis| basis.neighbour_rows.degrees().rows() != bases.identity.len()) {
            return Err(Error::data("the parts of the structure do not fit together", "train again"));
        }
        Ok(bases)
    }
}

impl FittedStructure {
    /// Everything that [`FittedStructure::restore`] needs beside the choices.
    pub fn contents(&self) -> Contents {
        let mut contents =
            Contents::from(Tensors::from([("structure.map".into(), self.first.matrix().clone())]));
        self.bases.save(STRUCTURE, &mut contents);
        for (round, learned) in (1..).zip(&self.rounds) {
            for (part, (refiner, map)) in (1..).zip(&learned.parts) {
                let prefix = prefix(round, part);
                contents.tensors.insert(format!("{prefix}map"), map.matrix().clone());
                let named = refiner.parameters().tensors().into_iter();
                contents.tensors.extend(named.map(|(name, value)| (format!("{prefix}{name}"), value)));
            }
        }
        let part = |part: &Option<u32>| part.map_or(0, |part| u64::from(part) + 1);
        contents.lists.insert(PARTS.into(), self.part_of.iter().map(part).collect());
        contents
    }

    /// Restores what was chosen, and what [`FittedStructure::contents`] gave.
    pub fn restore(choices: Choices, contents: &Contents) -> Result<Self> {
        let tensor = |name: &str| contents.tensors.get(name).cloned().ok_or_else(|| missing(name));
        let list = |name: &str| contents.lists.get(name).ok_or_else(|| missing(name));
        let bases = Bases::restore(STRUCTURE, contents)?;
        let part = |number: &u64| number.checked_sub(1).map(|part| part as u32);
        let part_of: Vec<Option<u32>> = list(PARTS)?.iter().map(part).collect();
        let first = DirectionMap::from_matrix(tensor("structure.map")?);
        let mut rounds: Vec<Round> = Vec::new();
        while let Some(round) = round(&contents.tensors, rounds.len() + 1)? {
            rounds.push(round);
        }
        if part_of.len() != bases.identity.len() || choices.joins.len() != rounds.len() + 1 {
            return Err(Error::data("the parts of the structure do not fit together", "train again"));
        }
        Ok(FittedStructure { bases: bases.into(), choices, first, part_of, rounds })
    }
}

fn missing(name: &str) -> Error {
    Error::data(
        format!("there is no `{name}` among the weights"),
        "they belong to another model: train again",
    )
}

fn prefix(round: usize, part: usize) -> String {
    format!("structure.round.{round}.{part}.")
}

fn round(tensors: &Tensors, round: usize) -> Result<Option<Round>> {
    let mut parts = Vec::new();
    while let Some(map) = tensors.get(&format!("{}map", prefix(round, parts.len() + 1))) {
        let prefix = prefix(round, parts.len() + 1);
        let own: Tensors = tensors
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(&prefix)?.to_string(), value.clone())))
            .collect();
        parts.push((Refiner::from_tensors(&own)?, DirectionMap::from_matrix(map.clone())));
    }
    Ok((!parts.is_empty()).then_some(Round { parts }))
}
