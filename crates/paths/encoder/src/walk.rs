//! Packet traces.

use heddle_policy::Port;
use heddle_policy::cflb::{Addresses, Decision, Fields};

use crate::{Network, PathEncoderError};

/// The forwarding decision of one router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The router, ToRs first.
    pub switch: u32,
    /// The router's name.
    pub name: String,
    /// The TTL of the packet when the router receives it.
    pub ttl: u8,
    /// The router's next hops towards the destination; at its own ToR the host alone.
    pub next_hops: u16,
    /// The next hop that it takes, and the reason.
    pub decision: Decision,
    /// The port that it sends out of.
    pub port: Port,
    /// The node at the far end, hosts first.
    pub next: u32,
    /// Its name.
    pub next_name: String,
}

/// The end of a packet's trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The destination receives it.
    Delivered,
    /// The router after the last step received it with a TTL of 1 or 0 and forwards it no further
    /// (RFC 1812, section 5.3.1).
    TtlExpired,
    /// The router after the last step has no next hop, or the link of the source or of the
    /// destination is down.
    NoRoute,
    /// No host has the destination's address.
    NoSuchHost,
}

/// The trace of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The destination host, if there is one.
    pub to: Option<u32>,
    /// The routers that forward it, in order.
    pub steps: Vec<Step>,
    /// The result.
    pub end: End,
}

impl Network {
    /// Traces a packet from a host as the routers would forward it, each by
    /// [`heddle_policy::cflb::Codec::decide`]: at most 255 steps. `fields` are those of the packet
    /// as sent; a packet to the sender itself passes no router.
    ///
    /// # Errors
    /// [`PathEncoderError::Path`] for a number that is not a host's.
    pub fn walk(&self, from: u32, fields: &Fields) -> Result<Walk, PathEncoderError> {
        let hosts = self.fabric().hosts;
        if from >= hosts {
            return Err(heddle_fabric::PathError::NoSuchHost(from, hosts).into());
        }
        let destination = match fields.addresses {
            Addresses::V4(_, to) => to.into(),
            Addresses::V6(_, to) => to.into(),
        };
        let to = self.hosts_by_address.get(&destination).copied();
        let mut steps = Vec::new();
        let end = match to {
            None => End::NoSuchHost,
            Some(to) if to == from => End::Delivered,
            Some(_) if self.is_cut_off(from) => End::NoRoute,
            Some(to) => self.follow(from, to, fields, &mut steps),
        };
        Ok(Walk { to, steps, end })
    }

    fn follow(&self, from: u32, to: u32, fields: &Fields, steps: &mut Vec<Step>) -> End {
        let (mut switch, mut fields) =
            (u32::from(self.fabric().host_tor[from as usize].0), *fields);
        loop {
            if fields.ttl <= 1 {
                return End::TtlExpired;
            }
            let Some(step) = self.step(switch, to, &fields) else { return End::NoRoute };
            let next = step.next;
            steps.push(step);
            if next == to {
                return End::Delivered;
            }
            (switch, fields.ttl) = (next - self.fabric().hosts, fields.ttl - 1);
        }
    }

    /// The decision of a router for a packet to a host; `None` without a next hop.
    fn step(&self, switch: u32, to: u32, fields: &Fields) -> Option<Step> {
        let (fabric, tor) = (self.fabric(), self.fabric().host_tor[to as usize]);
        let host_port = Port(
            (fabric.host_port[to as usize] - fabric.first_port_of_switch(u32::from(tor.0))) as u16,
        );
        let ports = match u32::from(tor.0) == switch {
            true if self.is_cut_off(to) => &[],
            true => std::slice::from_ref(&host_port),
            false => self.routes().next_hops(switch, tor),
        };
        let next_hops = ports.len() as u16;
        if next_hops == 0 {
            return None;
        }
        let decision = self.codec().decide(switch, fields, next_hops);
        let port = *ports.get(usize::from(decision.next_hop))?;
        let next = fabric.ports[fabric.port_of_switch(switch, port) as usize].to;
        let (name, next_name) = (self.switch_name(switch), self.node_name(next));
        Some(Step { switch, name, ttl: fields.ttl, next_hops, decision, port, next, next_name })
    }
}
