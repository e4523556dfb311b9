//! The cost of translating assigned keys on a backend: `cargo bench --package heddle-balancer-maps
//! --bench translate`, as root.
//!
//! Nanoseconds by BPF_PROG_RUN. A segment's cost is the median of runs of 100,000 rounds, each of
//! which rewrites the segment once more, in processor time of this thread. The packets of
//! handshakes change what is known, so each is run once, for 2,001 connections: the median of what
//! the kernel measures, less that of a segment without MPTCP, of which most is the measurement.

use std::net::Ipv4Addr;

use etherparse::PacketBuilder;
use heddle_balancer_maps::{Link, Room, Translate};
use heddle_bpf_loader::TcDirection::{self, Egress, Ingress};
use heddle_wire::key::add_addr_hmac;
use heddle_wire::{Key, Version};
use rustix::time::{ClockId, clock_gettime};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const ROUNDS: u32 = 100_000;
const RUNS: usize = 31;
const CONNECTIONS: u16 = 2001;
const VIP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 10);
const CLIENT: Key = Key(*b"client's");
const KERNEL: Key = Key(*b"kernel's");
const NONCES: [u32; 2] = [1, 2];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flags {
    Syn,
    SynAck,
    Ack,
}

fn main() -> Result<(), Failure> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    println!("kernel {}, nanoseconds per packet, medians\n", kernel.trim());
    let translate = Translate::load(Link::Ethernet, &Room::default())?;
    segments(&translate)?;
    for version in [Version::V1, Version::V0] {
        handshakes(&translate, version)?;
    }
    Ok(())
}

/// Segments of an open connection, and of none.
fn segments(translate: &Translate) -> Result<(), Failure> {
    let key = assigned(1);
    for (side, flags, options) in handshake(Version::V1, key) {
        translate.run(side, &frame(side, 1, flags, &options)?, 1)?;
    }
    let ack = [&[30, 12, 0x20, 0x03][..], &[7; 8]].concat();
    let map = [&[30, 26, 0x20, 0x0f][..], &[7; 22]].concat();
    let summed = [&[30, 28, 0x20, 0x0f][..], &[7; 24]].concat();
    let stamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1];
    let address = add_addr_hmac(KERNEL, CLIENT, 1, VIP.into(), None).to_be_bytes();
    let address = [&[30, 16, 0x30, 1][..], &VIP.octets(), &address].concat();
    let cases: [(&str, TcDirection, u16, &[u8]); 7] = [
        ("no TCP options", Ingress, 1, &[]),
        ("timestamps, no MPTCP", Ingress, 1, &stamps),
        ("MPTCP of another connection, in", Ingress, 2, &ack),
        ("DATA_ACK, in", Ingress, 1, &ack),
        ("mapping, out", Egress, 1, &map),
        ("mapping with a checksum, out", Egress, 1, &summed),
        ("ADD_ADDR, out (1 HMAC)", Egress, 1, &address),
    ];
    for (name, side, port, options) in cases {
        let frame = frame(side, port, Flags::Ack, options)?;
        let run = || {
            let start = processor_time();
            translate.run(side, &frame, ROUNDS)?;
            Ok((processor_time() - start) / u128::from(ROUNDS))
        };
        println!("{name:<42} {:>7}", median((0..RUNS).map(|_| run()))?);
    }
    Ok(())
}

/// Each packet of a connection's handshake and of a join's, over many connections.
fn handshakes(translate: &Translate, version: Version) -> Result<(), Failure> {
    let names = [
        "SYN, in",
        "SYN/ACK, out (2 hashes)",
        "ACK with keys, in",
        "SYN of a join, in",
        "SYN/ACK of a join, out (1 HMAC)",
        "ACK of a join, in (2 HMACs)",
    ];
    let plain = frame(Ingress, 1, Flags::Ack, &[1; 4])?;
    let once = || Ok(translate.run(Ingress, &plain, 1)?.duration.as_nanos());
    let floor = median((0..CONNECTIONS).map(|_| once()))?;
    let mut costs = [const { Vec::new() }; 6];
    let first = if version == Version::V1 { 1000 } else { 5000 };
    for port in first..first + CONNECTIONS {
        let key = assigned(port);
        let steps = handshake(version, key).into_iter().chain(join(version, key));
        for (step, (side, flags, options)) in steps.enumerate() {
            let port = if step < 3 { port } else { port + 30_000 };
            let run = translate.run(side, &frame(side, port, flags, &options)?, 1)?;
            costs[step].push(run.duration.as_nanos());
        }
    }
    println!("\nversion {version:?}");
    for (name, costs) in names.into_iter().zip(costs) {
        let cost = median(costs.into_iter().map(Ok))?;
        println!("{name:<42} {:>7}", cost.saturating_sub(floor));
    }
    Ok(())
}

/// Nanoseconds that this thread has had of a processor.
fn processor_time() -> u128 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u128 * 1_000_000_000 + time.tv_nsec as u128
}

fn median(values: impl Iterator<Item = Result<u128, Failure>>) -> Result<u128, Failure> {
    let mut values = values.collect::<Result<Vec<_>, _>>()?;
    values.sort_unstable();
    Ok(values[values.len() / 2])
}

fn assigned(port: u16) -> Key {
    Key(u64::from(port).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes())
}

type Step = (TcDirection, Flags, Vec<u8>);

fn handshake(version: Version, key: Key) -> [Step; 3] {
    let number = u8::from(version == Version::V1);
    let syn = match version {
        Version::V0 => [&[30, 20, 0, 1][..], &CLIENT.0, &key.0].concat(),
        Version::V1 => [&[30, 12, 1, 1][..], &key.0].concat(),
    };
    let syn_ack = [&[30, 12, number, 1][..], &KERNEL.0].concat();
    let ack = [&[30, 20, number, 1][..], &CLIENT.0, &key.0].concat();
    [(Ingress, Flags::Syn, syn), (Egress, Flags::SynAck, syn_ack), (Ingress, Flags::Ack, ack)]
}

fn join(version: Version, key: Key) -> [Step; 3] {
    let [client, server] = NONCES.map(u32::to_be_bytes);
    let syn = [&[30, 12, 0x10, 1][..], &version.token(key).0.to_be_bytes(), &client].concat();
    let hmac = version.join_hmac(KERNEL, CLIENT, NONCES[1], NONCES[0]).syn_ack().to_be_bytes();
    let syn_ack = [&[30, 16, 0x10, 1][..], &hmac, &server].concat();
    let hmac = version.join_hmac(CLIENT, key, NONCES[0], NONCES[1]).ack();
    let ack = [&[30, 24, 0x10, 0][..], &hmac].concat();
    [(Ingress, Flags::Syn, syn), (Egress, Flags::SynAck, syn_ack), (Ingress, Flags::Ack, ack)]
}

/// Between a client's port and the service.
fn frame(side: TcDirection, port: u16, flags: Flags, options: &[u8]) -> Result<Vec<u8>, Failure> {
    let (mut from, mut to) = (([198, 51, 100, 7], port), (VIP.octets(), 443));
    if side == Egress {
        (from, to) = (to, from);
    }
    let ip = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4(from.0, to.0, 64);
    let tcp = ip.tcp(from.1, to.1, 1, 64_240).options_raw(options)?;
    let tcp = match flags {
        Flags::Syn => tcp.syn(),
        Flags::SynAck => tcp.syn().ack(1),
        Flags::Ack => tcp.ack(1),
    };
    let mut bytes = Vec::new();
    tcp.write(&mut bytes, &[])?;
    Ok(bytes)
}
