//! The backends' programs that translate assigned keys, on frames of MPTCP versions 0 and 1: what
//! each end must see follows from `heddle_wire`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::frames::{FAMILIES, Family, Ip, LINKS, client, service};
use etherparse::{IpNumber, TcpHeader};
use heddle_balancer_maps::abi::TranslateCounter;
use heddle_balancer_maps::{Action, Link, Room, Translate};
use heddle_bpf_loader::TcDirection;
use heddle_testing::{Need, skip_without};
use heddle_wire::key::add_addr_hmac;
use heddle_wire::{Key, Version};

const ASSIGNED: Key = Key(*b"ASSIGNED");
const KERNEL: Key = Key(*b"kernel's");
const CLIENT: Key = Key(*b"client's");
const NONCES: [u32; 2] = [0x0102_0304, 0xf1f2_f3f4];
const VERSIONS: [Version; 2] = [Version::V0, Version::V1];
/// SACK permitted, timestamps, window scale, MSS.
const USUAL: [u8; 20] = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flags {
    Syn,
    SynAck,
    Ack,
}

/// A backend, and the connections to it from one client.
struct Backend {
    translate: Translate,
    family: Family,
}

/// A packet of the client to the backend, or the other way, with its checksum.
fn frame(family: Family, side: TcDirection, port: u16, flags: Flags, options: &[u8]) -> Vec<u8> {
    let (mut from, mut to) = ((client(family), port), (service(family), 443));
    if side == TcDirection::Egress {
        (from, to) = (to, from);
    }
    let padding = options.len().next_multiple_of(4) - options.len();
    let mut tcp = TcpHeader::new(from.1, to.1, 1, 1000);
    tcp.syn = flags != Flags::Ack;
    tcp.ack = flags != Flags::Syn;
    tcp.set_options_raw(&[options, &vec![1; padding]].concat()).unwrap();
    let payload = b"data";
    tcp.checksum = checksum(&tcp, from.0, to.0, payload);
    let segment = [tcp.to_bytes().to_vec(), payload.to_vec()].concat();
    let ip = Ip { source: from.0, destination: to.0, protocol: IpNumber::TCP, class: 0, label: 1 };
    LINKS[0].frame(&ip.packet(&segment))
}

fn checksum(tcp: &TcpHeader, from: IpAddr, to: IpAddr, payload: &[u8]) -> u16 {
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            tcp.calc_checksum_ipv4_raw(from.octets(), to.octets(), payload).unwrap()
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            tcp.calc_checksum_ipv6_raw(from.octets(), to.octets(), payload).unwrap()
        }
        _ => panic!("one family"),
    }
}

impl Backend {
    fn new(family: Family) -> Self {
        let room = Room { connections: 64, subflows: 64, openings: 64 };
        Self { translate: Translate::load(Link::Ethernet, &room).unwrap(), family }
    }

    /// A packet with these options must be translated to one with those, and nothing else may
    /// change.
    #[track_caller]
    fn sees(&self, side: TcDirection, port: u16, flags: Flags, options: &[u8], becomes: &[u8]) {
        for (before, behind) in [(&[][..], &[][..]), (&[1], &[]), (&[1, 1], &[1, 1])] {
            let with = |option: &[u8]| [before, option, behind].concat();
            if with(options).len() > 40 {
                continue;
            }
            let packet = frame(self.family, side, port, flags, &with(options));
            let run = self.translate.run(side, &packet, 1).unwrap();
            let expected = frame(self.family, side, port, flags, &with(becomes));
            assert_eq!((run.action, run.data), (Action::Pass, expected), "{becomes:x?}");
        }
    }

    #[track_caller]
    fn takes(&self, port: u16, flags: Flags, options: &[u8], becomes: &[u8]) {
        self.sees(TcDirection::Ingress, port, flags, options, becomes);
    }

    #[track_caller]
    fn gives(&self, port: u16, flags: Flags, options: &[u8], becomes: &[u8]) {
        self.sees(TcDirection::Egress, port, flags, options, becomes);
    }

