//! Problem documents (RFC 9457): kinds of problems with what is the same for each occurrence, their
//! responses, and what axum itself refuses.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest as _, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

/// The start of every type's URI reference, where the daemon describes it.
pub const PREFIX: &str = "/problems/";
/// The media type (RFC 9457, section 3).
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Defines an enum of kinds of problems with their names, titles, statuses and descriptions, and
/// the list of them all.
#[macro_export]
macro_rules! problem_kinds {
    (
        $(#[$attribute:meta])* $visible:vis enum $kind:ident;
        $($id:ident: $name:literal, $title:literal, $status:literal, $description:literal;)*
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $kind {
            $(#[doc = $description] $id,)*
        }

        impl $kind {
            /// All kinds.
            $visible const ALL: &'static [$kind] = &[$($kind::$id),*];

            /// The last segment of the `type` member. Clients compare it, so it never changes.
            $visible const fn name(self) -> &'static str {
                match self { $($kind::$id => $name),* }
            }

            /// The `title` member.
            $visible const fn title(self) -> &'static str {
                match self { $($kind::$id => $title),* }
            }

            /// The HTTP status.
            $visible const fn status(self) -> u16 {
                match self { $($kind::$id => $status),* }
            }

            /// The meaning, one sentence.
            $visible const fn description(self) -> &'static str {
                match self { $($kind::$id => $description),* }
            }

            /// The kind with a name.
            $visible fn named(name: &str) -> Option<$kind> {
                $kind::ALL.iter().copied().find(|kind| kind.name() == name)
            }

            /// The `type` member: a URI reference relative to the daemon's address.
            $visible fn uri(self) -> String {
                format!("{}{}", $crate::problem::PREFIX, self.name())
            }
        }
    };
}

/// The response with a problem's members.
pub fn response(status: u16, members: &impl Serialize) -> Response {
    let mut response = Json(members).into_response();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, MEDIA_TYPE);
    if status == StatusCode::REQUEST_TIMEOUT {
        // The rest of the body is not read (RFC 9110, section 15.5.9).
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The request with its whole body in memory.
///
/// # Errors
/// If the body is too large, or the connection ends before it.
pub async fn with_body(request: Request) -> Result<Request, BytesRejection> {
    let (parts, body) = request.into_parts();
    let bytes = Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// The reason why a request is refused before its handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The body has more bytes than the limit.
    TooLarge,
    /// The body is not marked as JSON.
    NoJson,
    /// The body is JSON, but not of the operation's type.
    WrongType,
    /// The body is no JSON, or does not arrive.
    Body,
    /// The query has a parameter that is unknown or cannot be parsed.
    Query,
    /// The path has a parameter that cannot be parsed.
    Path,
}

/// A refusal of axum's.
pub trait Rejection {
    /// The reason.
    fn cause(&self) -> Cause;
    /// In words.
    fn text(&self) -> String;
}

fn of_body(status: StatusCode) -> Cause {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => Cause::TooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Cause::NoJson,
        StatusCode::UNPROCESSABLE_ENTITY => Cause::WrongType,
        _ => Cause::Body,
    }
}

macro_rules! rejections {
    ($($rejection:ty: $cause:expr;)*) => {
        $(impl Rejection for $rejection {
            fn cause(&self) -> Cause {
                let cause: fn(&$rejection) -> Cause = $cause;
                cause(self)
            }

            fn text(&self) -> String {
                self.body_text()
            }
        })*
    };
}

rejections! {
    JsonRejection: |rejection| of_body(rejection.status());
    BytesRejection: |rejection| of_body(rejection.status());
    QueryRejection: |_| Cause::Query;
    PathRejection: |_| Cause::Path;
}
