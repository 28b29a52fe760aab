//! Rows of JSON: one object per line, or one list of objects. Columns are the keys of all objects, in the order in which
//! they first occur; a key that an object lacks, and `null`, are empty cells.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::rows::{Row, RowSource, read_all, unpacked};
use crate::error::{Error, Result};
use crate::io::open::open;

/// A table of JSON objects.
pub(super) struct JsonRows {
    path: PathBuf,
    objects: Objects,
    names: Vec<String>,
    places: HashMap<String, usize>,
    number: u64,
}

enum Objects {
    Lines(Box<dyn BufRead>),
    List(std::vec::IntoIter<Value>),
}

impl JsonRows {
    pub fn open(path: &Path) -> Result<Self> {
        let mut rows = JsonRows {
            path: path.to_path_buf(),
            objects: Objects::of(path)?,
            names: Vec::new(),
            places: HashMap::new(),
            number: 0,
        };
        // Once through for the keys.
        while let Some(object) = rows.object()? {
            for key in
                object.keys().filter(|key| !rows.places.contains_key(*key)).cloned().collect::<Vec<_>>()
            {
                rows.places.insert(key.clone(), rows.names.len());
                rows.names.push(key);
            }
        }
        (rows.objects, rows.number) = (Objects::of(path)?, 0);
        Ok(rows)
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn object(&mut self) -> Result<Option<Map<String, Value>>> {
        let value = match &mut self.objects {
            Objects::List(values) => {
                self.number += 1;
                match values.next() {
                    None => return Ok(None),
                    Some(value) => value,
                }
            }
            Objects::Lines(reader) => {
                let mut line = String::new();
                loop {
                    line.clear();
                    self.number += 1;
                    if reader.read_line(&mut line).map_err(|error| unpacked(&self.path, error))? == 0 {
                        return Ok(None);
                    }
                    if !line.trim().is_empty() {
                        break;
                    }
                }
                serde_json::from_str(&line).map_err(|error| {
                    self.wrong(
                        format!("this is not JSON: {error}"),
                        "write one object per line, or one list of objects",
                    )
                })?
            }
        };
        match value {
            Value::Object(object) => Ok(Some(object)),
            other => Err(self.wrong(
                format!("{} is not an object", shown(&other)),
                "write every row as an object, such as {\"id\": 1, \"age\": 30}",
            )),
        }
    }

    fn wrong(&self, problem: String, remedy: &str) -> Error {
        let counted = self.counted();
        Error::input(&self.path, format!("{counted} {}", self.number), problem, remedy)
    }
}

impl Objects {
    fn of(path: &Path) -> Result<Self> {
        let mut bytes = open(path)?;
        let start = bytes.fill_buf().map_err(|error| unpacked(path, error))?;
        if start.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
            return Ok(Objects::Lines(bytes));
        }
        let values: Vec<Value> = serde_json::from_slice(&read_all(path)?).map_err(|error| {
            Error::input(path, format!("line {}", error.line()), format!("this is not JSON: {error}"), "")
        })?;
        Ok(Objects::List(values.into_iter()))
    }
}

impl RowSource for JsonRows {
    fn next(&mut self, row: &mut Row) -> Result<bool> {
        let Some(object) = self.object()? else { return Ok(false) };
        let mut cells = vec![String::new(); self.names.len()];
        for (key, value) in object {
            let Some(&place) = self.places.get(&key) else { continue };
            cells[place] = match value {
                Value::Null => String::new(),
                Value::Bool(value) => value.to_string(),
                Value::Number(number) => number.to_string(),
                Value::String(text) => text,
                nested @ (Value::Array(_) | Value::Object(_)) => {
                    let problem = format!("`{key}` holds {}, not a single value", shown(&nested));
                    return Err(self.wrong(problem, "give every value a key of its own"));
                }
            };
        }
        row.clear();
        row.number = self.number;
        cells.iter().for_each(|cell| row.push(cell));
        Ok(true)
    }

    fn counted(&self) -> &'static str {
        match self.objects {
            Objects::Lines(_) => "line",
            Objects::List(_) => "row",
        }
    }
}

fn shown(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
