//! What a model learns: named matrices in a fixed order.

use std::collections::BTreeMap;

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::linalg::Mat;

/// Named tensors: the learned state of a model, as it is written to `weights.safetensors`.
pub type Tensors = BTreeMap<String, Mat>;

/// Named parameters in the order in which a network reads them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    pub(super) names: Vec<String>,
    pub(super) values: Vec<Mat>,
    pub(super) decays: Vec<bool>,
}

impl Parameters {
    /// A weight matrix, which weight decay pulls on.
    pub fn weight(&mut self, name: impl Into<String>, value: Mat) {
        self.push(name, value, true);
    }

    /// A bias or slope, which weight decay leaves alone.
    pub fn bias(&mut self, name: impl Into<String>, value: Mat) {
        self.push(name, value, false);
    }

    fn push(&mut self, name: impl Into<String>, value: Mat, decays: bool) {
        self.names.push(name.into());
        self.values.push(value);
        self.decays.push(decays);
    }

    /// The shape of a parameter, by its place.
    pub fn shape(&self, index: usize) -> (usize, usize) {
        self.values[index].shape()
    }

    /// The parameters as constants, for prediction.
    pub fn constants(&self) -> Vec<Var> {
        self.values.iter().map(|value| Var::constant(value.clone())).collect()
    }

    /// The parameters by name.
    pub fn tensors(&self) -> Tensors {
        self.names.iter().cloned().zip(self.values.iter().cloned()).collect()
    }

    /// Replaces the values by saved ones of the same names and shapes.
    pub fn restore(&mut self, tensors: &Tensors) -> Result<()> {
        for (name, value) in self.names.iter().zip(&mut self.values) {
            let saved = tensors.get(name).ok_or_else(|| {
                Error::data(format!("the weights have no tensor `{name}`"), "they belong to another model")
            })?;
            if saved.shape() != value.shape() {
                return Err(Error::data(
                    format!("tensor `{name}` is {:?}, expected {:?}", saved.shape(), value.shape()),
                    "the weights belong to other settings or another dataset",
                ));
            }
            *value = saved.clone();
        }
        Ok(())
    }
}