    #[track_caller]
    fn leaves(&self, side: TcDirection, port: u16, flags: Flags, options: &[u8]) {
        self.sees(side, port, flags, options, options);
    }

    /// The handshake of a connection.
    #[track_caller]
    fn open(&self, version: Version, port: u16) {
        self.takes(port, Flags::Syn, &syn(version, ASSIGNED), &taken_out(version));
        self.gives(port, Flags::SynAck, &syn_ack(version, KERNEL), &syn_ack(version, ASSIGNED));
        self.takes(port, Flags::Ack, &both(version, ASSIGNED), &both(version, KERNEL));
    }

    fn count(&self, event: TranslateCounter) -> u64 {
        self.translate.tables.count(event).unwrap().packets
    }
}

fn number(version: Version) -> u8 {
    u8::from(version == Version::V1)
}

/// A SYN with the balancer's key.
fn syn(version: Version, key: Key) -> Vec<u8> {
    match version {
        Version::V0 => [&[30, 20, 0x00, 0x81][..], &CLIENT.0, &key.0].concat(),
        Version::V1 => [&[30, 12, 0x01, 0x01][..], &key.0].concat(),
    }
}

/// The same for the kernel.
fn taken_out(version: Version) -> Vec<u8> {
    match version {
        Version::V0 => [&[30, 12, 0x00, 0x81][..], &CLIENT.0, &[1; 8]].concat(),
        Version::V1 => [&[30, 4, 0x01, 0x01][..], &[1; 8]].concat(),
    }
}

fn syn_ack(version: Version, key: Key) -> Vec<u8> {
    [&[30, 12, number(version), 0x01][..], &key.0].concat()
}

fn both(version: Version, key: Key) -> Vec<u8> {
    [&[30, 20, number(version), 0x01][..], &CLIENT.0, &key.0].concat()
}

fn join_syn(version: Version, key: Key) -> Vec<u8> {
    let token = version.token(key).0;
    [&[30, 12, 0x10, 1][..], &token.to_be_bytes(), &NONCES[0].to_be_bytes()].concat()
}

fn join_syn_ack(version: Version, key: Key) -> Vec<u8> {
    let hmac = version.join_hmac(key, CLIENT, NONCES[1], NONCES[0]).syn_ack();
    [&[30, 16, 0x10, 1][..], &hmac.to_be_bytes(), &NONCES[1].to_be_bytes()].concat()
}

fn join_ack(version: Version, key: Key) -> Vec<u8> {
    let hmac = version.join_hmac(CLIENT, key, NONCES[0], NONCES[1]).ack();
    [&[30, 24, 0x10, 0][..], &hmac].concat()
}

/// A DSS whose mapping starts `offset` bytes behind the start that follows from `key`; in 64 or 32
/// bits, with a checksum.
fn dss(version: Version, key: Key, offset: u64, whole: bool, checksum: bool) -> Vec<u8> {
    let start = version.initial_data_seq(key).wrapping_add(offset);
    let (subflow, length, data) = (7_u32, 1400_u16, 0x1234_u16);
    let mut option = vec![30, 0, 0x20, 0x05 | if whole { 0x08 } else { 0 }, 9, 9, 9, 9];
    match whole {
        true => option.extend(start.to_be_bytes()),
        false => option.extend((start as u32).to_be_bytes()),
    }
    option.extend([&subflow.to_be_bytes()[..], &length.to_be_bytes()].concat());
    if checksum {
        option.extend(dss_checksum(start, subflow, length, data).to_be_bytes());
    }
    option[1] = option.len() as u8;
    option
}

