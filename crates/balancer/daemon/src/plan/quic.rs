//! The backends that connection ids of QUIC name.

use std::collections::BTreeMap;

use heddle_balancer_maps::abi;
use heddle_wire::quic::ServerIds;

use super::{Plan, keeps_flows};
use crate::config::Config;

/// A key of `quic_servers`, that can be put in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerName {
    /// The service's number.
    pub service: u16,
    /// The config rotation of the connection ids.
    pub rotation: u8,
    /// The server id in them.
    pub server_id: Vec<u8>,
}

impl From<&ServerName> for abi::QuicServer {
    fn from(name: &ServerName) -> abi::QuicServer {
        abi::QuicServer::new(name.service, name.rotation, &name.server_id)
    }
}

impl From<abi::QuicServer> for ServerName {
    fn from(key: abi::QuicServer) -> ServerName {
        ServerName { service: key.vip, rotation: key.rotation, server_id: key.server_id() }
    }
}

/// A service's entry that has its connection ids read.
pub(super) fn choices(ids: ServerIds) -> u8 {
    abi::Vip::quic_choices(ids.rotation(), ids.length())
}

/// The backends by server id. One that was removed keeps its own for as long as it keeps its flows,
/// unless another has it now.
pub(super) fn servers(
    config: &Config,
    plan: &Plan,
    targets: &BTreeMap<u16, abi::Target>,
    before: &BTreeMap<ServerName, u16>,
) -> BTreeMap<ServerName, u16> {
    let wanted = config.services.iter().flat_map(|service| {
        service.backends.iter().filter_map(|backend| {
            let name = ServerName {
                service: plan.services.index(&service.key())?,
                rotation: service.quic?.rotation(),
                server_id: backend.server_id.clone()?,
            };
            Some((name, plan.targets.index(&backend.id)?))
        })
    });
    let removed = |target: &abi::Target| target.state == abi::TargetState::Removed as u8;
    let left = before.iter().filter(|(_, index)| {
        targets.get(index).is_some_and(|target| removed(target) && keeps_flows(target))
    });
    let mut servers: BTreeMap<_, _> = left.map(|(name, index)| (name.clone(), *index)).collect();
    servers.extend(wanted);
    servers
}
