//! `[scheme]` in files of other programs, with the keys that it has in a scenario.

use heddle_config::Problem;
use serde::Deserialize;

use crate::{Graph, Scheme, raw, resolve};

/// `[scheme]`: a load-balancing scheme with its parameters, or its name alone.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SchemeTable(raw::Scheme);

impl SchemeTable {
    /// The scheme with every default filled in, for the switches of a graph. It is none in a shared
    /// library: no file is read.
    ///
    /// # Errors
    /// A value that does not fit, or a fabric that the scheme is not made for; the problem's key
    /// begins with `scheme`.
    pub fn resolve(&self, graph: &Graph) -> Result<Scheme, Problem> {
        let none = |path: &str| Err(std::io::Error::other(path.to_owned()));
        resolve::scheme(&self.0, graph, &none)
    }
}