/// The checksum of RFC 8684, section 3.3.1, over data whose own sum is `data`.
fn dss_checksum(start: u64, subflow: u32, length: u16, data: u16) -> u16 {
    let words = [start.to_be_bytes().to_vec(), subflow.to_be_bytes().to_vec()].concat();
    let words = words.as_chunks::<2>().0.iter().map(|word| u32::from(u16::from_be_bytes(*word)));
    let mut sum: u32 = words.sum::<u32>() + u32::from(length) + u32::from(data);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// A DSS that acknowledges `offset` bytes behind the server's start.
fn data_ack(version: Version, key: Key, offset: u64, whole: bool) -> Vec<u8> {
    let start = version.initial_data_seq(key).wrapping_add(offset);
    match whole {
        true => [&[30, 12, 0x20, 0x03][..], &start.to_be_bytes()].concat(),
        false => [&[30, 8, 0x20, 0x01][..], &(start as u32).to_be_bytes()].concat(),
    }
}

fn for_all(test: impl Fn(&Backend, Version)) {
    if skip_without(Need::Root) {
        return;
    }
    for family in FAMILIES {
        VERSIONS.into_iter().for_each(|version| test(&Backend::new(family), version));
    }
}

#[test]
fn each_end_sees_its_own_key_and_joins() {
    for_all(|backend, version| {
        backend.open(version, 1);
        // What comes again is translated as before.
        backend.gives(1, Flags::SynAck, &syn_ack(version, KERNEL), &syn_ack(version, ASSIGNED));
        backend.takes(1, Flags::Ack, &both(version, ASSIGNED), &both(version, KERNEL));
        for _ in 0..2 {
            let [for_client, for_kernel] = [ASSIGNED, KERNEL].map(|key| join_syn(version, key));
            backend.takes(2, Flags::Syn, &for_client, &for_kernel);
            let [for_client, for_kernel] = [ASSIGNED, KERNEL].map(|key| join_syn_ack(version, key));
            backend.gives(2, Flags::SynAck, &for_kernel, &for_client);
        }
        for _ in 0..2 {
            let [for_client, for_kernel] = [ASSIGNED, KERNEL].map(|key| join_ack(version, key));
            backend.takes(2, Flags::Ack, &for_client, &for_kernel);
        }
        assert_eq!(backend.count(TranslateCounter::Opened), 1);
        assert_eq!(backend.count(TranslateCounter::Joined), 1);
        let entries = backend.translate.tables.entries().unwrap();
        assert_eq!((entries.connections, entries.subflows, entries.openings), (1, 2, 0));
    });
}

/// The kernel opens a subflow to an address that the client has announced: the client answers by
/// the assigned key, the kernel by its own.
#[test]
fn joins_that_the_server_opens_are_translated() {
    for_all(|backend, version| {
        backend.open(version, 1);
        let token = version.token(CLIENT).0.to_be_bytes();
        let syn = [&[30, 12, 0x10, 1][..], &token, &NONCES[0].to_be_bytes()].concat();
        let syn_ack = |key| {
            let hmac = version.join_hmac(CLIENT, key, NONCES[1], NONCES[0]).syn_ack();
            [&[30, 16, 0x10, 1][..], &hmac.to_be_bytes(), &NONCES[1].to_be_bytes()].concat()
        };
        let ack = |key| {
            let hmac = version.join_hmac(key, CLIENT, NONCES[0], NONCES[1]).ack();
            [&[30, 24, 0x10, 0][..], &hmac].concat()
        };
        backend.leaves(TcDirection::Egress, 3, Flags::Syn, &syn);
        let mut forged = syn_ack(ASSIGNED);
        forged[4] ^= 1;
        backend.leaves(TcDirection::Ingress, 3, Flags::SynAck, &forged);
        backend.leaves(TcDirection::Ingress, 3, Flags::SynAck, &syn_ack(KERNEL));
        assert_eq!(backend.count(TranslateCounter::ServerJoined), 0);
        // What comes again is translated as before.
        for _ in 0..2 {
            backend.takes(3, Flags::SynAck, &syn_ack(ASSIGNED), &syn_ack(KERNEL));
            backend.gives(3, Flags::Ack, &ack(KERNEL), &ack(ASSIGNED));
        }
        let data = [KERNEL, ASSIGNED].map(|key| dss(version, key, 3, true, false));
        backend.gives(3, Flags::Ack, &data[0], &data[1]);
        assert_eq!(backend.count(TranslateCounter::ServerJoined), 1);
        // A join of a connection that is not translated.
        let other = [&[30, 12, 0x10, 1][..], &[7; 4], &NONCES[0].to_be_bytes()].concat();
        backend.leaves(TcDirection::Egress, 4, Flags::Syn, &other);
        backend.leaves(TcDirection::Ingress, 4, Flags::SynAck, &syn_ack(ASSIGNED));
        backend.leaves(TcDirection::Egress, 4, Flags::Ack, &ack(KERNEL));
    });
}

/// In version 1 the first data may come with both keys: their length, and a checksum.
#[test]
fn keys_with_data_are_translated() {
    for_all(|backend, version| {
        if version == Version::V0 {
            return;
        }
        backend.open(version, 1);
        for more in [&[0, 9][..], &[0, 9, 0xab, 0xcd]] {
            let length = 20 + more.len() as u8;
            let with = |key| [&[30, length], &both(version, key)[2..], more].concat();
            backend.takes(1, Flags::Ack, &with(ASSIGNED), &with(KERNEL));
        }
    });
}

/// The servers' numbers move, the clients' do not. Offsets are taken beyond where 32 and 64 bits
/// wrap.
#[test]
fn data_sequence_numbers_and_their_checksums_follow_the_keys() {
    for_all(|backend, version| {
        backend.open(version, 1);
        let start = version.initial_data_seq(KERNEL);
        let wraps = [start as u32, version.initial_data_seq(ASSIGNED) as u32];
        let wraps = wraps.map(|start| u64::from(start.wrapping_neg()));
        for offset in [0, 1, 1400, 1 << 31, wraps[0], wraps[1], wraps[0] - 1, wraps[1] + 1] {
            for whole in [true, false] {
                for checksum in [true, false] {
                    let [kernel, client] =
                        [KERNEL, ASSIGNED].map(|key| dss(version, key, offset, whole, checksum));
                    backend.gives(1, Flags::Ack, &kernel, &client);
                }
                let [kernel, client] =
                    [KERNEL, ASSIGNED].map(|key| data_ack(version, key, offset, whole));
                backend.takes(1, Flags::Ack, &client, &kernel);
            }
        }
        let to_end = start.wrapping_neg();
        for offset in [to_end, to_end.wrapping_add(9), 1 << 40] {
            let [kernel, client] =
                [KERNEL, ASSIGNED].map(|key| dss(version, key, offset, true, true));
            backend.gives(1, Flags::Ack, &kernel, &client);
        }
        let of_client = dss(version, CLIENT, 5, true, true);
        let shifted = [&of_client[..4], &of_client[8..]].concat();
        let alone = [&[30, shifted.len() as u8, 0x20, 0x0c], &shifted[4..]].concat();
        backend.leaves(TcDirection::Ingress, 1, Flags::Ack, &alone);
        let own_ack = data_ack(version, CLIENT, 5, true);
        backend.leaves(TcDirection::Egress, 1, Flags::Ack, &own_ack);
    });
}

/// A length of 0 maps all that follows; its checksum is 0 and stays so (RFC 8684, section 3.7).
#[test]
fn an_infinite_mapping_keeps_its_checksum_of_zero() {
    for_all(|backend, version| {
        backend.open(version, 1);
        let [kernel, client] = [KERNEL, ASSIGNED].map(|key| {
            let mut option = dss(version, key, 77, true, true);
            let end = option.len();
            option[end - 4..].fill(0);
            option
        });
        backend.gives(1, Flags::Ack, &kernel, &client);
    });
}

#[test]
fn the_end_and_failures_are_translated() {
    for_all(|backend, version| {
        backend.open(version, 1);
        let close = |key: Key| [&[30, 12, 0x70, 0][..], &key.0].concat();
        backend.takes(1, Flags::Ack, &close(ASSIGNED), &close(KERNEL));
        backend.leaves(TcDirection::Ingress, 1, Flags::Ack, &close(Key(*b"a guess!")));
        backend.leaves(TcDirection::Egress, 1, Flags::Ack, &close(CLIENT));
        let failed = |key| {
            let number = version.initial_data_seq(key).wrapping_add(99);
            [&[30, 12, 0x60, 0][..], &number.to_be_bytes()].concat()
        };
        backend.takes(1, Flags::Ack, &failed(ASSIGNED), &failed(KERNEL));
        backend.leaves(TcDirection::Egress, 1, Flags::Ack, &failed(CLIENT));
    });
}

/// An ADD_ADDR of version 1 with the HMAC of these keys.
fn add_addr(sender: Key, receiver: Key, address: IpAddr, port: Option<u16>) -> Vec<u8> {
    let mut option = vec![30, 0, 0x30, 5];
    match address {
        IpAddr::V4(address) => option.extend(address.octets()),
        IpAddr::V6(address) => option.extend(address.octets()),
    }
    option.extend(port.map(u16::to_be_bytes).into_iter().flatten());
    option.extend(add_addr_hmac(sender, receiver, 5, address, port).to_be_bytes());
    option[1] = option.len() as u8;
    option
}

#[test]
fn addresses_are_announced_with_the_right_hmac_both_ways() {
    if skip_without(Need::Root) {
        return;
    }
    let backend = Backend::new(Family::V4);
    backend.open(Version::V1, 1);
    for address in [client(Family::V4), client(Family::V6)] {
        for port in [None, Some(8443)] {
            let of_server = |key| add_addr(key, CLIENT, address, port);
            backend.gives(1, Flags::Ack, &of_server(KERNEL), &of_server(ASSIGNED));
            let of_client = |key| add_addr(CLIENT, key, address, port);
            backend.takes(1, Flags::Ack, &of_client(ASSIGNED), &of_client(KERNEL));
            backend.leaves(TcDirection::Ingress, 1, Flags::Ack, &of_client(Key(*b"a guess!")));
        }
    }
    for echo in [&[30, 8, 0x31, 5, 192, 0, 2, 1][..], &[30, 10, 0x31, 5, 192, 0, 2, 1, 1, 187]] {
        backend.leaves(TcDirection::Egress, 1, Flags::Ack, echo);
        backend.leaves(TcDirection::Ingress, 1, Flags::Ack, echo);
    }
}

/// An HMAC that is wrong stays so: the kernel refuses it.
#[test]
fn who_knows_only_a_token_is_not_let_in() {
    for_all(|backend, version| {
        backend.open(version, 1);
        backend.takes(2, Flags::Syn, &join_syn(version, ASSIGNED), &join_syn(version, KERNEL));
        let answer = [KERNEL, ASSIGNED].map(|key| join_syn_ack(version, key));
        backend.gives(2, Flags::SynAck, &answer[0], &answer[1]);
        for byte in [0, 7, 8, 19] {
            let mut forged = join_ack(version, ASSIGNED);
            forged[4 + byte] ^= 1;
            backend.leaves(TcDirection::Ingress, 2, Flags::Ack, &forged);
        }
        backend.leaves(TcDirection::Ingress, 2, Flags::Ack, &join_ack(version, KERNEL));
        assert_eq!(backend.count(TranslateCounter::Joined), 0);
        backend.takes(2, Flags::Ack, &join_ack(version, ASSIGNED), &join_ack(version, KERNEL));
        assert_eq!(backend.count(TranslateCounter::Joined), 1);
    });
}

/// SYNs and keys that anybody can send leave a live connection as it was.
#[test]
fn forged_handshakes_change_nothing() {
    for_all(|backend, version| {
        backend.open(version, 1);
        let forged = Key(*b"forged!!");
        backend.takes(1, Flags::Syn, &syn(version, forged), &taken_out(version));
        backend.leaves(TcDirection::Ingress, 1, Flags::Syn, &USUAL);
        backend.leaves(TcDirection::Ingress, 1, Flags::Ack, &both(version, forged));
        let data = [KERNEL, ASSIGNED].map(|key| dss(version, key, 3, true, false));
        backend.gives(1, Flags::Ack, &data[0], &data[1]);
        // While the kernel waits for the third packet, too.
        backend.takes(2, Flags::Syn, &syn(version, ASSIGNED), &taken_out(version));
        backend.gives(2, Flags::SynAck, &syn_ack(version, KERNEL), &syn_ack(version, ASSIGNED));
        backend.takes(2, Flags::Syn, &syn(version, forged), &taken_out(version));
        backend.gives(2, Flags::SynAck, &syn_ack(version, KERNEL), &syn_ack(version, ASSIGNED));
    });
}

/// Two keys with one token: among so many there are some, but for one chance in a million.
fn keys_of_one_token(version: Version) -> [Key; 2] {
    let mut seen = BTreeMap::new();
    for key in (0..350_000_u64).map(|number| Key(number.to_be_bytes())) {
        if let Some(other) = seen.insert(version.token(key), key) {
            return [other, key];
        }
    }
    panic!("no two of the keys have one token");
}

/// A key with the token of another connection's: the kernel's own key goes to the client, and the
/// other connection keeps its joins.
#[test]
fn a_token_that_is_taken_is_not_given_again() {
    for_all(|backend, version| {
        let [first, second] = keys_of_one_token(version);
        backend.takes(1, Flags::Syn, &syn(version, first), &taken_out(version));
        backend.gives(1, Flags::SynAck, &syn_ack(version, KERNEL), &syn_ack(version, first));
        backend.takes(1, Flags::Ack, &both(version, first), &both(version, KERNEL));
        backend.takes(2, Flags::Syn, &syn(version, second), &taken_out(version));
        let kernels = Key(*b"kernel 2");
        backend.leaves(TcDirection::Egress, 2, Flags::SynAck, &syn_ack(version, kernels));
        backend.leaves(TcDirection::Ingress, 2, Flags::Ack, &both(version, kernels));
        backend.takes(3, Flags::Syn, &join_syn(version, second), &join_syn(version, KERNEL));
        assert_ne!(backend.count(TranslateCounter::TokenTaken), 0);
    });
}

/// The kernel's SYN/ACK without an assigned key is of another connection with these addresses and
/// ports.
#[test]
fn the_next_connection_of_a_port_begins_anew() {
    for_all(|backend, version| {
        backend.open(version, 1);
        let kernels = Key(*b"kernel 2");
        backend.leaves(TcDirection::Egress, 1, Flags::SynAck, &syn_ack(version, kernels));
        let data = dss(version, kernels, 3, true, true);
        backend.leaves(TcDirection::Egress, 1, Flags::Ack, &data);
        let entries = backend.translate.tables.entries().unwrap();
        assert_eq!(entries.subflows, 0);
    });
}

#[test]
fn what_was_not_assigned_passes_as_it_is() {
    for_all(|backend, version| {
        let plain = match version {
            Version::V0 => [&[30, 12, 0x00, 0x81][..], &CLIENT.0].concat(),
            Version::V1 => vec![30, 4, 0x01, 0x01],
        };
        backend.leaves(TcDirection::Ingress, 1, Flags::Syn, &[&USUAL[..], &plain].concat());
        backend.leaves(TcDirection::Egress, 1, Flags::SynAck, &syn_ack(version, KERNEL));
        backend.leaves(TcDirection::Ingress, 1, Flags::Ack, &both(version, KERNEL));
        backend.leaves(TcDirection::Ingress, 1, Flags::Ack, &data_ack(version, KERNEL, 1, true));
        backend.leaves(TcDirection::Egress, 1, Flags::Ack, &dss(version, KERNEL, 1, true, true));
        backend.leaves(TcDirection::Ingress, 1, Flags::Syn, &join_syn(version, KERNEL));
        backend.leaves(TcDirection::Egress, 1, Flags::SynAck, &join_syn_ack(version, KERNEL));
        backend.leaves(TcDirection::Ingress, 1, Flags::Ack, &join_ack(version, KERNEL));
        let entries = backend.translate.tables.entries().unwrap();
        assert_eq!((entries.connections, entries.subflows, entries.openings), (0, 0, 0));
    });
}

/// Every length of every subtype, cut short by the header's end or not, on live subflows: the
/// packet goes on, of its length, with a right checksum, and what is no such option stays as it is.
#[test]
fn hostile_options_do_no_harm() {
    for_all(|backend, version| {
        backend.open(version, 1);
        backend.takes(2, Flags::Syn, &join_syn(version, ASSIGNED), &join_syn(version, KERNEL));
        for flags in [Flags::Ack, Flags::Syn, Flags::SynAck] {
            for subtype in 0..16_u8 {
                for length in 0..=40_u8 {
                    for side in [TcDirection::Ingress, TcDirection::Egress] {
                        let body = subtype << 4 | number(version);
                        let options = [&[30, length, body, 0xff][..], &[0x55; 36]].concat();
                        hostile(backend, side, flags, &options[..usize::from(length.max(4))]);
                        hostile(backend, side, flags, &options[..8]);
                    }
                }
            }
        }
    });
}

#[track_caller]
fn hostile(backend: &Backend, side: TcDirection, flags: Flags, options: &[u8]) {
    let packet = frame(backend.family, side, 1, flags, options);
    let run = backend.translate.run(side, &packet, 1).unwrap();
    assert_eq!((run.action, run.data.len()), (Action::Pass, packet.len()));
    let place = if backend.family == Family::V4 { 34 } else { 54 };
    let left = &run.data[place + 20..run.data.len() - 4];
    assert_eq!(run.data, frame(backend.family, side, 1, flags, left), "its checksum");
}

/// A header that ends in the middle, other protocols, fragments.
#[test]
fn what_is_no_whole_segment_passes_as_it_is() {
    if skip_without(Need::Root) {
        return;
    }
    let backend = Backend::new(Family::V4);
    let whole = frame(Family::V4, TcDirection::Ingress, 1, Flags::Syn, &syn(Version::V1, ASSIGNED));
    let mut fragment = whole.clone();
    fragment[20] |= 0x20;
    let mut udp = whole.clone();
    udp[23] = 17;
    let mut long = whole.clone();
    long[46] = 0xf0;
    long.truncate(60);
    for packet in [&fragment, &udp, &long, &whole[..40].to_vec()] {
        let run = backend.translate.run(TcDirection::Ingress, packet, 1).unwrap();
        assert_eq!((run.action, &run.data), (Action::Pass, packet));
    }
}

/// SYNs of a flood, each answered by the kernel, are forgotten before any connection.
#[test]
fn a_flood_leaves_connections() {
    for_all(|backend, version| {
        backend.open(version, 1);
        for port in 1000..6000 {
            let packet = frame(
                backend.family,
                TcDirection::Ingress,
                port,
                Flags::Syn,
                &syn(version, ASSIGNED),
            );
            backend.translate.run(TcDirection::Ingress, &packet, 1).unwrap();
            let answer = syn_ack(version, Key(*b"another!"));
            let packet = frame(backend.family, TcDirection::Egress, port, Flags::SynAck, &answer);
            backend.translate.run(TcDirection::Egress, &packet, 1).unwrap();
        }
        let data = [KERNEL, ASSIGNED].map(|key| dss(version, key, 3, true, false));
        backend.gives(1, Flags::Ack, &data[0], &data[1]);
        backend.takes(2, Flags::Syn, &join_syn(version, ASSIGNED), &join_syn(version, KERNEL));
    });
}
