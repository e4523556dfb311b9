//! The parameters of requests in the URL's query.

use heddle_balancer_api::{Scope, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of a request for connections.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ConnectionsQuery {
    /// Of this service.
    pub(super) service: Option<String>,
    /// To this backend.
    pub(super) backend: Option<String>,
    /// From this address.
    pub(super) client: Option<std::net::IpAddr>,
    /// Of the MPTCP connection with this token, in hexadecimal.
    #[serde(with = "token")]
    #[schemars(with = "Option<String>")]
    pub(super) token: Option<u32>,
    /// With a packet in the last so many seconds.
    pub(super) active: Option<u32>,
    /// The most that are answered. Default: 50.
    pub(super) limit: Option<u32>,
}

/// The parameter of a request for a change.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ScopeQuery {
    /// Balancers that the change is made on. Default: balancer, the one that is asked.
    pub(super) scope: Scope,
}
