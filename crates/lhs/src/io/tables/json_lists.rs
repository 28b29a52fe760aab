//! Features as one JSON object, node to list: the numbers of the columns that are 1 at the node (lists of different lengths, as the
//! MUSAE graphs have them), or the values of all columns (lists of one length).

use std::fmt;
use std::io::BufRead;
use std::path::Path;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};

use super::features::Table;
use super::ids::Ids;
use super::rows::unpacked;
use crate::error::{Error, Result};
use crate::graph::preparation::Preparation;
use crate::io::open::open;

/// Column numbers beyond this are a mistake.
const MOST_COLUMNS: f64 = (1u64 << 26) as f64;

/// Whether the file is an object whose first value is a list.
pub(super) fn is_here(path: &Path) -> Result<bool> {
    let mut bytes = open(path)?;
    let start = bytes.fill_buf().map_err(|error| unpacked(path, error))?;
    let start = String::from_utf8_lossy(&start[..start.len().min(4096)]);
    let after = |text: &str, sign: char| text.trim_start().strip_prefix(sign).map(String::from);
    let Some(key) = after(&start, '{').and_then(|rest| after(&rest, '"')) else { return Ok(false) };
    let Some((_, rest)) = key.split_once('"') else { return Ok(false) };
    Ok(after(rest, ':').is_some_and(|value| value.trim_start().starts_with('[')))
}

pub(super) fn read(path: &Path, ids: &mut Ids) -> Result<Table> {
    let wrong = |problem: String, remedy: &str| Error::input(path, "", problem, remedy);
    let mut parser = serde_json::Deserializer::from_reader(open(path)?);
    let lists =
        parser.deserialize_map(Lists).and_then(|lists| parser.end().map(|()| lists)).map_err(|error| {
            let place = format!("line {}", error.line());
            Error::input(path, place, error.to_string(), "write one object: {\"node\": [column numbers], …}")
        })?;
    let mut seen = std::collections::HashSet::new();
    if let Some((node, _)) = lists.iter().find(|(node, _)| !seen.insert(node.as_str())) {
        return Err(wrong(format!("node `{node}` stands twice"), "keep one list per node"));
    }
    let whole = |value: &f64| value.fract() == 0.0 && (0.0..MOST_COLUMNS).contains(value);
    let mut lengths = lists.iter().map(|(_, list)| list.len());
    let first = lengths.next().unwrap_or(0);
    let one_length = lengths.all(|length| length == first);
    let all_whole = lists.iter().all(|(_, list)| list.iter().all(whole));
    if all_whole && (!one_length || lists.len() < 2) {
        return numbered(&lists, ids, path);
    }
    if one_length && !all_whole && first > 0 {
        return values(&lists, ids);
    }
    Err(wrong(
        "are these lists the numbers of columns, or the values of all columns? They are whole numbers, and all of one length, \
         or fractions of different lengths"
            .into(),
        "give a table `node,column,value`, or one with a column for each feature",
    ))
}

fn numbered(lists: &[(String, Vec<f64>)], ids: &mut Ids, path: &Path) -> Result<Table> {
    let mut entries = Vec::new();
    let mut columns = 0;
    for (node, list) in lists {
        let number = ids.number(node).map_err(|error| error.in_file(path))?;
        for &column in list {
            columns = columns.max(column as usize + 1);
            entries.push((number, column as u32, 1.0));
        }
    }
    Ok(Table::Sparse { columns, entries })
}

fn values(lists: &[(String, Vec<f64>)], ids: &mut Ids) -> Result<Table> {
    let columns = lists.first().map_or(0, |(_, list)| list.len());
    let mut values = Vec::with_capacity(columns * lists.len());
    for (node, list) in lists {
        ids.number(node)?;
        values.extend(list.iter().map(|&value| value as f32));
    }
    Ok(Table::Dense { columns, values, preparation: Preparation::default() })
}

/// Reads the pairs of an object in their order, repeated keys included.
struct Lists;

impl<'de> Visitor<'de> for Lists {
    type Value = Vec<(String, Vec<f64>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of lists of numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut lists = Vec::new();
        while let Some(pair) = map.next_entry()? {
            lists.push(pair);
        }
        Ok(lists)
    }
}
