//! Time and size limits of requests.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use heddle_daemon::problem::{PREFIX, with_body};
use tokio::time::{Instant, timeout_at};

use super::problem::{HttpProblem, Origin};
use super::problem_type::ProblemType;
use super::{HEALTH, OPENAPI};
use crate::Service;
use crate::tokens::Refusal;

/// Checks a request's token, reads its body and answers the request, both within
/// [`crate::Limits::request`], and counts the requests that HTTP rejects. The size of the body is
/// limited by the extractor of [`axum::body::Bytes`].
pub async fn limited(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let deadline = Instant::now() + service.limits().request;
    if let Err(refusal) = authorised(&service, &request) {
        let problem = HttpProblem::unauthenticated(refusal).into_response();
        service.count_http_rejection(problem.status().as_u16());
        return problem;
    }
    let response = match timeout_at(deadline, with_body(request)).await {
        Ok(Ok(request)) => match timeout_at(deadline, next.run(request)).await {
            Ok(response) => response,
            Err(_) => busy().into_response(),
        },
        Ok(Err(rejection)) => HttpProblem::from(rejection).into_response(),
        Err(_) => timed_out().into_response(),
    };
    if response.extensions().get() == Some(&Origin::Http) {
        service.count_http_rejection(response.status().as_u16());
    }
    response
}

/// Checks the request's token. Health, the OpenAPI document and the descriptions of problems need
/// none.
fn authorised(service: &Service, request: &Request) -> Result<(), Refusal> {
    let path = request.uri().path();
    if matches!(path, HEALTH | OPENAPI) || path.starts_with(PREFIX) {
        return Ok(());
    }
    let authorization = request.headers().get(header::AUTHORIZATION);
    service.tokens().check(authorization.map(HeaderValue::as_bytes))
}

fn timed_out() -> HttpProblem {
    let detail = "the request's body did not arrive in time";
    HttpProblem::new(ProblemType::RequestTimeout, detail, "send the whole request at once")
}

fn busy() -> HttpProblem {
    let detail = "the service could not answer in time";
    HttpProblem::new(ProblemType::Unavailable, detail, "try again later")
}
