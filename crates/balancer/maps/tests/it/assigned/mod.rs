//! Balancers that assign keys, with SYNs and joins for them.

use std::net::IpAddr;

use etherparse::{IpNumber, TcpHeader};
use heddle_balancer_maps::abi::{
    AssignedKey, Counter, Forwarding, MAGLEV_SIZE, MptcpMode, RING_SIZE, Settings, Target,
    TargetState, Vip, VipKey, VipKind,
};
use heddle_balancer_maps::{Balancer, Clock, Run, Sizes};
use heddle_wire::{Key, Token, Version};

use super::frames::{Family, Ip, Link, OUR_MAC, address, client, service};

pub const KEY_A: [u8; 8] = *b"KEY-OF-A";
pub const PORT: u16 = 443;
pub const STEERING_PORT: u16 = 6083;
pub const BACKENDS: u16 = 5;
pub const NOW: u32 = 1000;
pub const SYN_TIMEOUT: u32 = 100;
const INTERFACE: u32 = 7;

pub fn settings() -> Settings {
    Settings {
        seed: [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210],
        maglev_seed: 7,
        steering_keys: [[0x5a5a, 1], [0; 2]],
        steering_port: STEERING_PORT.to_be(),
        epoch: 1,
        syn_timeout: SYN_TIMEOUT,
        flow_timeout: 10_000,
        closing_timeout: 50,
        udp_timeout: 100,
        provisional_timeout: 100,
        token_timeout: 10_000,
        refresh: 1000,
        now: NOW,
        ..Settings::default()
    }
}

fn target(address: IpAddr, id: u32, forwarding: Forwarding) -> Target {
    Target {
        address: address.into(),
        id,
        ifindex: INTERFACE,
        mac: backend_mac(id),
        source_mac: OUR_MAC,
        mtu: 1500,
        state: TargetState::Up as u8,
        forwarding: forwarding as u8,
        ..Target::default()
    }
}

pub fn backend_mac(id: u32) -> [u8; 6] {
    [2, 0, 0, 0, 1, id as u8]
}

/// The address that other balancers send to for balancer `number`.
pub fn balancer_address(number: u16) -> IpAddr {
    address(Family::V4, 200 + number as u8)
}

/// The target index of another balancer.
pub const fn peer(number: u16) -> u32 {
    (BACKENDS + 1 + number) as u32
}

/// Balancer `own` of `all`, with one service in both families. Slot n of the ring is balancer n
/// modulo `all`'s.
pub fn balancer(own: u16, all: u16) -> Balancer {
    let sizes = Sizes { flows: 100_000, tokens: 100_000, ..Sizes::small() };
    let mut balancer = Balancer::load(&sizes, Clock::Settings).unwrap();
    let maps = &mut balancer.maps;
    let own4 = balancer_address(own).into();
    maps.settings.set(&Settings { own4, peers: u8::from(all > 1), ..settings() }).unwrap();
    let key = |address: IpAddr, port: u16, protocol| {
        let (address, port) = (address.into(), port.to_be());
        VipKey { address, port, protocol, ..VipKey::default() }
    };
    let vip = Vip {
        kind: VipKind::Service as u8,
        mode: MptcpMode::Assign as u8,
        id: 1,
        ..Vip::default()
    };
    for family in [Family::V4, Family::V6] {
        maps.vips.insert(&key(service(family), PORT, 6), &vip).unwrap();
    }
    let steering = Vip { kind: VipKind::Steering as u8, ..Vip::default() };
    maps.vips.insert(&key(balancer_address(own), STEERING_PORT, 17), &steering).unwrap();
    for index in 1..=u32::from(BACKENDS) {
        let backend = target(address(Family::V4, 100 + index as u8), index, Forwarding::L2);
        maps.targets.set(index, &backend).unwrap();
    }
    for number in (0..all).filter(|&number| number != own) {
        let (index, address) = (peer(number), balancer_address(number));
        maps.targets.set(index, &target(address, index, Forwarding::Steering)).unwrap();
        maps.peers.insert(&address.into(), &index).unwrap();
    }
    let table: Vec<u32> = (0..MAGLEV_SIZE).map(|slot| 1 + slot % u32::from(BACKENDS)).collect();
    maps.maglev.write(0, &table).unwrap();
    set_ring(&mut balancer, |slot| (slot % u32::from(all)) as u16, own);
    balancer
}

