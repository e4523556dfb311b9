//! The types of problems that HTTP responses report, and the members that are the same for each occurrence of a type.

use crate::Code;

/// The start of every type's URI reference. [`super::routes`] serves the description of a type there.
pub const PREFIX: &str = "/problems/";

/// A type of problem (RFC 9457, section 3.1).
#[derive(Debug, PartialEq, Eq)]
pub struct ProblemType {
    /// The last segment of the `type` member. Clients compare it, so it never changes.
    pub name: &'static str,
    /// The `title` member.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The `code` member: the code of google.rpc.Code that gRPC reports for the same problem.
    pub code: &'static str,
    /// The meaning, one sentence.
    pub description: &'static str,
}

/// Defines the types and the list of them all.
macro_rules! problem_types {
    ($($id:ident: $name:literal, $title:literal, $status:literal, $code:literal, $description:literal;)*) => {
        impl ProblemType {
            $(
                #[doc = $description]
                pub const $id: &'static ProblemType = &ProblemType {
                    name: $name,
                    title: $title,
                    status: $status,
                    code: $code,
                    description: $description,
                };
            )*
            /// All types.
            pub const ALL: &'static [&'static ProblemType] = &[$(ProblemType::$id),*];
        }
    };
}

problem_types! {
    INVALID_ARGUMENT: "invalid-argument", "Invalid argument", 400, "INVALID_ARGUMENT",
        "A field of the request has a value that is not valid.";
    MALFORMED_REQUEST: "malformed-request", "Malformed request", 400, "INVALID_ARGUMENT",
        "The body is not JSON, or the URL cannot be parsed.";
    UNAUTHENTICATED: "unauthenticated", "Unauthenticated", 401, "UNAUTHENTICATED",
        "The request has none of the service's bearer tokens.";
    NOT_FOUND: "not-found", "Not found", 404, "NOT_FOUND",
        "A host, link, path, connection or subflow does not exist.";
    NO_SUCH_RESOURCE: "no-such-resource", "No such resource", 404, "UNIMPLEMENTED",
        "The URL's path is not one of the service.";
    METHOD_NOT_ALLOWED: "method-not-allowed", "Method not allowed", 405, "UNIMPLEMENTED",
        "The resource does not have this method; the Allow header lists those that it has.";
    REQUEST_TIMEOUT: "request-timeout", "Request timeout", 408, "DEADLINE_EXCEEDED",
        "The request's body did not arrive in time.";
    FAILED_PRECONDITION: "failed-precondition", "Failed precondition", 409, "FAILED_PRECONDITION",
        "The fabric in its present state cannot serve the request.";
    CONTENT_TOO_LARGE: "content-too-large", "Content too large", 413, "INVALID_ARGUMENT",
        "The request's body is above the limit.";
    UNSUPPORTED_MEDIA_TYPE: "unsupported-media-type", "Unsupported media type", 415, "INVALID_ARGUMENT",
        "The request's body is not marked as application/json.";
    UNPROCESSABLE_CONTENT: "unprocessable-content", "Unprocessable content", 422, "INVALID_ARGUMENT",
        "The body is JSON, but has an unknown field or a value of the wrong type.";
    RESOURCE_EXHAUSTED: "resource-exhausted", "Resource exhausted", 429, "RESOURCE_EXHAUSTED",
        "A limit of the service is reached: connections, subflows or taken ports.";
    NO_FREE_PORT: "no-free-port", "No free port", 429, "RESOURCE_EXHAUSTED",
        "All header fields that encode the path are in use or reserved.";
    INTERNAL: "internal", "Internal error", 500, "INTERNAL",
        "The service has failed; its log has the details.";
    UNAVAILABLE: "unavailable", "Service unavailable", 503, "UNAVAILABLE",
        "The service is too busy to answer in time; the Retry-After header says when to try again.";
}

impl ProblemType {
    /// The type with a name.
    pub fn named(name: &str) -> Option<&'static ProblemType> {
        ProblemType::ALL.iter().copied().find(|kind| kind.name == name)
    }

    /// The type of a problem that an operation reports.
    pub const fn of(code: Code) -> &'static ProblemType {
        match code {
            Code::InvalidArgument => ProblemType::INVALID_ARGUMENT,
            Code::NotFound => ProblemType::NOT_FOUND,
            Code::FailedPrecondition => ProblemType::FAILED_PRECONDITION,
            Code::ResourceExhausted => ProblemType::RESOURCE_EXHAUSTED,
            Code::NoFreePort => ProblemType::NO_FREE_PORT,
            Code::Internal => ProblemType::INTERNAL,
        }
    }

    /// The `type` member: a URI reference relative to the service's address.
    pub fn uri(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::ProblemType;

    /// The manual's table of problems.
    const MANUAL: &str = include_str!("../../../../../docs/src/path-service.md");

    #[test]
    fn every_type_is_in_the_manual() {
        for ProblemType { name, title, status, code, description } in ProblemType::ALL {
            let row =
                format!("| `/problems/{name}` | {status} | {title} | `{code}` | {description} |");
            assert!(MANUAL.lines().any(|line| line == row), "{row}");
        }
        let rows = MANUAL.lines().filter(|line| line.starts_with("| `/problems/")).count();
        assert_eq!(rows, ProblemType::ALL.len());
    }

    #[test]
    fn names_are_unique_and_found() {
        for kind in ProblemType::ALL {
            assert_eq!(ProblemType::named(kind.name), Some(*kind));
        }
        assert_eq!(ProblemType::named("none"), None);
    }
}
