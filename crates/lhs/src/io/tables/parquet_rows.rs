//! Rows of a Parquet file, as pandas, polars, Spark and DuckDB write them: flat columns, each cell as text.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;

use super::rows::{Row, RowSource};
use crate::error::{Error, Result};
use crate::graph::preparation::times;

/// A Parquet file.
pub(super) struct ParquetRows {
    path: PathBuf,
    rows: RowIter<'static>,
    names: Vec<String>,
    number: u64,
}

impl ParquetRows {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let reader = SerializedFileReader::new(file).map_err(|error| damaged(path, &error))?;
        let fields = reader.metadata().file_metadata().schema().get_fields();
        if let Some(nested) = fields.iter().find(|field| field.is_group()) {
            return Err(Error::input(
                path,
                format!("column {}", nested.name()),
                "this column holds lists or groups, not single values",
                "give every value a column of its own",
            ));
        }
        let names = fields.iter().map(|field| field.name().to_string()).collect();
        Ok(ParquetRows { path: path.to_path_buf(), rows: reader.into_iter(), names, number: 0 })
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl RowSource for ParquetRows {
    fn next(&mut self, row: &mut Row) -> Result<bool> {
        let Some(found) = self.rows.next() else { return Ok(false) };
        let found = found.map_err(|error| damaged(&self.path, &error))?;
        self.number += 1;
        row.clear();
        row.number = self.number;
        found.get_column_iter().for_each(|(_, field)| row.push(&text(field)));
        Ok(true)
    }

    fn counted(&self) -> &'static str {
        "row"
    }
}

/// A cell as the text that stands for the same value in a CSV file.
fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Bool(value) => value.to_string(),
        Field::Float(value) => value.to_string(),
        Field::Double(value) => value.to_string(),
        Field::Str(value) => value.clone(),
        Field::Bytes(value) => String::from_utf8_lossy(value.data()).into_owned(),
        Field::Date(days) => times::text(f64::from(*days) * 86_400.0)[..10].to_string(),
        Field::TimestampMillis(value) => times::text(*value as f64 / 1e3),
        Field::TimestampMicros(value) => times::text(*value as f64 / 1e6),
        other => other.to_string(),
    }
}

fn damaged(path: &Path, error: &ParquetError) -> Error {
    Error::input(
        path,
        "",
        format!("this Parquet file cannot be read: {error}"),
        "write it again, or give CSV",
    )
}
