//! A fabric file after every check has passed.

use std::net::IpAddr;

use serde::Serialize;

use super::{CflbNetwork, Fabric};

/// A network whose paths CFLB encodes in header fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FabricFile {
    /// The network; every host reaches every other over the links that are not failed.
    pub fabric: Fabric,
    /// Constants that CFLB's routers and senders share.
    pub cflb: CflbNetwork,
    /// Addresses of each host, in the order of the graph's nodes: one at least, none of them twice.
    pub addresses: Vec<Vec<IpAddr>>,
}
