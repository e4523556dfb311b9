//! Packets, kept in a slab and passed by index.
//!
//! Fields that every hop reads are stored apart from those that only hosts read, so that a hop
//! touches half a cache line of a packet.

use heddle_policy::cflb::Fields;
use heddle_policy::{Shim, Tor};
use heddle_transport::{Kind, Segment};
use heddle_units::Time;

use super::port::Priority;
use crate::five_tuple::{FiveTuple, PortsAndTtl};

/// Kind of a packet, as switches handle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    /// Segment from the client to the server.
    Forward,
    /// Segment from the server to the client.
    Reverse,
    /// Probe: `tag` is its utilisation, `dst_tor` the ToR that originated it.
    Probe,
}

/// Fields that every hop reads: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hot {
    /// Arrival time at the far end of the link on which it is or for which it waits.
    pub(crate) arrival: Time,
    /// Next packet on the same port.
    pub(crate) next: u32,
    /// Its connection.
    pub(crate) connection: u32,
    /// Hash of its 5-tuple.
    pub(crate) flow_hash: u32,
    /// The receiving host, by the number of its interface ([`heddle_fabric::Fabric::interfaces`]).
    pub(crate) dst_host: u16,
    /// The receiving host's ToR. Where packets go by an intermediate group, until then one of the
    /// further destinations of [`heddle_fabric::Routes`].
    pub(crate) dst_tor: Tor,
    /// The sending host's ToR.
    pub(crate) src_tor: Tor,
    /// Bytes on the wire.
    pub(crate) size: u16,
    /// The scheme's overlay header.
    pub(crate) tag: u16,
    pub(crate) kind: PacketKind,
    /// True for a handshake of a connection or subflow, which a ToR may inspect.
    pub(crate) is_handshake: bool,
}

/// Fields that hosts read: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Body {
    pub(crate) segment: Segment,
    /// Serial number of its connection, which distinguishes connections with the same reused
    /// number.
    pub(crate) generation: u32,
    /// The sending host, by the number of its interface.
    pub(crate) from: u16,
    /// Its subflow, from 0.
    pub(crate) path: u8,
    /// True if switches send it before others, as part of the first bytes of its flow.
    pub(crate) is_early: bool,
}

impl Body {
    /// 5-tuple of its packet to an interface.
    pub(crate) fn five_tuple(&self, host: u16) -> FiveTuple {
        FiveTuple { from: self.from, to: host, generation: self.generation, path: self.path }
    }
}

const _: () = assert!(size_of::<Hot>() == 32 && size_of::<Body>() == 64);

/// Entropy value of a packet. An acknowledgement has that of the data packet that it answers, and
/// whether that one was marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntropyField {
    pub(crate) value: u32,
    pub(crate) marked: bool,
}

/// Slab of all packets. Free slots are reused, the last freed first.
#[derive(Default)]
pub(crate) struct Packets {
    pub(crate) hot: Vec<Hot>,
    pub(crate) body: Vec<Body>,
    /// MP-HULA shims of packets between ToRs. Empty under other schemes.
    shims: Vec<Option<Shim>>,
    /// Ports and TTLs, for schemes whose routers read them. Empty under other schemes.
    ports_and_ttl: Vec<PortsAndTtl>,
    /// Entropy values, where hosts choose them. Empty otherwise.
    entropy: Vec<EntropyField>,
    free: Vec<u32>,
    /// Packets added less those removed: below 0 in a partition of a run whose packets end in
    /// others.
    alive: i64,
    /// The most of that since [`Packets::begin`].
    peak: i64,
}

impl Packets {
    #[inline]
    pub(crate) fn add(&mut self, hot: Hot, body: Body) -> u32 {
        self.alive += 1;
        self.peak = self.peak.max(self.alive);
        self.place(hot, body)
    }

    /// Adds a packet that another partition has added before.
    #[inline]
    pub(super) fn place(&mut self, hot: Hot, body: Body) -> u32 {
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
        self.alive -= 1;
        self.free.push(index);
    }