/// Gives slots of the ring to balancers.
pub fn set_ring(balancer: &mut Balancer, owner: impl Fn(u32) -> u16, own: u16) {
    let slot = |slot| if owner(slot) == own { 0 } else { peer(owner(slot)) };
    let ring: Vec<u32> = (0..RING_SIZE).map(slot).collect();
    balancer.maps.ring.write(0, &ring).unwrap();
}

pub fn count(balancer: &Balancer, counter: Counter) -> u64 {
    balancer.maps.counters.get(1, counter).unwrap().packets
}

pub fn run(balancer: &Balancer, packet: &[u8]) -> Run {
    balancer
        .program
        .run(&Link { destination: OUR_MAC, source: [9; 6], tag: None }.frame(packet), 1)
        .unwrap()
}

/// MP_CAPABLE of version 0 in a SYN, with the sender's key.
pub fn capable() -> Vec<u8> {
    [&[30, 12, 0x00, 0x81][..], &KEY_A].concat()
}

/// With the receiver's as well.
pub fn capable_with(key: [u8; 8]) -> Vec<u8> {
    [&[30, 20, 0x00, 0x81][..], &KEY_A, &key].concat()
}

/// A segment's flags.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flags {
    Syn,
    Ack,
    Fin,
}

/// A client's segment to the service, on its way.
pub struct Segment<'a> {
    pub family: Family,
    pub port: u16,
    pub flags: Flags,
    /// In whole words.
    pub options: &'a [u8],
    pub payload: &'a [u8],
    /// IPv6 destination options, of eight bytes.
    pub extension: bool,
}

impl Segment<'_> {
    pub fn packet(&self) -> Vec<u8> {
        let mut tcp = TcpHeader::new(self.port, PORT, 0x0102_0304, 64240);
        tcp.syn = self.flags == Flags::Syn;
        tcp.ack = self.flags != Flags::Syn;
        tcp.fin = self.flags == Flags::Fin;
        tcp.set_options_raw(self.options).unwrap();
        let (source, destination) = (client(self.family), service(self.family));
        tcp.checksum = match (source, destination) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                tcp.calc_checksum_ipv4_raw(from.octets(), to.octets(), self.payload).unwrap()
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                tcp.calc_checksum_ipv6_raw(from.octets(), to.octets(), self.payload).unwrap()
            }
            _ => panic!("one family"),
        };
        let segment = [tcp.to_bytes().to_vec(), self.payload.to_vec()].concat();
        let ip = |protocol| Ip { source, destination, protocol, class: 0, label: 0x54321 };
        if !self.extension {
            return ip(IpNumber::TCP).packet(&segment);
        }
        let padding = [6, 0, 1, 4, 0, 0, 0, 0];
        ip(IpNumber::IPV6_DESTINATION_OPTIONS).packet(&[&padding[..], &segment].concat())
    }
}

pub fn segment(port: u16, flags: Flags, options: &[u8]) -> Vec<u8> {
    Segment { family: Family::V4, port, flags, options, payload: &[], extension: false }.packet()
}

/// The SYN of a connection that wants MPTCP.
pub fn syn(port: u16) -> Vec<u8> {
    segment(port, Flags::Syn, &capable())
}

/// The receiver's key in a processed [`syn`].
pub fn key_in(run: &Run) -> [u8; 8] {
    run.data[14 + 20 + 20 + 12..][..8].try_into().unwrap()
}

pub fn token(key: [u8; 8]) -> u32 {
    let Token(token) = Version::V0.token(Key(key));
    token
}

/// The SYN of another subflow of a connection.
pub fn join(port: u16, token: u32) -> Vec<u8> {
    let option = [&[30, 12, 0x10, 1][..], &token.to_be_bytes(), &[9; 4]].concat();
    segment(port, Flags::Syn, &option)
}

/// A key made ahead, whose token is in a slot that is `wanted`.
pub fn ready(wanted: impl Fn(u32) -> bool) -> AssignedKey {
    let keys = (0_u64..).map(u64::to_be_bytes);
    let key = keys.into_iter().find(|&key| wanted(token(key) >> 20)).unwrap();
    AssignedKey { key, token: token(key), seen: 0 }
}
