//! The JSON Schema of a scenario file, for editors.

use crate::raw::File;

/// The JSON Schema (draft 2020-12) of a scenario file, with every key's meaning, default and source.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(File).to_value()
}
