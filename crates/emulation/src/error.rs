//! Errors of building and running an emulated fabric.

use std::io;

use heddle_fabric::FabricError;
use heddle_lab::LabError;

/// An error of an emulated fabric.
#[derive(Debug, thiserror::Error)]
pub enum EmulationError {
    /// A namespace, a link or a program.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A graph that makes no fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// More than addresses can number.
    #[error("{what}: at most {most} can be emulated; take a smaller fabric")]
    TooMany {
        /// The kind of node.
        what: &'static str,
        /// The largest number.
        most: usize,
    },
    /// A file that cannot be written.
    #[error("the configuration of {what}: {error}")]
    File {
        /// The switch.
        what: String,
        /// The reason.
        error: String,
    },
    /// There is no lab of this name.
    #[error("there is no lab{}: {known}", name.as_ref().map_or_else(String::new, |name| format!(" `{name}`")))]
    NoLab {
        /// The name, if one was given.
        name: Option<String>,
        /// The labs that there are.
        known: String,
    },
    /// A lab of this name is up.
    #[error("a lab `{0}` is up: take it down first (heddle lab down {0}), or give another --name")]
    IsUp(String),
    /// There is no node or link of this name.
    #[error("the lab has no {what} `{name}`; it has {known}")]
    NoSuch {
        /// "node" or "link".
        what: &'static str,
        /// The name.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A host's process ended or said something unexpected.
    #[error("the process of {host} {what}")]
    Host {
        /// The host.
        host: String,
        /// The event.
        what: String,
    },
    /// Nothing arrived for long.
    #[error("{unfinished} flows had not finished {seconds:.0} s after the last one started")]
    Stuck {
        /// Flows without their last byte.
        unfinished: usize,
        /// Seconds.
        seconds: f64,
    },
    /// Ctrl-C.
    #[error("interrupted; the namespaces are removed")]
    Interrupted,
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// The attempted operation.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A file of the lab's state cannot be read.
    #[error("{what}: {source}")]
    State {
        /// The file.
        what: String,
        /// The reason.
        source: serde_json::Error,
    },
}

impl EmulationError {
    /// For `map_err`: the system's error with the attempted operation.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> EmulationError {
        let what = what.into();
        move |source| EmulationError::System { what, source }
    }
}
