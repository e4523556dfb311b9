//! Responses, from the results of [`heddle_path_encoder`].

use std::net::IpAddr;

use heddle_fabric::Path;
use heddle_path_encoder::{
    Affected, Connection, ConnectionId, End, Fit, LinkImpact, Network, Request, Step, Subflow,
    SubflowId,
};
use heddle_policy::cflb::{Addresses, Fields, Reason};

use crate::v1;

/// A node's name.
pub fn name(network: &Network, node: u32) -> String {
    network.fabric().node(node).name.clone()
}

/// A path with its ends.
pub fn path(network: &Network, from: u32, to: u32, path: &Path) -> v1::Path {
    let mut nodes = vec![name(network, from)];
    nodes.extend(network.path_names(path, to));
    nodes.push(name(network, to));
    v1::Path { nodes, next_hops: path.hops.iter().map(|hop| hop.next_hop.into()).collect() }
}

/// Header fields.
pub fn header(fields: &Fields) -> v1::Header {
    let (source, destination): (IpAddr, IpAddr) = match fields.addresses {
        Addresses::V4(source, destination) => (source.into(), destination.into()),
        Addresses::V6(source, destination) => (source.into(), destination.into()),
    };
    let ports = fields.ports.unwrap_or_default();
    v1::Header {
        source: source.to_string(),
        destination: destination.to_string(),
        protocol: fields.protocol.into(),
        source_port: ports.source.into(),
        destination_port: ports.destination.into(),
        flow_label: fields.flow_label,
        ttl: fields.ttl.into(),
    }
}

/// A connection at a time.
pub fn connection(
    network: &Network,
    id: ConnectionId,
    connection: &Connection,
    now: u64,
) -> v1::Connection {
    let subflows = connection.subflows.iter();
    let subflows = subflows.map(|(id, one)| subflow(network, connection, *id, one));
    v1::Connection {
        connection: id.0,
        subflows: subflows.collect(),
        lease_seconds: lease_seconds(connection.expires, now),
    }
}

/// The summary of a connection.
pub fn summary(
    network: &Network,
    id: ConnectionId,
    connection: &Connection,
    now: u64,
) -> v1::ConnectionSummary {
    let Request { pair, protocol, rate, .. } = connection.request;
    v1::ConnectionSummary {
        connection: id.0,
        from: name(network, pair.from),
        to: name(network, pair.to),
        protocol: protocol.into(),
        subflows: connection.subflows.len() as u32,
        rate_bps: rate.unwrap_or_default().0,
        taken_ports: connection.taken.len() as u32,
        lease_seconds: lease_seconds(connection.expires, now),
    }
}

/// Seconds until a lease ends.
pub fn lease_seconds(expires: u64, now: u64) -> u32 {
    u32::try_from(expires.saturating_sub(now)).unwrap_or(u32::MAX)
}

/// One subflow of a connection.
pub fn subflow(network: &Network, all: &Connection, id: SubflowId, one: &Subflow) -> v1::Subflow {
    let links = one.placement.links();
    let others = all.subflows.iter().filter(|(other, _)| **other != id);
    let shares =
        |(_, other): (_, &Subflow)| other.placement.links().iter().any(|link| links.contains(link));
    let oversubscribed_bps = match one.placement.fit {
        Fit::Fits => 0,
        Fit::Oversubscribed { by } => by.0,
    };
    let pair = all.request.pair;
    v1::Subflow {
        subflow: id.0,
        header: Some(header(&one.fields)),
        path: Some(path(network, pair.from, pair.to, &one.placement.path)),
        disjoint: !others.into_iter().any(shares),
        oversubscribed_bps,
        link_impact: link_impact(all.link_impact(network, id)).into(),
    }
}

/// A router's decision.
pub fn hop(step: Step) -> v1::Hop {
    let reason = match step.decision.reason {
        Reason::Alone => v1::Reason::SingleNextHop,
        Reason::Controlled { .. } => v1::Reason::Controlled,
        Reason::DigitTooHigh { .. } => v1::Reason::DigitTooHigh,
        Reason::NoSelector => v1::Reason::NoSelector,
        Reason::NoField => v1::Reason::NoField,
    };
    v1::Hop {
        router: step.name,
        ttl: step.ttl.into(),
        to: step.next_name,
        next_hop: step.decision.next_hop.into(),
        next_hops: step.next_hops.into(),
        reason: reason.into(),
    }
}

/// The outcome of a packet.
pub fn outcome(end: End) -> v1::Outcome {
    match end {
        End::Delivered => v1::Outcome::Delivered,
        End::TtlExpired => v1::Outcome::TtlExpired,
        End::NoRoute | End::NoSuchHost => v1::Outcome::NoRoute,
    }
}

/// A subflow whose packets do not take its path.
pub fn affected(affected: Affected) -> v1::AffectedSubflow {
    v1::AffectedSubflow {
        connection: affected.connection.0,
        subflow: affected.subflow.0,
        link_impact: link_impact(Some(affected.impact)).into(),
    }
}

/// The impact of link changes on a subflow.
fn link_impact(impact: Option<LinkImpact>) -> v1::LinkImpact {
    match impact {
        Some(LinkImpact::LinkDown { .. }) => v1::LinkImpact::LinkDown,
        Some(LinkImpact::Rerouted) => v1::LinkImpact::Rerouted,
        None => v1::LinkImpact::None,
    }
}
