//! What a caller did wrong, or what cannot be had, and what mends it: one type behind gRPC's statuses and HTTP's answers.

use heddle_fabric::PathError;
use heddle_path_encoder::PathEncoderError;

/// Kinds of problems, as gRPC names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// The request makes no sense by itself.
    InvalidArgument,
    /// A host, a link, a path or a connection is not there.
    NotFound,
    /// The fabric as it is now cannot do it.
    FailedPrecondition,
    /// Subflows or connections are used up, or the caller was too eager.
    ResourceExhausted,
    /// Every name of a path is in use. For callers this is one more resource that is exhausted.
    #[serde(rename = "RESOURCE_EXHAUSTED")]
    NoFreePort,
    /// It took too long.
    DeadlineExceeded,
    /// A fault of the service.
    Internal,
}

impl Code {
    /// As in metrics and logs.
    pub const fn word(self) -> &'static str {
        match self {
            Code::InvalidArgument => "invalid_argument",
            Code::NotFound => "not_found",
            Code::FailedPrecondition => "failed_precondition",
            Code::ResourceExhausted => "resource_exhausted",
            Code::NoFreePort => "no_free_port",
            Code::DeadlineExceeded => "deadline_exceeded",
            Code::Internal => "internal",
        }
    }
}

/// Why a request was not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({mend})")]
pub struct Problem {
    /// The kind.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What the caller can do about it.
    pub mend: &'static str,
}

impl Problem {
    /// A problem of a kind.
    pub fn new(code: Code, message: impl Into<String>, mend: &'static str) -> Problem {
        Problem { code, message: message.into(), mend }
    }

    /// A request that makes no sense by itself.
    pub fn invalid(message: impl Into<String>, mend: &'static str) -> Problem {
        Problem::new(Code::InvalidArgument, message, mend)
    }
}

impl From<PathEncoderError> for Problem {
    fn from(error: PathEncoderError) -> Problem {
        let (code, mend) = verdict(&error);
        match code {
            // What a network is made from is checked before it is served: its errors are nobody's business here.
            Code::Internal => Problem::new(code, "the service has failed", mend),
            _ => Problem::new(code, error.to_string(), mend),
        }
    }
}

fn verdict(error: &PathEncoderError) -> (Code, &'static str) {
    use Code::{FailedPrecondition, Internal, InvalidArgument, NoFreePort, NotFound};
    match error {
        PathEncoderError::Unknown { .. } | PathEncoderError::Path(PathError::NoSuchHost(..)) => {
            (NotFound, "name nodes as the fabric's file does, or hosts by their addresses")
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
            (InvalidArgument, "name a path as the list of the pair's paths does")
        }
        PathEncoderError::NoAddress { .. }
        | PathEncoderError::Families { .. }
        | PathEncoderError::NoField => (InvalidArgument, "ask for the other family"),
        PathEncoderError::NoSubflows => (InvalidArgument, "ask for 1 to 16 subflows"),
        PathEncoderError::PortsGiven => (InvalidArgument, "ask for one subflow and add the others"),
        PathEncoderError::PortsInUse => (FailedPrecondition, "take another source port"),
        PathEncoderError::RadixTooSmall { .. }
        | PathEncoderError::TooLong { .. }
        | PathEncoderError::TtlTooLow { .. } => {
            (FailedPrecondition, "take another path, or have the network's constants changed")
        }
        PathEncoderError::NoneFree { .. } => {
            (NoFreePort, "close connections of this pair, or free ports")
        }
        _ => (Internal, "see the service's log"),
    }
}
