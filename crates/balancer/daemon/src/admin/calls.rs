//! Requests and replies as HTTP has them, for the client.

use axum::http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Error, Value, from_slice, to_value};

use super::protocol::{Named, Reply, Request, SharedEdit};
use super::{Filter, Selection};

/// The changes that all balancers share.
const CHANGES: &str = "/v1/changes";

/// A request's method, target and body.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) target: String,
    pub(super) body: Option<Value>,
}

impl Call {
    /// The call that makes a request.
    pub(super) fn of(request: &Request) -> Result<Call, Error> {
        let get = |target: &str| Ok(Call::new(Method::GET, target.to_owned()));
        match request {
            Request::Status => get("/v1/status"),
            Request::Health => get("/v1/health"),
            Request::Services => get("/v1/services"),
            Request::Counters => get("/v1/counters"),
            Request::Members => get("/v1/members"),
            Request::Backends(selection) => {
                get(&backends(selection.service.as_deref(), selection.backend.as_deref()))
            }
            Request::Connections { filter, limit } => get(&connections(filter, *limit)),
            Request::Add(new) => Call::new(Method::POST, "/v1/backends".into()).with(new),
            Request::Change { service, backend, change } => {
                Call::new(Method::PATCH, backends(service.as_deref(), Some(backend))).with(change)
            }
            Request::Remove { service, backend } => {
                Ok(Call::new(Method::DELETE, backends(service.as_deref(), Some(backend))))
            }
            Request::Shared(edit) => Call::shared(edit),
            Request::Changes => get(CHANGES),
            Request::Explain(packet) => Call::new(Method::POST, "/v1/explain".into()).with(packet),
            Request::Reload => Ok(Call::new(Method::POST, "/v1/reload".into())),
        }
    }

    /// The call that changes all balancers.
    fn shared(edit: &SharedEdit) -> Result<Call, Error> {
        let all = |target: String| format!("{target}?scope=cluster");
        let path =
            |Named { service, backend }: &Named| all(backends(service.as_deref(), Some(backend)));
        match edit {
            SharedEdit::Add(new) => Call::new(Method::POST, all(backends(None, None))).with(new),
            SharedEdit::Change { of: named, change } => {
                Call::new(Method::PATCH, path(named)).with(change)
            }
            SharedEdit::Remove(named) => Ok(Call::new(Method::DELETE, path(named))),
            SharedEdit::Reset(Selection { service, backend }) => {
                let named = [("service", service.clone()), ("backend", backend.clone())];
                Ok(Call::new(Method::DELETE, with_query(CHANGES, named)))
            }
        }
    }

    fn new(method: Method, target: String) -> Call {
        Call { method, target, body: None }
    }

    fn with(mut self, body: &impl Serialize) -> Result<Call, Error> {
        self.body = Some(to_value(body)?);
        Ok(self)
    }
}

/// The reply to a request.
pub(super) fn reply(request: &Request, body: &[u8]) -> Result<Reply, Error> {
    match request {
        Request::Status => from_slice(body).map(Reply::Status),
        Request::Health => from_slice(body).map(Reply::Health),
        Request::Services => from_slice(body).map(Reply::Services),
        Request::Backends(_)
        | Request::Add(_)
        | Request::Change { .. }
        | Request::Remove { .. } => from_slice(body).map(Reply::Backends),
        Request::Changes | Request::Shared(SharedEdit::Reset(_)) => {
            from_slice(body).map(Reply::Changes)
        }
        Request::Shared(_) => from_slice(body).map(Reply::Backends),
        Request::Connections { .. } => from_slice(body).map(Reply::Connections),
        Request::Explain(_) => from_slice(body).map(Reply::Explained),
        Request::Counters => from_slice(body).map(Reply::Counters),
        Request::Reload => from_slice(body).map(Reply::Reloaded),
        Request::Members => from_slice(body).map(Reply::Members),
    }
}

/// The path of the backends of a service and a name.
fn backends(service: Option<&str>, backend: Option<&str>) -> String {
    let service = service.map_or_else(String::new, |name| format!("/services/{}", encoded(name)));
    let backend = backend.map_or_else(String::new, |name| format!("/{}", encoded(name)));
    format!("/v1{service}/backends{backend}")
}

fn connections(filter: &Filter, limit: u32) -> String {
    let Filter { service, backend, client, token, active } = filter;
    let parameters = [
        ("service", service.clone()),
        ("backend", backend.clone()),
        ("client", client.map(|client| client.to_string())),
        ("token", token.map(|token| format!("{token:#010x}"))),
        ("active", active.map(|seconds| seconds.to_string())),
        ("limit", Some(limit.to_string())),
    ];
    with_query("/v1/connections", parameters)
}

/// A path with those of the parameters that have a value.
fn with_query<const N: usize>(path: &str, parameters: [(&str, Option<String>); N]) -> String {
    let given = parameters.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let pairs: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encoded(&value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
