//! Tables as Parquet files, which pandas, polars and DuckDB open.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::atomic;
use crate::error::{Error, Result};

/// A column of a table.
#[derive(Clone, Debug)]
pub enum Column {
    /// Texts.
    Text(Vec<String>),
    /// Numbers.
    Numbers(Vec<f32>),
}

/// Writes columns of one length under their names, the whole file or nothing.
pub fn write(path: &Path, columns: &[(String, Column)]) -> Result<()> {
    let failed = |error: ParquetError| match error {
        ParquetError::External(source) => Error::io("write", path)(std::io::Error::other(source)),
        other => Error::input(path, "", other.to_string(), ""),
    };
    atomic::write(path, |file| {
        let field = |(name, column): &(String, Column)| {
            let builder = match column {
                Column::Text(_) => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                    .with_converted_type(ConvertedType::UTF8),
                Column::Numbers(_) => Type::primitive_type_builder(name, PhysicalType::FLOAT),
            };
            builder.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let schema = Type::group_type_builder("table").with_fields(fields).build().map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer =
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        let mut group = writer.next_row_group().map_err(failed)?;
        for (_, column) in columns {
            let Some(mut out) = group.next_column().map_err(failed)? else { break };
            match column {
                Column::Text(texts) => {
                    let bytes: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
                    out.typed::<ByteArrayType>().write_batch(&bytes, None, None).map_err(failed)?;
                }
                Column::Numbers(numbers) => {
                    out.typed::<FloatType>().write_batch(numbers, None, None).map_err(failed)?;
                }
            }
            out.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        writer.close().map(drop).map_err(failed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{LoadOptions, tables};

    #[test]
    fn tables_of_parquet_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let texts = |values: &[&str]| Column::Text(values.iter().map(|value| value.to_string()).collect());
        let named = |columns: Vec<(&str, Column)>| -> Vec<(String, Column)> {
            columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect()
        };
        let edges = named(vec![("source", texts(&["a", "b"])), ("target", texts(&["b", "c"]))]);
        write(&path("edges.parquet"), &edges).unwrap();
        let ages = Column::Numbers(vec![1.5, 2.0, 4.0]);
        let features =
            named(vec![("id", texts(&["c", "a", "b"])), ("age", ages), ("land", texts(&["de", "fr", "de"]))]);
        write(&path("features.parquet"), &features).unwrap();
        let dataset = tables::read(folder.path(), &LoadOptions::as_is(false)).unwrap();
        assert_eq!(dataset.node_ids().unwrap(), ["c", "a", "b"]);
        assert_eq!(dataset.feature_names().unwrap(), ["age", "land=de", "land=fr"]);
        assert_eq!(dataset.features().row_nonzeros(1), [(0, 2.0), (2, 1.0)]);
        std::fs::write(path("edges.parquet"), b"PAR1 but not really").unwrap();
        let error = tables::read(folder.path(), &LoadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("edges.parquet: this Parquet file cannot be read"), "{error}");
    }
}
