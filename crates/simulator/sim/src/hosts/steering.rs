//! CFLB senders: placement of subflows on paths, and the ports and TTLs of all packets.
//!
//! A connection is an elephant if it has many bytes to send when a subflow opens (Mahout, Curtis et
//! al., INFOCOM 2011, reads the socket buffer too). The central scheduler places its subflow on a
//! path, without delay, and the subflow takes ports that encode the path. All other subflows and
//! all acknowledgements keep their ordinary ports, so that routers hash them.

use heddle_fabric::{Demand, Path, Placement, Placer, router_choices};
use heddle_policy::cflb::{Codec, Ports};
use heddle_units::Rate;

use super::context::HostContext;
use crate::five_tuple::{FiveTuple, PortsAndTtl};
use crate::random::Random;

/// TTL of packets that encode no path: the default of Linux.
const TTL: u8 = 64;

/// Lowest port for encoded paths: lower ones are reserved.
const FIRST_PORT: u16 = 1024;

/// All senders of a run, and their scheduler.
pub(crate) struct Steering {
    codec: Codec,
    /// Minimum bytes of an elephant.
    elephants: u64,
    placer: Placer,
    /// Source of the unused digits.
    random: Random,
    /// Open subflows of each connection.
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
    /// Placement on a path; `None` if the subflow is hashed.
    placement: Option<Placement>,
}

impl Steering {
    pub(crate) fn new(codec: Codec, elephants: u64, placer: Placer, random: Random) -> Steering {
        Steering { codec, elephants, placer, random, connections: Vec::new(), placed: 0 }
    }

    /// Ports and TTL of a packet from a client. The first packet places its subflow, if the
    /// connection is an elephant.
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

    /// Ports and TTL of a subflow's acknowledgements.
    pub(super) fn ack_header(&self, id: u32, path: u8) -> PortsAndTtl {
        let ports = self.subflow(id, path).map_or(Ports::default(), |subflow| subflow.header.ports);
        let ports = Ports { source: ports.destination, destination: ports.source };
        PortsAndTtl { ports, ttl: TTL }
    }

    /// Subflows placed on paths.
    pub(crate) fn placed(&self) -> u64 {
        self.placed
    }

    /// Releases the placements of a connection that has closed.
    pub(super) fn release(&mut self, id: u32) {
        let Some(subflows) = self.connections.get_mut(id as usize) else { return };
        for placement in subflows.drain(..).filter_map(|subflow| subflow.placement) {
            self.placer.release(&placement);
        }
    }

    fn subflow(&self, id: u32, path: u8) -> Option<&Subflow> {
        self.connections.get(id as usize)?.iter().find(|subflow| subflow.path == path)
    }

    /// Places a subflow on a path and encodes it. `None` if there is no path or it has no encoding;
    /// the subflow is hashed then.
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
        let encoded = self.codec.encode_free(
            &router_choices(path),
            &fields,
            TTL..=2 * TTL,
            start,
            |fields| fields.ports.is_some_and(is_allowed),
        );
        let encoded = encoded.ok()?;
        Some(PortsAndTtl { ports: encoded.ports?, ttl: encoded.ttl })
    }
}

/// Demand of a subflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendDemand {
    /// Bytes of its connection that are not acknowledged.
    pub(super) bytes: u64,
    /// Its share of the host's link.
    pub(super) rate: Rate,
}
