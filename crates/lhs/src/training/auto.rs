//! Settings that can be left to the training labels.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use toml::Value;

/// A setting that is given, or chosen when it says `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Auto<T> {
    /// The word `auto`.
    Choose(Word),
    /// A value.
    Given(T),
}

/// The word that stands for a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

impl<'de, T: DeserializeOwned> Deserialize<'de> for Auto<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.as_str() == Some("auto") {
            return Ok(Auto::Choose(Word::Auto));
        }
        let shown = value.to_string();
        T::deserialize(value).map(Auto::Given).map_err(|error: toml::de::Error| {
            D::Error::custom(format!("{shown} is neither \"auto\" nor a value here ({})", error.message()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Settings {
        hops: Auto<usize>,
        share: Auto<f32>,
    }

    #[test]
    fn both_are_read_and_anything_else_is_named() {
        let read = |text: &str| toml::from_str::<Settings>(text);
        let settings = read("hops = 2\nshare = \"auto\"").unwrap();
        assert_eq!(settings, Settings { hops: Auto::Given(2), share: Auto::Choose(Word::Auto) });
        assert_eq!(read(&toml::to_string(&settings).unwrap()).unwrap(), settings);
        let error = read("hops = \"many\"\nshare = 0.5").unwrap_err().to_string();
        assert!(error.contains("\"many\" is neither \"auto\" nor a value here"), "{error}");
        assert!(read("hops = -1\nshare = 0.5").is_err());
    }
}
