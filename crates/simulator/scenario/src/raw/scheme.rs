//! `[scheme]`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Cflb;

/// A scheme as a file has it.
pub(crate) type Scheme = crate::Scheme<Cflb, External>;

/// A scheme in a shared library.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct External {
    /// The shared library, written in C, Rust or any other language by the header
    /// `heddle_scheme.h`. A relative path is sought from the scenario's folder.
    pub(crate) library: String,
    /// Its parameters, whose names and defaults are the library's own. Default: none.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
}

/// A parameter of a library: a whole number from 0; true or false, which is 1 or 0; or a quantity
/// with its unit, which is a number of nanoseconds ("100us"), bytes ("64KB") or bits per second
/// ("10Gbps").
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum Parameter {
    /// A whole number.
    Number(u64),
    /// True or false.
    Flag(bool),
    /// A quantity with its unit.
    Quantity(String),
}
