//! Traces of a ToR: handshakes as input, shims as output. Times in nanoseconds; an idle subflow is
//! removed after 1 ms.

mod collisions;
mod endings;
mod handshakes;
mod properties;

use heddle_wire::{
    Key, Shim, Subflow, Token, Version,
    mptcp::{CapableFlags, CapableKeys, MpCapable, MpJoin, MptcpOption},
};

use super::*;
use crate::Ingress;
use heddle_units::Time;

const SALT: u32 = 5;
const IDLE: Nanos = 1_000_000;
const A: Key = Key([1; 8]);
const B: Key = Key([2; 8]);
/// Flows of the further subflows that fill a ToR's table.
const CROWD: [u32; 2] = [991, 992];
const BOTH_ENDS: [End; 2] = [End::Client, End::Server];

/// Ends of a connection. The client opens it: its key is key A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Client,
    Server,
}

/// A packet of the 5-tuple with hash `flow`.
#[derive(Clone, Copy, Debug)]
struct Packet {
    from: End,
    flow: u32,
    flags: TcpFlags,
    option: Option<MptcpOption>,
}

fn plain(from: End, flow: u32, flags: TcpFlags) -> Packet {
    Packet { from, flow, flags, option: None }
}

/// A connection over `flow`.
#[derive(Clone, Copy, Debug)]
struct Connection {
    version: Version,
    a: Key,
    b: Key,
    flow: u32,
}

impl Connection {
    const fn new(version: Version, flow: u32) -> Connection {
        Connection { version, a: A, b: B, flow }
    }

    /// Connection number `i`, with distinct keys and flow.
    fn other(i: u32) -> Connection {
        let key = |j| Key((1 << 32 | u64::from(2 * i + j)).to_be_bytes());
        Connection { version: Version::V1, a: key(0), b: key(1), flow: 1000 + i }
    }

    fn tokens(&self) -> Tokens {
        Tokens::of(self.version, self.a, self.b)
    }

    fn shim(&self, number: u8) -> Option<Shim> {
        Some(Shim { id: self.tokens().id(), subflow: Subflow::new(number).unwrap() })
    }

    fn capable(&self, from: End, flags: TcpFlags, keys: CapableKeys) -> Packet {
        let capable = MpCapable { version: self.version, flags: CapableFlags::HMAC, keys };
        Packet { from, flow: self.flow, flags, option: Some(MptcpOption::Capable(capable)) }
    }

    fn syn(&self) -> Packet {
        let keys = match self.version {
            Version::V0 => CapableKeys::Sender(self.a),
            Version::V1 => CapableKeys::None,
        };
        self.capable(End::Client, TcpFlags::SYN, keys)
    }

    fn syn_ack(&self) -> Packet {
        self.capable(End::Server, TcpFlags::SYN | TcpFlags::ACK, CapableKeys::Sender(self.b))
    }

    fn ack(&self) -> Packet {
        let keys = CapableKeys::Both { sender: self.a, receiver: self.b };
        self.capable(End::Client, TcpFlags::ACK, keys)
    }

    /// The first data of version 1. Version 0 has the keys in its third packet only, which this
    /// repeats.
    fn data(&self) -> Packet {
        let (sender, receiver) = (self.a, self.b);
        let keys = CapableKeys::WithData { sender, receiver, len: 100, checksum: None };
        match self.version {
            Version::V0 => self.ack(),
            Version::V1 => self.capable(End::Client, TcpFlags::ACK, keys),
        }
    }

    fn handshake(&self) -> [Packet; 3] {
        [self.syn(), self.syn_ack(), self.ack()]
    }

    /// The SYN of a further subflow over `flow`: it carries the other end's token.
    fn join(&self, from: End, flow: u32) -> Packet {
        let token = match from {
            End::Client => self.tokens().b,
            End::Server => self.tokens().a,
        };
        join_by(from, flow, token)
    }

    /// The two packets that follow the join.
    fn join_replies(&self, from: End, flow: u32) -> [Packet; 2] {
        let to = if from == End::Client { End::Server } else { End::Client };
        let answer = MpJoin::SynAck { backup: false, address: 2, hmac: 7, nonce: 2 };
        let ack = MpJoin::Ack { hmac: [7; 20] };
        let packet =
            |from, flags, join| Packet { from, flow, flags, option: Some(MptcpOption::Join(join)) };
        [packet(to, TcpFlags::SYN | TcpFlags::ACK, answer), packet(from, TcpFlags::ACK, ack)]
    }
}

fn join_by(from: End, flow: u32, token: Token) -> Packet {
    let join = MpJoin::Syn { backup: false, address: 2, token, nonce: 1 };
    Packet { from, flow, flags: TcpFlags::SYN, option: Some(MptcpOption::Join(join)) }
}

fn config(association_slots: u32) -> MptcpTablesConfig {
    let association_idle = Time::nanos(IDLE);
    MptcpTablesConfig { association_slots, association_idle, ..MptcpTablesConfig::default() }
}

/// The ToR of one of the ends.
struct Rig {
    end: End,
    now: Nanos,
    association: Association,
}

impl Rig {
    fn new(end: End, slots: u32) -> Rig {
        Rig { end, now: 0, association: Association::new(&config(slots), SALT) }
    }

    /// A ToR with 4 slots, three of them used by another connection.
    fn crowded(end: End) -> Rig {
        let (mut rig, crowd) = (Rig::new(end, 4), Connection::other(0));
        rig.observe(crowd.ack());
        rig.observe_all(&CROWD.map(|flow| crowd.join(End::Client, flow)));
        rig
    }

    /// A ToR with an open connection.
    fn with(end: End, connection: &Connection) -> Rig {
        let mut rig = Rig::new(end, 64);
        rig.observe_all(&connection.handshake());
        rig
    }

    fn observe(&mut self, packet: Packet) {
        let mut area = [0; 40];
        let len = packet.option.map_or(0, |option| option.emit(&mut area).unwrap());
        let ingress = if packet.from == self.end { Ingress::Host } else { Ingress::Fabric };
        let (out_hash, flags) = (packet.flow, packet.flags);
        let seen = Handshake { out_hash, ingress, flags, options: &area[..len] };
        self.association.observe(self.now, &seen);
    }

    fn observe_all(&mut self, packets: &[Packet]) {
        for &packet in packets {
            self.observe(packet);
        }
    }

    /// The shim that a packet of `flow` leaves with.
    fn shim(&mut self, flow: u32) -> Option<Shim> {
        self.association.shim(self.now, flow)
    }

    fn counters(&self) -> AssociationCounters {
        self.association.counters()
    }
}

#[test]
fn the_papers_tables_take_21_mb() {
    assert_eq!(paper_bytes(100_000, 6), 21_000_000);
}

#[test]
fn these_tables_take_what_the_paper_counts_and_7_bytes_for_what_it_leaves_out() {
    let config = config(1 << 10);
    let held = Association::new(&config, 1).state_bytes() as u64;
    // Association: no ID beside the tokens (-8), last-seen time (+6), FINs (+1). Tokens: two slots
    // instead of one, without a fingerprint, so 8 instead of 6. Keys: a time (+6).
    assert_eq!(held, (paper_bytes(1 << 10, 1) / 35) * (35 - 8 + 6 + 1 + 2 + 6));
}
