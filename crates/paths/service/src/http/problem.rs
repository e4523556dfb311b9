//! Problems as HTTP tells them: `application/problem+json` (RFC 9457) with members of our own.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::{Code, Problem};

/// What is told.
#[derive(Serialize)]
struct Told {
    status: u16,
    code: Code,
    message: String,
    mend: &'static str,
}

/// Who refused a request. Answers carry it as an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuser {
    /// The service, which has counted it as one of an operation's.
    Service,
    /// HTTP: no operation was begun, or none has ended in time.
    Http,
}

/// A problem with its HTTP status.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    problem: Problem,
    by: Refuser,
}

impl Refusal {
    /// A request that is none of ours.
    pub fn new(status: StatusCode, code: Code, message: &str, mend: &'static str) -> Refusal {
        Refusal { status, problem: Problem::new(code, message, mend), by: Refuser::Http }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        let status = match problem.code {
            Code::InvalidArgument => StatusCode::BAD_REQUEST,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::FailedPrecondition => StatusCode::CONFLICT,
            Code::ResourceExhausted | Code::NoFreePort => StatusCode::TOO_MANY_REQUESTS,
            Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal { status, problem, by: Refuser::Service }
    }
}

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Refusal {
        let mend = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => "send at most 64 KiB",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "send application/json",
            _ => "send the fields that the operation has, as JSON",
        };
        Refusal::new(rejection.status(), Code::InvalidArgument, &rejection.body_text(), mend)
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Refusal {
        let mend = "send the parameters that the operation has";
        Refusal::new(rejection.status(), Code::InvalidArgument, &rejection.body_text(), mend)
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Refusal {
        let mend = "connections and subflows are numbers";
        Refusal::new(rejection.status(), Code::InvalidArgument, &rejection.body_text(), mend)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal { status, problem: Problem { code, message, mend }, by } = self;
        let mut response =
            Json(Told { status: status.as_u16(), code, message, mend }).into_response();
        *response.status_mut() = status;
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response.extensions_mut().insert(by);
        response
    }
}
