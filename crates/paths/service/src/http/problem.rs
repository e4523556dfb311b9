//! Problems as HTTP responses: `application/problem+json` (RFC 9457) with the extension members `code`, `help` and `field`.

use axum::Json;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::problem_type::ProblemType;
use crate::Problem;
use crate::tokens::Refusal;

/// The media type (RFC 9457, section 3).
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");
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
    kind: &'static ProblemType,
    detail: String,
    help: &'static str,
    field: Option<&'static str>,
    origin: Origin,
}

impl HttpProblem {
    /// A problem of HTTP.
    pub fn new(
        kind: &'static ProblemType,
        detail: impl Into<String>,
        help: &'static str,
    ) -> HttpProblem {
        HttpProblem { kind, detail: detail.into(), help, field: None, origin: Origin::Http }
    }

    /// The problem of a request without one of the service's tokens.
    pub fn unauthenticated(refusal: Refusal) -> HttpProblem {
        HttpProblem::new(ProblemType::UNAUTHENTICATED, refusal.detail(), Refusal::HELP)
    }

    /// The problem of a request with a status that axum gave it.
    fn rejected(status: StatusCode, detail: String) -> HttpProblem {
        let (kind, help) = match status {
            StatusCode::PAYLOAD_TOO_LARGE => {
                (ProblemType::CONTENT_TOO_LARGE, "send at most 64 KiB")
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => (
                ProblemType::UNSUPPORTED_MEDIA_TYPE,
                "send the header Content-Type: application/json",
            ),
            StatusCode::UNPROCESSABLE_ENTITY => {
                (ProblemType::UNPROCESSABLE_CONTENT, "send the fields of the operation's request")
            }
            _ => (ProblemType::MALFORMED_REQUEST, "send the body as JSON"),
        };
        HttpProblem::new(kind, detail, help)
    }
}

impl From<Problem> for HttpProblem {
    fn from(Problem { code, detail, help, field }: Problem) -> HttpProblem {
        HttpProblem { kind: ProblemType::of(code), detail, help, field, origin: Origin::Operation }
    }
}

impl From<JsonRejection> for HttpProblem {
    fn from(rejection: JsonRejection) -> HttpProblem {
        HttpProblem::rejected(rejection.status(), rejection.body_text())
    }
}

impl From<BytesRejection> for HttpProblem {
    fn from(rejection: BytesRejection) -> HttpProblem {
        HttpProblem::rejected(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for HttpProblem {
    fn from(rejection: QueryRejection) -> HttpProblem {
        let help = "send the query parameters of the operation";
        HttpProblem::new(ProblemType::MALFORMED_REQUEST, rejection.body_text(), help)
    }
}

impl From<PathRejection> for HttpProblem {
    fn from(rejection: PathRejection) -> HttpProblem {
        let help = "connections and subflows are numbers";
        HttpProblem::new(ProblemType::MALFORMED_REQUEST, rejection.body_text(), help)
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response {
        let HttpProblem { kind, detail, help, field, origin } = self;
        let &ProblemType { title, status, code, .. } = kind;
        let members = Members { r#type: kind.uri(), title, status, detail, code, help, field };
        let mut response = Json(members).into_response();
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, MEDIA_TYPE);
        if kind == ProblemType::UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        if kind == ProblemType::UNAUTHENTICATED {
            headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
        }
        if kind == ProblemType::REQUEST_TIMEOUT {
            // The rest of the body is not read (RFC 9110, section 15.5.9).
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response.extensions_mut().insert(origin);
        response
    }
}
