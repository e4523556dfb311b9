//! Tables as Apache Parquet, made from the CSV files beside them: the same columns and rows, with
//! types.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::{ReaderBuilder, StringRecord};
use heddle_claims::files::FileError;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// Rows of a row group: what a reader decodes at a time.
const GROUP: usize = 1 << 16;

/// Key of the file's metadata that holds what made it, as JSON.
pub const PROVENANCE: &str = "heddle";

/// A table that cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The CSV file is no table.
    #[error("{path}: {error}")]
    Csv {
        /// The CSV file.
        path: PathBuf,
        /// The parser's error.
        error: csv::Error,
    },
    /// The Parquet file cannot be written.
    #[error("{path}: {error}")]
    Parquet {
        /// The Parquet file.
        path: PathBuf,
        /// The writer's error.
        error: ParquetError,
    },
}

/// Type of a column: the narrowest that holds all its values, and every digit of its whole numbers.
/// Empty fields are null, in every type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Whole numbers from 0 to `i64::MAX`.
    Natural,
    /// Whole numbers, negative ones among them.
    Integer,
    /// Whole numbers from 0, some above `i64::MAX`.
    Unsigned,
    Float,
    Text,
}

impl Kind {
    fn of(field: &str) -> Kind {
        let is_whole = field.trim_start_matches(['+', '-']).bytes().all(|b| b.is_ascii_digit());
        match (field.parse::<i64>(), field.parse::<u64>(), field.parse::<f64>()) {
            (Ok(0..), ..) => Kind::Natural,
            (Ok(_), ..) => Kind::Integer,
            (_, Ok(_), _) => Kind::Unsigned,
            (_, _, Ok(_)) if !is_whole => Kind::Float,
            _ => Kind::Text,
        }
    }

    /// Type of a column that has values of both.
    fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (one, other) if one == other => one,
            (Kind::Natural, wider) | (wider, Kind::Natural) => wider,
            (Kind::Float, Kind::Integer | Kind::Unsigned)
            | (Kind::Integer | Kind::Unsigned, Kind::Float) => Kind::Float,
            _ => Kind::Text,
        }
    }

    const fn physical(self) -> Physical {
        match self {
            Kind::Natural | Kind::Integer | Kind::Unsigned => Physical::INT64,
            Kind::Float => Physical::DOUBLE,
            Kind::Text => Physical::BYTE_ARRAY,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        match self {
            Kind::Unsigned => Some(LogicalType::integer(64, false)),
            Kind::Text => Some(LogicalType::String),
            Kind::Natural | Kind::Integer | Kind::Float => None,
        }
    }
}

/// Converts a CSV file with a header line into a Parquet file, compressed by Snappy. A column of
/// whole numbers becomes `INT64` (unsigned if one is above `i64::MAX`), one of other numbers
/// `DOUBLE`, every other one text, whole numbers that neither holds among them; an empty field
/// becomes null. `provenance` goes into the file's metadata, under [`PROVENANCE`]. The Parquet file
/// has its name once it is whole.
///
/// # Errors
/// Files that cannot be read or written, and rows whose number of fields is not the header's.
pub fn convert(csv: &Path, parquet: &Path, provenance: &str) -> Result<(), TableError> {
    let pending = parquet.with_extension("parquet.part");
    let named = || Ok(std::fs::rename(&pending, parquet).map_err(FileError::at(parquet))?);
    let written = fill(csv, &pending, provenance).and_then(|()| named());
    if written.is_err() {
        // The first error is the one to report; on a full disk it matters that this file goes.
        let _ = std::fs::remove_file(&pending);
    }
    written
}

fn fill(csv: &Path, parquet: &Path, provenance: &str) -> Result<(), TableError> {
    let in_csv = |error| TableError::Csv { path: csv.to_owned(), error };
    let in_parquet = |error| TableError::Parquet { path: parquet.to_owned(), error };
    let names = reader(csv)?.headers().map_err(in_csv)?.clone();
    let kinds = kinds(csv, names.len())?;
    let file = File::create(parquet).map_err(FileError::at(parquet))?;
    let mut writer = open(file, &names, &kinds, provenance).map_err(in_parquet)?;
    let mut rows = Vec::new();
    for row in reader(csv)?.records() {
        rows.push(row.map_err(in_csv)?);
        if rows.len() == GROUP {
            write_group(&mut writer, &kinds, &rows).map_err(in_parquet)?;
            rows.clear();
        }
    }
    if !rows.is_empty() {
        write_group(&mut writer, &kinds, &rows).map_err(in_parquet)?;
    }
    writer.close().map(drop).map_err(in_parquet)
}

fn reader(path: &Path) -> Result<csv::Reader<File>, TableError> {
    let file = File::open(path).map_err(FileError::at(path))?;
    Ok(ReaderBuilder::new().from_reader(file))
}

/// The type of each column; that of an empty column is a float, as in data frames.
fn kinds(path: &Path, columns: usize) -> Result<Vec<Kind>, TableError> {
    let mut kinds = vec![None; columns];
    for row in reader(path)?.records() {
        let row = row.map_err(|error| TableError::Csv { path: path.to_owned(), error })?;
        for (kind, field) in kinds.iter_mut().zip(&row).filter(|(_, field)| !field.is_empty()) {
            let of_field = Kind::of(field);
            *kind = Some(kind.map_or(of_field, |known: Kind| known.with(of_field)));
        }
    }
    Ok(kinds.into_iter().map(|kind| kind.unwrap_or(Kind::Float)).collect())
}

