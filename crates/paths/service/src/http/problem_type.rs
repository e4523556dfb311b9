//! The types of problems that HTTP responses report, and the members that are the same for each
//! occurrence of a type.

use heddle_daemon::problem_kinds;

use crate::Code;

problem_kinds! {
    /// A type of problem (RFC 9457, section 3.1).
    pub enum ProblemType;
    InvalidArgument: "invalid-argument", "Invalid argument", 400,
        "A field of the request has a value that is not valid.";
    MalformedRequest: "malformed-request", "Malformed request", 400,
        "The body is not JSON, or the URL cannot be parsed.";
    Unauthenticated: "unauthenticated", "Unauthenticated", 401,
        "The request has none of the service's bearer tokens.";
    NotFound: "not-found", "Not found", 404,
        "A host, link, path, connection or subflow does not exist.";
    NoSuchResource: "no-such-resource", "No such resource", 404,
        "The URL's path is not one of the service.";
    MethodNotAllowed: "method-not-allowed", "Method not allowed", 405,
        "The resource does not have this method; the Allow header lists those that it has.";
    RequestTimeout: "request-timeout", "Request timeout", 408,
        "The request's body did not arrive in time.";
    FailedPrecondition: "failed-precondition", "Failed precondition", 409,
        "The fabric in its present state cannot serve the request.";
    ContentTooLarge: "content-too-large", "Content too large", 413,
        "The request's body is above the limit.";
    UnsupportedMediaType: "unsupported-media-type", "Unsupported media type", 415,
        "The request's body is not marked as application/json.";
    UnprocessableContent: "unprocessable-content", "Unprocessable content", 422,
        "The body is JSON, but has an unknown field or a value of the wrong type.";
    ResourceExhausted: "resource-exhausted", "Resource exhausted", 429,
        "A limit of the service is reached: connections, subflows or taken ports.";
    NoFreePort: "no-free-port", "No free port", 429,
        "All header fields that encode the path are in use or reserved.";
    Internal: "internal", "Internal error", 500,
        "The service has failed; its log has the details.";
    Unavailable: "unavailable", "Service unavailable", 503,
        "The service is too busy to answer in time; the Retry-After header says when to try again.";
}

impl ProblemType {
    /// The `code` member: the code of google.rpc.Code that gRPC reports for the same problem.
    pub const fn code(self) -> &'static str {
        match self {
            ProblemType::InvalidArgument
            | ProblemType::MalformedRequest
            | ProblemType::ContentTooLarge
            | ProblemType::UnsupportedMediaType
            | ProblemType::UnprocessableContent => "INVALID_ARGUMENT",
            ProblemType::Unauthenticated => "UNAUTHENTICATED",
            ProblemType::NotFound => "NOT_FOUND",
            ProblemType::NoSuchResource | ProblemType::MethodNotAllowed => "UNIMPLEMENTED",
            ProblemType::RequestTimeout => "DEADLINE_EXCEEDED",
            ProblemType::FailedPrecondition => "FAILED_PRECONDITION",
            ProblemType::ResourceExhausted | ProblemType::NoFreePort => "RESOURCE_EXHAUSTED",
            ProblemType::Internal => "INTERNAL",
            ProblemType::Unavailable => "UNAVAILABLE",
        }
    }

    /// The type of a problem that an operation reports.
    pub const fn of(code: Code) -> ProblemType {
        match code {
            Code::InvalidArgument => ProblemType::InvalidArgument,
            Code::NotFound => ProblemType::NotFound,
            Code::FailedPrecondition => ProblemType::FailedPrecondition,
            Code::ResourceExhausted => ProblemType::ResourceExhausted,
            Code::NoFreePort => ProblemType::NoFreePort,
            Code::Internal => ProblemType::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProblemType;

    /// The table of problems, which the book includes.
    const TABLE: &str = include_str!("../../problems.md");

    #[test]
    fn the_books_table_has_every_type() {
        let row = |kind: &ProblemType| {
            let (name, status, title) = (kind.name(), kind.status(), kind.title());
            let (code, description) = (kind.code(), kind.description());
            format!("| `/problems/{name}` | {status} | {title} | `{code}` | {description} |")
        };
        let rows: Vec<String> = ProblemType::ALL.iter().map(row).collect();
        assert_eq!(TABLE.lines().skip(2).collect::<Vec<_>>(), rows);
    }

    #[test]
    fn names_are_unique_and_found() {
        for kind in ProblemType::ALL {
            assert_eq!(ProblemType::named(kind.name()), Some(*kind));
        }
        assert_eq!(ProblemType::named("none"), None);
    }
}
