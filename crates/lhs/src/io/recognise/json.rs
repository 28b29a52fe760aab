//! What a JSON file is, by the names in its outermost object.

use std::collections::BTreeSet;
use std::path::Path;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, de};

use super::Kind;
use crate::io::open;

/// So many names are looked at: a graph has fewer, a table of nodes has them all.
const ENOUGH: usize = 64;

/// What JSON this is; damaged JSON is whatever it was up to there.
pub(super) fn kind(path: &Path) -> Kind {
    let Ok(source) = open::open(path) else { return Kind::Json };
    let mut names = BTreeSet::new();
    let seen = Names(&mut names).deserialize(&mut serde_json::Deserializer::from_reader(source));
    // That it is damaged is for those to say who read it.
    let damaged = seen.is_err() && names.len() <= ENOUGH;
    let has = |name: &str| names.contains(name);
    if has("nodes") && (has("links") || has("edges") || damaged && !has("adjacency")) {
        Kind::NodeLink
    } else if has("nodes") && has("adjacency") || has("elements") {
        Kind::GraphJson
    } else {
        Kind::Json
    }
}

struct Names<'n>(&'n mut BTreeSet<String>);

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            self.0.insert(name);
            if self.0.len() > ENOUGH {
                return Err(de::Error::custom("enough was seen"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(de::Error::custom("a list has no names"))
    }
}
