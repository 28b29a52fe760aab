//! A learned structure as named tensors, and back.

use super::known::KnownNodes;
use super::learner::{Choices, FittedStructure, Join, Round, Views};
use super::low_rank::DirectionMap;
use super::prepared::Bases;
use super::refiner::Refiner;
use super::views::{Basis, Neighbours, View};
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::training::Tensors;

impl FittedStructure {
    /// Everything that [`FittedStructure::from_tensors`] needs.
    pub fn tensors(&self) -> Tensors {
        let Choices { views, joins, bootstrap, agreements, declined } = &self.choices;
        let numbers = [code(*views), *bootstrap, declined.unwrap_or(f32::NAN)];
        let joins: Vec<f32> =
            joins.iter().flat_map(|join| [join.top_k as f32, join.threshold, join.vote]).collect();
        let agreements: Vec<f32> =
            agreements.iter().flat_map(|(views, share)| [code(*views), *share]).collect();
        let part_of: Vec<f32> =
            self.part_of.iter().map(|part| part.map_or(0.0, |part| part as f32 + 1.0)).collect();
        let mut tensors = Tensors::from([
            ("structure.known".into(), self.bases.known.to_mat()),
            ("structure.basis.features".into(), self.bases.features.directions().clone()),
            ("structure.basis.profiles".into(), self.bases.profiles.directions().clone()),
            ("structure.degrees".into(), self.bases.neighbours.degrees().clone()),
            ("structure.choices".into(), Mat::from_slice(1, numbers.len(), &numbers)),
            ("structure.agreements".into(), Mat::from_slice(agreements.len() / 2, 2, &agreements)),
            ("structure.joins".into(), Mat::from_slice(joins.len() / 3, 3, &joins)),
            ("structure.map".into(), self.first.matrix().clone()),
            // Parts are counted from 1; 0 is a node of none.
            ("structure.parts".into(), Mat::column(&part_of)),
        ]);
        for (round, learned) in (1..).zip(&self.rounds) {
            for (part, (refiner, map)) in (1..).zip(&learned.parts) {
                let prefix = prefix(round, part);
                tensors.insert(format!("{prefix}map"), map.matrix().clone());
                let named = refiner.parameters().tensors().into_iter();
                tensors.extend(named.map(|(name, value)| (format!("{prefix}{name}"), value)));
            }
        }
        tensors
    }

    /// Restores what [`FittedStructure::tensors`] gave.
    pub fn from_tensors(tensors: &Tensors) -> Result<Self> {
        let get = |name: &str| {
            tensors.get(name).ok_or_else(|| {
                Error::data(format!("the weights have no tensor `{name}`"), "they belong to another model")
            })
        };
        let basis = |view, name| get(name).map(|mat| Basis::from_directions(view, mat.clone()));
        let bases = Bases {
            known: KnownNodes::from_mat(get("structure.known")?)?,
            features: basis(View::Features, "structure.basis.features")?,
            profiles: basis(View::Adjacency, "structure.basis.profiles")?,
            neighbours: Neighbours::from_degrees(get("structure.degrees")?.clone()),
        };
        let choices =
            choices(get("structure.choices")?, get("structure.joins")?, get("structure.agreements")?)?;
        let part = |number: &f32| (*number > 0.0).then(|| *number as u32 - 1);
        let part_of: Vec<Option<u32>> = get("structure.parts")?.as_slice().iter().map(part).collect();
        if part_of.len() != bases.known.len() || bases.neighbours.degrees().rows() != bases.known.len() {
            return Err(damaged());
        }
        let first = DirectionMap::from_matrix(get("structure.map")?.clone());
        let mut rounds: Vec<Round> = Vec::new();
        while let Some(round) = round(tensors, rounds.len() + 1)? {
            rounds.push(round);
        }
        if choices.joins.len() != rounds.len() + 1 {
            return Err(damaged());
        }
        Ok(FittedStructure { bases: bases.into(), choices, first, part_of, rounds })
    }
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

fn damaged() -> Error {
    Error::data("the choices of the structure are damaged", "train again")
}

fn choices(numbers: &Mat, joins: &Mat, agreements: &Mat) -> Result<Choices> {
    let [views, bootstrap, declined] = *numbers.as_slice() else { return Err(damaged()) };
    let joins = joins.as_slice().chunks_exact(3);
    let joins = joins.map(|join| Join { top_k: join[0] as usize, threshold: join[1], vote: join[2] });
    let pairs = agreements.as_slice().chunks_exact(2);
    let agreements = pairs.map(|pair| Some((of_code(pair[0])?, pair[1]))).collect::<Option<Vec<_>>>();
    Ok(Choices {
        views: of_code(views).ok_or_else(damaged)?,
        joins: joins.collect(),
        bootstrap,
        agreements: agreements.ok_or_else(damaged)?,
        declined: Some(declined).filter(|vote| vote.is_finite()),
    })
}

fn code(views: Views) -> f32 {
    Views::ALL.iter().position(|other| *other == views).unwrap_or(0) as f32
}

fn of_code(code: f32) -> Option<Views> {
    Views::ALL.get(code as usize).copied()
}
