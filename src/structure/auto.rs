//! Settings that can be left to the training labels.

use serde::{Deserialize, Serialize};

/// A setting that is given, or chosen when it says `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Auto<T> {
    /// The word `auto`.
    Choose(Word),
    /// A value.
    Given(T),
}

/// The word that stands for a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// `auto`.
    Auto,
}

impl<T: Copy> Auto<T> {
    /// To be chosen.
    pub const CHOOSE: Self = Auto::Choose(Word::Auto);

    /// The value, if one was given.
    pub fn given(self) -> Option<T> {
        match self {
            Auto::Choose(_) => None,
            Auto::Given(value) => Some(value),
        }
    }
}
