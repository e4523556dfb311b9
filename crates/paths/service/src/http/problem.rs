//! Problems as HTTP responses: `application/problem+json` (RFC 9457) with the extension members
//! `code`, `help` and `field`.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use heddle_daemon::problem::{self, Cause, Rejection};
use serde::Serialize;

use super::problem_type::ProblemType;
use crate::Problem;
use crate::tokens::Refusal;

/// Seconds after which to try again when the service is busy.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// The scheme of authentication (RFC 6750, section 3).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"heddle-path-service\"");

/// The members of the body.
#[derive(Serialize)]
struct Members {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: String,
    code: &'static str,
    help: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
}

/// The origin of a problem. Responses carry it as an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An operation of the service, which has counted the problem.
    Operation,
    /// HTTP: the request was not valid, no operation was started, or it did not end in time.
    Http,
}

/// A problem with its type.
#[derive(Debug)]
pub struct HttpProblem {
    kind: ProblemType,
    detail: String,
    help: &'static str,
    field: Option<&'static str>,
    origin: Origin,
}

impl HttpProblem {
    /// A problem of HTTP.
    pub fn new(kind: ProblemType, detail: impl Into<String>, help: &'static str) -> HttpProblem {
        HttpProblem { kind, detail: detail.into(), help, field: None, origin: Origin::Http }
    }

    /// The problem of a request without one of the service's tokens.
    pub fn unauthenticated(refusal: Refusal) -> HttpProblem {
        HttpProblem::new(ProblemType::Unauthenticated, refusal.detail(), Refusal::HELP)
    }
}

impl From<Problem> for HttpProblem {
    fn from(Problem { code, detail, help, field }: Problem) -> HttpProblem {
        HttpProblem { kind: ProblemType::of(code), detail, help, field, origin: Origin::Operation }
    }
}

impl<R: Rejection> From<R> for HttpProblem {
    fn from(rejection: R) -> HttpProblem {
        let (kind, help) = match rejection.cause() {
            Cause::TooLarge => (ProblemType::ContentTooLarge, "send at most 64 KiB"),
            Cause::NoJson => (
                ProblemType::UnsupportedMediaType,
                "send the header Content-Type: application/json",
            ),
            Cause::WrongType => {
                (ProblemType::UnprocessableContent, "send the fields of the operation's request")
            }
            Cause::Body => (ProblemType::MalformedRequest, "send the body as JSON"),
            Cause::Query => {
                (ProblemType::MalformedRequest, "send the query parameters of the operation")
            }
            Cause::Path => (ProblemType::MalformedRequest, "connections and subflows are numbers"),
        };
        HttpProblem::new(kind, rejection.text(), help)
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response {
        let HttpProblem { kind, detail, help, field, origin } = self;
        let (title, status, code) = (kind.title(), kind.status(), kind.code());
        let members = Members { r#type: kind.uri(), title, status, detail, code, help, field };
        let mut response = problem::response(status, &members);
        let headers = response.headers_mut();
        if kind == ProblemType::Unavailable {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        if kind == ProblemType::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
        }
        response.extensions_mut().insert(origin);
        response
    }
}
