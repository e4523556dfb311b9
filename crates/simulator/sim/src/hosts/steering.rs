//! CFLB's senders: which subflows are placed on a path, and the ports and TTLs of all.
//!
//! A connection is an elephant if it has many bytes to send when a subflow opens (Mahout, Curtis et al., INFOCOM 2011, looks into the
//! socket's buffer too). Its subflow asks the central scheduler for a path, at no cost in time, and takes ports that name it. All
//! others, and all acknowledgements, have the ports that they would have anyway, so that routers hash them.

use heddle_fabric::Path;
use heddle_path_encoder::{Demand, Placement, Placer, turns};
use heddle_policy::cflb::{Codec, Ports};
use heddle_units::Rate;

use super::context::HostContext;
use crate::five_tuple::{FiveTuple, PortsAndTtl};
use crate::random::Random;

/// The TTL of packets that name no path: the default of Linux.
const TTL: u8 = 64;

/// Ports below this are not for clients.
const FIRST_PORT: u16 = 1024;

/// All senders of a run, and the scheduler that they ask.
pub(crate) struct Steering {
    codec: Codec,
    /// Bytes from which on a connection is an elephant.
    elephants: u64,
    placer: Placer,
    /// For unused digits.
    random: Random,
    /// The subflows of each connection.
    connections: Vec<Vec<Subflow>>,
    /// Subflows placed so far.
    placed: u64,
}

/// A subflow that has been opened.
#[derive(Clone)]
struct Subflow {
    /// Its number.
    path: u8,
    header: PortsAndTtl,
    /// Where it was placed, if it was.
    placement: Option<Placement>,
}

impl Steering {
    pub(crate) fn new(codec: Codec, elephants: u64, placer: Placer, random: Random) -> Steering {
        Steering { codec, elephants, placer, random, connections: Vec::new(), placed: 0 }
    }

    /// Ports and TTL of a packet from a client; its subflow is placed with the first one, if the connection has that much to send.
    pub(super) fn data_header(
        &mut self,
        cx: &HostContext,
        id: u32,
        tuple: FiveTuple,
        demand: SendDemand,
    ) -> PortsAndTtl {
        if let Some(subflow) = self.subflow(id, tuple.path) {
            return subflow.header;
        }
        let is_elephant = demand.bytes >= self.elephants;
        let placed = is_elephant.then(|| self.place(cx, id, tuple, demand.rate)).flatten();
        let hashed = PortsAndTtl { ports: tuple.ports(), ttl: TTL };
        let (header, placement) = placed.map_or((hashed, None), |(header, p)| (header, Some(p)));
        let id = id as usize;
        if id >= self.connections.len() {
            self.connections.resize(id + 1, Vec::new());
        }
        self.connections[id].push(Subflow { path: tuple.path, header, placement });
        header
    }

    /// Ports and TTL of the answer to a subflow's packets.
    pub(super) fn ack_header(&self, id: u32, path: u8) -> PortsAndTtl {
        let ports = self.subflow(id, path).map_or(Ports::default(), |subflow| subflow.header.ports);
        let ports = Ports { source: ports.destination, destination: ports.source };
        PortsAndTtl { ports, ttl: TTL }
    }

    /// How many subflows have been placed on paths.
    pub(crate) fn placed(&self) -> u64 {
        self.placed
    }

    /// A connection is over, or its number is used again: its flows leave their links.
    pub(super) fn release(&mut self, id: u32) {
        let Some(subflows) = self.connections.get_mut(id as usize) else { return };
        for placement in subflows.drain(..).filter_map(|subflow| subflow.placement) {
            self.placer.release(&placement);
        }
    }

    fn subflow(&self, id: u32, path: u8) -> Option<&Subflow> {
        self.connections.get(id as usize)?.iter().find(|subflow| subflow.path == path)
    }

    /// A path by the scheduler, and a name of it. `None` if there is no path, or none that has a name: then the subflow is hashed.
    fn place(
        &mut self,
        cx: &HostContext,
        id: u32,
        tuple: FiveTuple,
        rate: Rate,
    ) -> Option<(PortsAndTtl, Placement)> {
        let paths = cx.fabric.paths(cx.routes, tuple.from.into(), tuple.to.into()).ok()?;
        let siblings = self.connections.get(id as usize).into_iter().flatten();
        let avoid: Vec<Path> =
            siblings.filter_map(|s| Some(s.placement.as_ref()?.path.clone())).collect();
        let demand = Demand { avoid: &avoid, rate: Some(rate) };
        let placement = self.placer.place(&paths, &demand);
        let Some(header) = self.encode(&placement.path, tuple) else {
            self.placer.release(&placement);
            return None;
        };
        self.placed += 1;
        Some((header, placement))
    }

    fn encode(&mut self, path: &Path, tuple: FiveTuple) -> Option<PortsAndTtl> {
        let fields = tuple.fields(PortsAndTtl { ports: tuple.ports(), ttl: TTL });
        let is_allowed =
            |ports: Ports| ports.source >= FIRST_PORT && ports.destination >= FIRST_PORT;
        let start = self.random.bits();
        let encoded =
            self.codec.encode_free(&turns(path), &fields, TTL..=2 * TTL, start, |fields| {
                fields.ports.is_some_and(is_allowed)
            });
        let encoded = encoded.ok()?;
        Some(PortsAndTtl { ports: encoded.ports?, ttl: encoded.ttl })
    }
}

/// What a subflow may come to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendDemand {
    /// Bytes that its connection has yet to bring across.
    pub(super) bytes: u64,
    /// Its share of the host's link.
    pub(super) rate: Rate,
}