    /// Removes a packet that goes on in another partition.
    pub(super) fn hand_over(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Begins to look for the most packets; returns those that are alive.
    pub(crate) fn begin(&mut self) -> i64 {
        self.peak = self.alive;
        self.alive
    }

    /// Packets that are alive, and the most that were.
    pub(crate) fn alive_and_peak(&self) -> (i64, i64) {
        (self.alive, self.peak)
    }

    /// Shim of a packet between ToRs.
    pub(crate) fn shim(&self, index: u32) -> Option<Shim> {
        self.shims.get(index as usize).copied().flatten()
    }

    /// Replaces the shim `before` of a packet by `after`, and adjusts the size of the packet.
    pub(crate) fn exchange_shim(&mut self, index: u32, before: Option<Shim>, after: Option<Shim>) {
        let index = index as usize;
        let bytes = |shim: Option<Shim>| if shim.is_some() { Shim::BYTES as u16 } else { 0 };
        self.hot[index].size = self.hot[index].size - bytes(before) + bytes(after);
        if self.shims.len() < self.hot.len() {
            self.shims.resize(self.hot.len(), None);
        }
        self.shims[index] = after;
    }

    /// Sets the ports and TTL of a packet.
    pub(crate) fn set_ports_and_ttl(&mut self, index: u32, header: PortsAndTtl) {
        if self.ports_and_ttl.len() < self.hot.len() {
            self.ports_and_ttl.resize(self.hot.len(), PortsAndTtl::default());
        }
        self.ports_and_ttl[index as usize] = header;
    }

    /// Sets the entropy value of a packet.
    pub(crate) fn set_entropy(&mut self, index: u32, field: EntropyField) {
        if self.entropy.len() < self.hot.len() {
            self.entropy.resize(self.hot.len(), EntropyField::default());
        }
        self.entropy[index as usize] = field;
    }

    /// Entropy value of a packet, where hosts choose them.
    pub(crate) fn entropy(&self, index: u32) -> EntropyField {
        self.entropy.get(index as usize).copied().unwrap_or_default()
    }

    /// Ports and TTL of a packet, if it was given any.
    pub(crate) fn ports_and_ttl(&self, index: u32) -> Option<PortsAndTtl> {
        self.ports_and_ttl.get(index as usize).copied()
    }

    /// Header fields of a packet at the next router, if it has ports and a TTL. Decrements the TTL.
    pub(crate) fn read_fields(&mut self, index: u32) -> Option<Fields> {
        let header = self.ports_and_ttl.get_mut(index as usize)?;
        let tuple = self.body[index as usize].five_tuple(self.hot[index as usize].dst_host);
        let fields = tuple.fields(*header);
        header.ttl = header.ttl.saturating_sub(1);
        Some(fields)
    }

    /// Cuts a data packet to its header, on its way to a node.
    pub(crate) fn trim(&mut self, index: u32, to: u32) {
        let at_last_hop = to == u32::from(self.hot[index as usize].dst_host);
        let segment = &mut self.body[index as usize].segment;
        let before = segment.wire_bytes();
        (segment.kind, segment.len) = (Kind::Trimmed, 0);
        segment.window = at_last_hop.into();
        // A shim stays.
        self.hot[index as usize].size -= (before - segment.wire_bytes()) as u16;
    }

    /// True for a packet without data: an acknowledgement or a handshake.
    #[inline]
    pub(crate) fn is_control(&self, index: u32) -> bool {
        self.hot[index as usize].kind == PacketKind::Reverse
            || self.body[index as usize].segment.kind != Kind::Data
    }

    /// True for a packet that goes before others at a port.
    #[inline]
    pub(crate) fn goes_first(&self, index: u32, priority: Priority) -> bool {
        match priority {
            Priority::None => false,
            Priority::Control => self.is_control(index),
            Priority::ControlFirst => {
                self.is_control(index) || self.hot[index as usize].kind == PacketKind::Probe
            }
            Priority::FirstBytes => {
                self.is_control(index)
                    || self.hot[index as usize].kind == PacketKind::Probe
                    || self.body[index as usize].is_early
            }
        }
    }

    /// Packets that exist now.
    pub(crate) fn len(&self) -> usize {
        self.hot.len() - self.free.len()
    }
}
