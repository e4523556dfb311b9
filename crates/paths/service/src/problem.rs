//! Errors of operations: one type behind gRPC's statuses and HTTP's problems.

use heddle_fabric::PathError;
use heddle_path_encoder::PathEncoderError;

/// Kinds of problems: codes of google.rpc.Code, one of them divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A field of the request has a value that is not valid.
    InvalidArgument,
    /// A host, link, path, connection or subflow does not exist.
    NotFound,
    /// The fabric in its present state cannot serve the request.
    FailedPrecondition,
    /// A limit of the service is reached: connections, subflows or taken ports.
    ResourceExhausted,
    /// All encodings of a path are in use. `RESOURCE_EXHAUSTED` in gRPC.
    NoFreePort,
    /// The service has failed.
    Internal,
}

impl Code {
    /// The label in metrics and logs.
    pub const fn label(self) -> &'static str {
        match self {
            Code::InvalidArgument => "invalid_argument",
            Code::NotFound => "not_found",
            Code::FailedPrecondition => "failed_precondition",
            Code::ResourceExhausted => "resource_exhausted",
            Code::NoFreePort => "no_free_port",
            Code::Internal => "internal",
        }
    }
}

/// An operation's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail} ({help})")]
pub struct Problem {
    /// The kind.
    pub code: Code,
    /// The explanation of this occurrence.
    pub detail: String,
    /// Advice to the caller.
    pub help: &'static str,
    /// The field of the request that is not valid, as the `.proto` file names it, if it is one.
    pub field: Option<&'static str>,
}

impl Problem {
    /// A problem of a kind.
    pub fn new(code: Code, detail: impl Into<String>, help: &'static str) -> Problem {
        Problem { code, detail: detail.into(), help, field: None }
    }

    /// A field with a value that is not valid.
    pub fn invalid(field: &'static str, detail: impl Into<String>, help: &'static str) -> Problem {
        Problem::new(Code::InvalidArgument, detail, help).in_field(field)
    }

    /// The same problem, in a field of the request.
    #[must_use]
    pub fn in_field(self, field: &'static str) -> Problem {
        Problem { field: Some(field), ..self }
    }
}

impl From<PathEncoderError> for Problem {
    fn from(error: PathEncoderError) -> Problem {
        let (code, help) = code_and_help(&error);
        match code {
            // The inputs of a network are checked before it is served: their errors are not the
            // caller's.
            Code::Internal => Problem::new(code, "the service has failed", help),
            _ => Problem::new(code, error.to_string(), help),
        }
    }
}

fn code_and_help(error: &PathEncoderError) -> (Code, &'static str) {
    use Code::{FailedPrecondition, Internal, InvalidArgument, NoFreePort, NotFound};
    match error {
        PathEncoderError::Unknown { .. } | PathEncoderError::Path(PathError::NoSuchHost(..)) => {
            (NotFound, "give a node's name in the fabric file, or a host's address")
        }
        PathEncoderError::NoSuchPath { .. } => (NotFound, "list the pair's paths"),
        PathEncoderError::NoSuchLink { .. } => (NotFound, "list the links"),
        PathEncoderError::NoConnection(_) | PathEncoderError::NoSubflow { .. } => {
            (NotFound, "open a connection, and renew it before its lease ends")
        }
        PathEncoderError::Path(PathError::SameHost(_)) => (InvalidArgument, "name two hosts"),
        PathEncoderError::Path(PathError::Unreachable(..))
        | PathEncoderError::HostDown { .. }
        | PathEncoderError::Fabric(_) => {
            (FailedPrecondition, "list the links that are down, and report those that are up again")
        }
        PathEncoderError::NotAPath { .. } | PathEncoderError::NotANextHop { .. } => {
            (InvalidArgument, "give the nodes as the list of the pair's paths has them")
        }
        PathEncoderError::NoAddress { .. }
        | PathEncoderError::Families { .. }
        | PathEncoderError::NoField => (InvalidArgument, "use the other family"),
        PathEncoderError::NoSubflows => (InvalidArgument, "ask for 1 to 16 subflows"),
        PathEncoderError::PortsGiven => (InvalidArgument, "open one subflow and add the others"),
        PathEncoderError::PortsInUse => (FailedPrecondition, "use another source port"),
        PathEncoderError::RadixTooSmall { .. }
        | PathEncoderError::TooLong { .. }
        | PathEncoderError::TtlTooLow { .. } => {
            (FailedPrecondition, "use another path, or change the network's constants")
        }
        PathEncoderError::NoneFree { .. } => {
            (NoFreePort, "close connections of this pair, or free ports")
        }
        _ => (Internal, "see the service's log"),
    }
}
