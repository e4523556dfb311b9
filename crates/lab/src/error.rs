//! Errors of making and using a lab.

use std::io;
use std::time::Duration;

/// An error of a lab, or of a tool in it.
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
    #[error("a lab has {what} of 1 to {limit}, not {count}")]
    Size {
        /// The kind of host or address.
        what: &'static str,
        /// The largest number that a lab can have.
        limit: usize,
        /// The requested number.
        count: usize,
    },
    /// A program ended with an error, or not in time.
    #[error("`{line}` failed ({status}): {output}")]
    Failed {
        /// The command line.
        line: String,
        /// Its exit status.
        status: String,
        /// Its output, errors included.
        output: String,
    },
    /// A program's output, or a file of the system's, is not in the expected format.
    #[error("{program}: {output:?} where {expected} was expected")]
    Unreadable {
        /// The program, and the request that it answered if there was one.
        program: String,
        /// The output that was expected, or the reason why it is not.
        expected: String,
        /// The part in question.
        output: String,
    },
    /// A condition was not met in time.
    #[error("not within {limit:?} ({took:.0?} on this machine): {observed}")]
    Timeout {
        /// The time limit, on an idle machine.
        limit: Duration,
        /// The time that it was.
        took: Duration,
        /// The process that was waited for, the event, and the state at the end.
        observed: String,
    },
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// The attempted operation.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl LabError {
    /// A program's output that is not what was expected.
    pub fn unreadable(
        program: impl Into<String>,
        expected: impl Into<String>,
        output: impl Into<String>,
    ) -> LabError {
        let [program, expected, output] = [program.into(), expected.into(), output.into()];
        LabError::Unreadable { program, expected, output }
    }

    /// For `map_err`: the system's error with the attempted operation.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> LabError {
        let what = what.into();
        move |source| LabError::System { what, source }
    }
}
