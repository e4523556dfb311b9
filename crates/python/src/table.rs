//! Tables that every library of data frames reads: by the Arrow PyCapsule interface.

use std::fmt::Write as _;
use std::io::Cursor;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    Array as _, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

/// A table with named, typed columns, in memory as Apache Arrow has it. polars, pyarrow, pandas and
/// DuckDB read it without a copy (`polars.DataFrame(table)`, `pyarrow.table(table)`,
/// `duckdb.sql("select ... from table")`); without any of them, `to_dict()` gives lists.
#[pyclass(frozen, module = "heddle._core")]
pub(crate) struct Table {
    rows: RecordBatch,
}

/// The type of a column.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Whole numbers from 0.
    Whole,
    /// Other numbers.
    Number,
    /// Text.
    Text,
}

/// The type of a column of results: by the unit that its name ends with, names of things, or a
/// count.
fn kind_of(column: &str) -> Kind {
    match column {
        "link" | "from" | "to" | "workload" | "status" | "scheme" | "id" => Kind::Text,
        "claim" | "source" | "text" | "unit" | "verdict" | "remark" => Kind::Text,
        "goodput_bps" | "utilisation" | "paper" | "here" | "half_width" => Kind::Number,
        name if name.ends_with("_s") => Kind::Number,
        _ => Kind::Whole,
    }
}

impl Table {
    /// A table of lines of comma-separated fields under these columns; an empty field is null.
    pub(crate) fn of_lines(columns: &str, lines: &str) -> PyResult<Table> {
        let rows =
            read(columns, lines).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Table { rows })
    }

    /// The table as a file of Apache Arrow's IPC format, which cannot be cut short unnoticed.
    pub(crate) fn to_file(&self) -> PyResult<Vec<u8>> {
        let write = || {
            let mut writer = FileWriter::try_new(Vec::new(), &self.rows.schema())?;
            writer.write(&self.rows)?;
            writer.into_inner()
        };
        write().map_err(|error: ArrowError| PyValueError::new_err(error.to_string()))
    }

    /// The lines of which [`Table::of_lines`] made a table of results, of its file.
    pub(crate) fn lines_of_file(columns: &str, file: &[u8]) -> PyResult<String> {
        lines(columns, file).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// A field that its column's type does not hold, or a line of another number of fields.
#[derive(Debug, thiserror::Error)]
enum TableError {
    #[error(transparent)]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    #[error("{column}: {field:?} is not of its type")]
    Field { column: String, field: String },
    #[error("a table with the columns {found}, not {wanted}")]
    Columns { found: String, wanted: String },
}

/// All lines as one batch.
fn read(columns: &str, lines: &str) -> Result<RecordBatch, TableError> {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(lines.as_bytes());
    let records = reader.into_records().collect::<Result<Vec<_>, _>>()?;
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (place, name) in columns.split(',').enumerate() {
        let values = records.iter().map(|record| record.get(place).filter(|text| !text.is_empty()));
        let array = column(name, values)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// A column of fields, with its type.
fn column<'a>(
    name: &str,
    fields: impl Iterator<Item = Option<&'a str>>,
) -> Result<ArrayRef, TableError> {
    Ok(match kind_of(name) {
        Kind::Whole => Arc::new(UInt64Array::from(parsed(name, fields)?)),
        Kind::Number => Arc::new(Float64Array::from(parsed(name, fields)?)),
        Kind::Text => Arc::new(fields.collect::<StringArray>()),
    })
}

fn parsed<'a, T: FromStr>(
    name: &str,
    fields: impl Iterator<Item = Option<&'a str>>,
) -> Result<Vec<Option<T>>, TableError> {
    let wrong =
        |field: &str| TableError::Field { column: name.to_owned(), field: field.to_owned() };
    fields
        .map(|field| field.map(|text| text.parse().map_err(|_| wrong(text))).transpose())
        .collect()
}

/// The lines of a file's rows.
fn lines(columns: &str, file: &[u8]) -> Result<String, TableError> {
    let mut lines = String::new();
    for rows in FileReader::try_new(Cursor::new(file), None)? {
        let rows = rows?;
        let schema = rows.schema();
        let types = schema.fields().iter().zip(columns.split(','));
        let typed = |(field, name): (&Arc<Field>, &str)| *field.data_type() == type_of(name);
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        if found.join(",") != columns || !types.into_iter().all(typed) {
            let (found, wanted) = (schema.to_string(), columns.to_owned());
            return Err(TableError::Columns { found, wanted });
        }
        for row in 0..rows.num_rows() {
            for (place, (name, column)) in columns.split(',').zip(rows.columns()).enumerate() {
                lines.push_str(if place == 0 { "" } else { "," });
                write_field(&mut lines, name, column, row);
            }
            lines.push('\n');
        }
    }
    Ok(lines)
}

/// A field as [`heddle_study::results`] writes it: seconds to the nanosecond, shares to a
/// millionth, rates and counts in whole numbers.
fn write_field(line: &mut String, name: &str, column: &ArrayRef, row: usize) {
    if column.is_null(row) {
        return;
    }
    let _ = match kind_of(name) {
        Kind::Whole => write!(line, "{}", column.as_primitive::<UInt64Type>().value(row)),
        Kind::Number => {
            let decimals = match name {
                "utilisation" => 6,
                name if name.ends_with("_s") => 9,
                _ => 0,
            };
            write!(line, "{:.decimals$}", column.as_primitive::<Float64Type>().value(row))
        }
        Kind::Text => write!(line, "{}", column.as_string::<i32>().value(row)),
    };
}

/// The type in memory of a column of results.
fn type_of(column: &str) -> DataType {
    match kind_of(column) {
        Kind::Whole => DataType::UInt64,
        Kind::Number => DataType::Float64,
        Kind::Text => DataType::Utf8,
    }
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.rows.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    /// A column by name, as a list; missing values are None.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.rows.column_by_name(name);
        let column = column.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        values::list(py, column)
    }

    /// All columns by name, each as a list.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for name in self.columns() {
            all.set_item(&name, self.__getitem__(py, &name)?)?;
        }
        Ok(all)
    }

    /// The Arrow PyCapsule interface: a stream of all rows. A requested schema is not converted to,
    /// as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let rows = RecordBatchIterator::new([Ok(self.rows.clone())], self.rows.schema());
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(rows)),
            c"arrow_array_stream",
        )
    }

    /// The Arrow PyCapsule interface: the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.rows.schema());
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __repr__(&self) -> String {
        format!("<heddle.Table of {} rows: {}>", self.rows.num_rows(), self.columns().join(", "))
    }
}

/// Columns as lists of Python's own values.
mod values {
    use super::{Bound, DataType, PyList, PyResult, PyValueError, Python};
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Float64Type, UInt64Type};
    use arrow_array::{Array as _, ArrayRef};

    /// A column as a list.
    pub(super) fn list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
        match column.data_type() {
            DataType::UInt64 => {
                PyList::new(py, column.as_primitive::<UInt64Type>().iter().collect::<Vec<_>>())
            }
            DataType::Float64 => {
                PyList::new(py, column.as_primitive::<Float64Type>().iter().collect::<Vec<_>>())
            }
            DataType::Utf8 => PyList::new(py, column.as_string::<i32>().iter().collect::<Vec<_>>()),
            other => Err(PyValueError::new_err(format!("a column of {other} has no list"))),
        }
    }
}
