//! A learned structure as named tensors, and back.

use super::known::KnownNodes;
use super::learner::{Bases, Choices, FittedStructure, Views};
use super::low_rank::DirectionMap;
use super::refiner::Refiner;
use super::views::{Basis, View};
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::training::Tensors;

impl FittedStructure {
    /// Everything that [`FittedStructure::from_tensors`] needs.
    pub fn tensors(&self) -> Tensors {
        let Choices { views, threshold, top_k, bootstrap, vote, agreements } = &self.choices;
        let numbers = [code(*views), *threshold, *top_k as f32, *bootstrap, *vote];
        let agreements: Vec<f32> =
            agreements.iter().flat_map(|(views, share)| [code(*views), *share]).collect();
        let mut tensors = Tensors::from([
            ("structure.known".into(), self.bases.known.to_mat()),
            ("structure.basis.features".into(), self.bases.features.directions().clone()),
            ("structure.basis.profiles".into(), self.bases.profiles.directions().clone()),
            ("structure.choices".into(), Mat::from_slice(1, numbers.len(), &numbers)),
            ("structure.agreements".into(), Mat::from_slice(agreements.len() / 2, 2, &agreements)),
        ]);
        for (round, map) in self.maps.iter().enumerate() {
            tensors.insert(format!("structure.map.{round}"), map.matrix().clone());
        }
        for (round, refiner) in (1..).zip(&self.refiners) {
            for (name, value) in refiner.parameters().tensors() {
                tensors.insert(format!("structure.refiner.{round}.{name}"), value);
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
        };
        let choices = choices(get("structure.choices")?, get("structure.agreements")?)?;
        let mut maps = vec![DirectionMap::from_matrix(get("structure.map.0")?.clone())];
        let mut refiners = Vec::new();
        while let Some(map) = tensors.get(&format!("structure.map.{}", maps.len())) {
            let prefix = format!("structure.refiner.{}.", maps.len());
            let own: Tensors = tensors
                .iter()
                .filter_map(|(name, value)| Some((name.strip_prefix(&prefix)?.to_string(), value.clone())))
                .collect();
            refiners.push(Refiner::from_tensors(&own)?);
            maps.push(DirectionMap::from_matrix(map.clone()));
        }
        Ok(FittedStructure { bases, choices, maps, refiners })
    }
}

fn choices(numbers: &Mat, agreements: &Mat) -> Result<Choices> {
    let damaged = || Error::data("the choices of the structure are damaged", "train again");
    let [views, threshold, top_k, bootstrap, vote] = *numbers.as_slice() else { return Err(damaged()) };
    let pairs = agreements.as_slice().chunks_exact(2);
    let agreements = pairs.map(|pair| Some((of_code(pair[0])?, pair[1]))).collect::<Option<Vec<_>>>();
    Ok(Choices {
        views: of_code(views).ok_or_else(damaged)?,
        threshold,
        top_k: top_k as usize,
        bootstrap,
        vote,
        agreements: agreements.ok_or_else(damaged)?,
    })
}

fn code(views: Views) -> f32 {
    Views::ALL.iter().position(|other| *other == views).unwrap_or(0) as f32
}

fn of_code(code: f32) -> Option<Views> {
    Views::ALL.get(code as usize).copied()
}