fn open(
    file: File,
    names: &StringRecord,
    kinds: &[Kind],
    provenance: &str,
) -> Result<SerializedFileWriter<File>, ParquetError> {
    let column = |(name, kind): (&str, &Kind)| {
        Type::primitive_type_builder(name, kind.physical())
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(kind.logical())
            .build()
            .map(Arc::new)
    };
    let columns = names.iter().zip(kinds).map(column).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("table").with_fields(columns).build()?;
    let metadata = KeyValue::new(PROVENANCE.to_owned(), provenance.to_owned());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("heddle {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![metadata]))
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

fn write_group(
    writer: &mut SerializedFileWriter<File>,
    kinds: &[Kind],
    rows: &[StringRecord],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (column, kind) in kinds.iter().enumerate() {
        let fields = || rows.iter().map(|row| &row[column]);
        let present = || fields().filter(|field| !field.is_empty());
        let levels: Vec<i16> = fields().map(|field| i16::from(!field.is_empty())).collect();
        match kind {
            Kind::Unsigned => {
                // The format's unsigned numbers are the bits of signed ones.
                let values = present().filter_map(|field| field.parse().ok());
                let values: Vec<i64> = values.map(u64::cast_signed).collect();
                write_column::<Int64Type>(&mut group, &values, &levels)?;
            }
            Kind::Natural | Kind::Integer => {
                let values: Vec<i64> = present().filter_map(|field| field.parse().ok()).collect();
                write_column::<Int64Type>(&mut group, &values, &levels)?;
            }
            Kind::Float => {
                let values: Vec<f64> = present().filter_map(|field| field.parse().ok()).collect();
                write_column::<DoubleType>(&mut group, &values, &levels)?;
            }
            Kind::Text => {
                let values: Vec<ByteArray> = present().map(ByteArray::from).collect();
                write_column::<ByteArrayType>(&mut group, &values, &levels)?;
            }
        }
    }
    group.close().map(drop)
}

/// Writes the next column: the values that are no null, and for each row whether it has one.
fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: &[i16],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<T>().write_batch(values, Some(levels), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    /// The columns' names and the rows of a Parquet file made from this text, and its provenance.
    fn converted(csv: &str) -> (Vec<String>, Vec<Vec<Field>>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.csv"), folder.path().join("a.parquet"));
        std::fs::write(&from, csv).unwrap();
        convert(&from, &to, "{\"version\":1}").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
        let reader = SerializedFileReader::new(File::open(&to).unwrap()).unwrap();
        let file = reader.metadata().file_metadata().clone();
        let names = file.schema().get_fields().iter().map(|field| field.name().to_owned());
        let fields = |row: parquet::record::Row| {
            row.get_column_iter().map(|(_, field)| field.clone()).collect()
        };
        let rows = reader.get_row_iter(None).unwrap().map(|row| fields(row.unwrap())).collect();
        let made = file.key_value_metadata().and_then(|pairs| {
            pairs.iter().find(|pair| pair.key == PROVENANCE).and_then(|pair| pair.value.clone())
        });
        (names.collect(), rows, made)
    }

    #[test]
    fn columns_have_the_narrowest_type_and_empty_fields_are_null() {
        let (names, rows, made) = converted("scheme,seed,fct_s,none\necmp,1,0.25,\n\"a,b\",-2,,\n");
        assert_eq!(names, ["scheme", "seed", "fct_s", "none"]);
        let text = |text: &str| Field::Str(text.to_owned());
        let (first, second) = (Field::Double(0.25), Field::Null);
        assert_eq!(rows[0], [text("ecmp"), Field::Long(1), first, Field::Null]);
        assert_eq!(rows[1], [text("a,b"), Field::Long(-2), second, Field::Null]);
        assert_eq!(made.as_deref(), Some("{\"version\":1}"));
    }

    #[test]
    fn a_column_of_numbers_and_words_is_text() {
        let (_, rows, _) = converted("k\n1\nauto\n");
        assert_eq!(rows, [[Field::Str("1".into())], [Field::Str("auto".into())]]);
    }

    #[test]
    fn whole_numbers_keep_every_digit() {
        let most = u64::MAX;
        let (_, rows, _) = converted(&format!("a,b,c\n1,-1,1\n{most},{most},{most}0\n"));
        assert_eq!([&rows[0][0], &rows[1][0]], [&Field::ULong(1), &Field::ULong(most)]);
        assert_eq!(rows[1][1], Field::Str(most.to_string()), "beside a negative number");
        assert_eq!(rows[1][2], Field::Str(format!("{most}0")), "beyond 64 bits");
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        let (names, rows, _) = converted("a,b\n");
        assert_eq!((names.len(), rows.len()), (2, 0));
    }

    #[test]
    fn every_row_of_many_groups_is_there() {
        let rows: String = (0..GROUP + 3).map(|row| format!("{row}\n")).collect();
        let (_, rows, _) = converted(&format!("a\n{rows}"));
        assert_eq!(rows.len(), GROUP + 3);
        assert!(rows.iter().enumerate().all(|(at, row)| row == &[Field::Long(at as i64)]));
    }

    #[test]
    fn a_row_that_lacks_a_field_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.csv"), folder.path().join("a.parquet"));
        std::fs::write(&from, "a,b\n1\n").unwrap();
        let error = convert(&from, &to, "").unwrap_err().to_string();
        assert!(error.contains("a.csv") && error.contains("line: 2"), "{error}");
        assert!(!to.exists());
    }
}
