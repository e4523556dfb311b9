//! Problems: the reasons why a request was not carried out, as `application/problem+json` (RFC
//! 9457).

use axum::response::{IntoResponse, Response};
use heddle_daemon::problem::{self, Cause, PREFIX, Rejection};
use heddle_daemon::problem_kinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reason why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// For programs.
    pub kind: ProblemKind,
    /// For people, with the fix.
    pub message: String,
}

problem_kinds! {
    /// Kinds of problems.
    pub enum ProblemKind;
    Invalid: "invalid-argument", "Invalid argument", 400,
        "A field of the request has a value that is not valid.";
    Malformed: "malformed-request", "Malformed request", 400,
        "The body is not JSON, or the URL or its parameters cannot be parsed.";
    Forbidden: "forbidden", "Forbidden", 403,
        "The client's user is neither root nor the daemon's own.";
    NotFound: "not-found", "Not found", 404,
        "No service, backend or problem has the name.";
    NoSuchResource: "no-such-resource", "No such resource", 404,
        "The URL's path is not one of the daemon's.";
    MethodNotAllowed: "method-not-allowed", "Method not allowed", 405,
        "The resource does not have this method; the Allow header lists those that it has.";
    Timeout: "request-timeout", "Request timeout", 408,
        "The request's body did not arrive in time.";
    Refused: "refused", "Refused", 409,
        "It cannot be done as things are: a backend of this name is there, the file is wrong, or the maps have no room.";
    TooLong: "content-too-large", "Content too large", 413,
        "The request's body is above 64 KiB.";
    UnsupportedMediaType: "unsupported-media-type", "Unsupported media type", 415,
        "The request's body is not marked as application/json.";
    Unprocessable: "unprocessable-content", "Unprocessable content", 422,
        "The body is JSON, but lacks a field, or has an unknown one or a value of the wrong type.";
    Internal: "internal", "Internal error", 500,
        "The daemon or the kernel has failed; the daemon's log has the details.";
    Unavailable: "unavailable", "Service unavailable", 503,
        "The daemon is stopping, or etcd does not answer.";
}

/// The members of a problem's body (RFC 9457).
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct Members {
    /// Its type, as a reference to its description.
    r#type: String,
    /// Its type in words.
    title: String,
    /// HTTP's status.
    status: u16,
    /// This occurrence in words, with the fix.
    detail: String,
}

impl Problem {
    /// A problem of a kind.
    pub(crate) fn new(kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem { kind, message: message.into() }
    }
}

impl<R: Rejection> From<R> for Problem {
    fn from(rejection: R) -> Problem {
        match rejection.cause() {
            Cause::TooLarge => {
                Problem::new(ProblemKind::TooLong, "a request's body has at most 64 KiB")
            }
            Cause::NoJson => Problem::new(
                ProblemKind::UnsupportedMediaType,
                "send the body with the header Content-Type: application/json",
            ),
            Cause::WrongType => Problem::new(ProblemKind::Unprocessable, rejection.text()),
            Cause::Body | Cause::Query | Cause::Path => {
                Problem::new(ProblemKind::Malformed, rejection.text())
            }
        }
    }
}

impl From<Problem> for Members {
    fn from(Problem { kind, message }: Problem) -> Members {
        Members {
            r#type: kind.uri(),
            title: kind.title().to_owned(),
            status: kind.status(),
            detail: message,
        }
    }
}

/// A type that this release does not know is the daemon's own failure.
impl From<Members> for Problem {
    fn from(members: Members) -> Problem {
        let name = members.r#type.strip_prefix(PREFIX).unwrap_or_default();
        let kind = ProblemKind::named(name).unwrap_or(ProblemKind::Internal);
        Problem::new(kind, members.detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.kind.status();
        problem::response(status, &Members::from(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of problems, which the book includes.
    const TABLE: &str = include_str!("../../problems.md");

    #[test]
    fn the_books_table_has_every_kind() {
        let row = |kind: &ProblemKind| {
            let (name, status, title) = (kind.name(), kind.status(), kind.title());
            format!("| `{PREFIX}{name}` | {status} | {title} | {} |", kind.description())
        };
        let rows: Vec<String> = ProblemKind::ALL.iter().map(row).collect();
        assert_eq!(TABLE.lines().skip(2).collect::<Vec<_>>(), rows);
    }

    #[test]
    fn a_problem_survives_the_wire() {
        for kind in ProblemKind::ALL {
            let problem = Problem::new(*kind, "no service is called wep; did you mean web?");
            let text = serde_json::to_string(&Members::from(problem.clone())).unwrap();
            let members: Members = serde_json::from_str(&text).unwrap();
            assert_eq!(Problem::from(members), problem);
        }
        let newer =
            r#"{ "type": "/problems/of-tomorrow", "title": "", "status": 400, "detail": "x" }"#;
        let members: Members = serde_json::from_str(newer).unwrap();
        assert_eq!(Problem::from(members), Problem::new(ProblemKind::Internal, "x"));
    }
}
