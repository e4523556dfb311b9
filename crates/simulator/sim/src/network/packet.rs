//! Packets, kept in a slab and passed by index.
//!
//! What every hop reads stands apart from what only the ends read, so that a hop touches half a cache line of a packet.

use heddle_policy::cflb::Fields;
use heddle_policy::{Shim, Tor};
use heddle_transport::Segment;
use heddle_units::Time;

use crate::five_tuple::{FiveTuple, PortsAndTtl};

/// No packet.
pub(crate) const NIL: u32 = u32::MAX;

/// What a switch does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    /// Part of a connection, on its way to the server.
    Forward,
    /// Part of a connection, on its way back to the client.
    Reverse,
    /// A probe: `tag` is its utilisation, `dst_tor` the ToR that it started from.
    Probe,
}

/// What every hop reads. 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hot {
    /// When it reaches the far end of the link that it is on or waits for.
    pub(crate) arrival: Time,
    /// The packet behind it on the same port.
    pub(crate) next: u32,
    /// Its connection.
    pub(crate) connection: u32,
    /// Hash of its 5-tuple.
    pub(crate) flow_hash: u32,
    /// The receiving host.
    pub(crate) dst_host: u16,
    /// The receiving host's ToR.
    pub(crate) dst_tor: Tor,
    /// The sending host's ToR.
    pub(crate) src_tor: Tor,
    /// Bytes on the wire.
    pub(crate) size: u16,
    /// The scheme's overlay header.
    pub(crate) tag: u16,
    pub(crate) kind: PacketKind,
    /// Whether it opens a connection or a subflow: what a ToR may look into.
    pub(crate) is_handshake: bool,
}

/// What the ends read: a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Body {
    pub(crate) segment: Segment,
    /// Which of the connections that used the same number it belongs to.
    pub(crate) generation: u32,
    /// The sending host.
    pub(crate) from: u16,
    /// Its subflow, from 0.
    pub(crate) path: u8,
}

impl Body {
    /// What its packet to `host` says of addresses and ports.
    pub(crate) fn five_tuple(&self, host: u16) -> FiveTuple {
        FiveTuple { from: self.from, to: host, generation: self.generation, path: self.path }
    }
}

const _: () = assert!(size_of::<Hot>() == 32 && size_of::<Body>() == 64);

/// All packets that exist. Freed places are used again, last freed first.
#[derive(Default)]
pub(crate) struct Packets {
    pub(crate) hot: Vec<Hot>,
    pub(crate) body: Vec<Body>,
    /// MP-HULA's headers of packets between ToRs. Other schemes leave it empty.
    shims: Vec<Option<Shim>>,
    /// Ports and TTLs, for routers that read them. Other schemes leave it empty.
    ports_and_ttl: Vec<PortsAndTtl>,
    free: Vec<u32>,
}

impl Packets {
    #[inline]
    pub(crate) fn add(&mut self, hot: Hot, body: Body) -> u32 {
        if let Some(index) = self.free.pop() {
            self.hot[index as usize] = hot;
            self.body[index as usize] = body;
            return index;
        }
        self.hot.push(hot);
        self.body.push(body);
        (self.hot.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// The shim of a packet that has left its source ToR.
    pub(crate) fn shim(&self, index: u32) -> Option<Shim> {
        self.shims.get(index as usize).copied().flatten()
    }

    /// Exchanges a packet's shim, `before`, for another one or none: it becomes longer or shorter.
    pub(crate) fn exchange_shim(&mut self, index: u32, before: Option<Shim>, after: Option<Shim>) {
        let index = index as usize;
        let bytes = |shim: Option<Shim>| if shim.is_some() { Shim::BYTES as u16 } else { 0 };
        self.hot[index].size = self.hot[index].size - bytes(before) + bytes(after);
        if self.shims.len() < self.hot.len() {
            self.shims.resize(self.hot.len(), None);
        }
        self.shims[index] = after;
    }

    /// Gives a packet its ports and TTL.
    pub(crate) fn set_ports_and_ttl(&mut self, index: u32, header: PortsAndTtl) {
        if self.ports_and_ttl.len() < self.hot.len() {
            self.ports_and_ttl.resize(self.hot.len(), PortsAndTtl::default());
        }
        self.ports_and_ttl[index as usize] = header;
    }

    /// What the next router reads of a packet, if it was given ports and a TTL; the TTL is then one less.
    pub(crate) fn read_fields(&mut self, index: u32) -> Option<Fields> {
        let header = self.ports_and_ttl.get_mut(index as usize)?;
        let tuple = self.body[index as usize].five_tuple(self.hot[index as usize].dst_host);
        let fields = tuple.fields(*header);
        header.ttl = header.ttl.saturating_sub(1);
        Some(fields)
    }

    /// Packets that exist now.
    pub(crate) fn len(&self) -> usize {
        self.hot.len() - self.free.len()
    }
}
