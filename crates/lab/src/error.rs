//! What can go wrong between asking for a lab and having one.

use std::io;

/// Why a lab, or a tool in it, did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Namespaces, XDP and captures need root.
    #[error("network namespaces need root: run this as root")]
    NotRoot,
    /// A program of the machine is not there.
    #[error("`{program}` was not found: install it with `apt-get install {package}`")]
    Missing {
        /// The program.
        program: &'static str,
        /// Debian's package that has it.
        package: &'static str,
    },
    /// The kernel was built without MPTCP, or it is switched off.
    #[error("this kernel has no MPTCP: net.mptcp.enabled must be 1 (Linux 5.6 or later)")]
    NoMptcp,
    /// The lab is too large or too small for what it is.
    #[error("a lab has {what} of 1 to {most}, not {asked}")]
    Size {
        /// What was counted.
        what: &'static str,
        /// The most that there can be.
        most: usize,
        /// How many were asked for.
        asked: usize,
    },
    /// A program ended with an error, or not in time.
    #[error("`{line}` failed ({status}): {output}")]
    Failed {
        /// The command line.
        line: String,
        /// Its exit status.
        status: String,
        /// What it printed, errors included.
        output: String,
    },
    /// A program printed what nobody here understands.
    #[error("`{program}` printed what is not understood: {output}")]
    Unreadable {
        /// The program.
        program: &'static str,
        /// The part in question.
        output: String,
    },
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl LabError {
    /// For `map_err`: the system's error under the name of what was tried.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> LabError {
        let what = what.into();
        move |source| LabError::System { what, source }
    }
}
