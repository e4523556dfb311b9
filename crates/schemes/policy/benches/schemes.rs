//! Cost of a data packet at a ToR with eight uplinks, for the schemes that run on real switches
//! too: ECMP, CFLB, HULA, and MP-HULA with k = 1, 2, 4 and with connections of 2 to 8 subflows.
//!
//! The same cases in the kernel: `heddle-switch bench`. Flows come in an order without pattern, a
//! packet each 100 ns.

use core::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use heddle_policy::cflb::{self, Addresses, CflbConfig, Cipher, Codec, Field, Fields, Rules};
use heddle_policy::{
    Cflb, Ecmp, Handshake, Header, Hula, HulaConfig, Ingress, LongFlows, MpHula, MpHulaConfig,
    MpHulaRules, MptcpTablesConfig, Port, Ports, Probe, ProbeArrival, Scheme, Step, SwitchInfo,
    TcpFlags, Tor, Util, mix,
};
use heddle_units::Time;
use heddle_wire::{Key, Version};

const UPLINKS: [Port; 8] = [Port(1), Port(2), Port(3), Port(4), Port(5), Port(6), Port(7), Port(8)];
const FLOWS: [u32; 2] = [1, 65_536];
/// Packets of an iteration.
const PACKETS: u32 = 4096;
/// Nanoseconds between two packets.
const INTERVAL: u64 = 100;

/// Ports that are up and idle.
struct Idle;

impl Ports for Idle {
    fn tx_util(&mut self, _: Port) -> Util {
        Util::default()
    }

    fn queue_bytes(&mut self, _: Port) -> u32 {
        0
    }

    fn is_up(&mut self, _: Port) -> bool {
        true
    }
}

fn hula() -> HulaConfig {
    HulaConfig {
        probe_period: Time::nanos(200_000),
        fail_after: Some(Time::nanos(600_000)),
        flowlet_gap: Time::nanos(100_000),
        flowlet_slots: 65_536,
        tau: Some(Time::nanos(400_000)),
        util_bits: 8,
        ..HulaConfig::default()
    }
}

fn mp_hula(best_k: u8) -> MpHulaConfig {
    MpHulaConfig {
        hula: hula(),
        tables: MptcpTablesConfig {
            best_k,
            mapping_rows: 16_384,
            association_slots: 65_536,
            association_idle: Time::secs(60),
        },
        rules: MpHulaRules { long_flows: LongFlows::Alike },
    }
}

fn codec(cipher: Cipher) -> Codec {
    let key: [u8; 16] = core::array::from_fn(|byte| 17 * byte as u8);
    let config = CflbConfig { field: Field::Ports, cipher, radix: 8, rules: Rules::Even };
    Codec::new(&config, &key[..cipher.key_bytes()]).expect("a sound configuration")
}

/// ToR 0 of two, to which probes have brought all uplinks.
fn switch<S: Scheme>(config: &S::Config) -> S {
    let info = SwitchInfo { salt: 1, tor: Some(Tor(0)), ports: 9, tors: 2, same_pod: Vec::new() };
    let mut switch = S::new(config, &info);
    for port in UPLINKS {
        let probe = Probe { tor: Tor(1), util: 10 * port.0 };
        let arrival = ProbeArrival { port, probe, is_next_hop: true };
        switch.probe(Step { now: 0, rnd: 0 }, &arrival, &mut Idle);
    }
    switch
}

fn packet(flow: u32) -> Header {
    let ports = cflb::Ports { source: 0x4000 + (flow & 0x7fff) as u16, destination: 5000 };
    let source = [10, 0, 0, (flow >> 15) as u8].into();
    let addresses = Addresses::V4(source, [10, 0, 1, 1].into());
    Header {
        flow_hash: mix(flow, 0x5eed),
        src_tor: Tor(0),
        dst_tor: Tor(1),
        ingress: Ingress::Host,
        tag: 0,
        shim: None,
        fields: Some(Fields { addresses, protocol: 6, ports: Some(ports), flow_label: 0, ttl: 64 }),
    }
}

/// Forwards packets of these flows in turn.
fn forward<S: Scheme>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    switch: &mut S,
    packets: &[Header],
) {
    let (mut now, mut next) = (1_000, 0);
    group.bench_function(format!("{name}/{} flows", packets.len()), |bench| {
        bench.iter(|| {
            for _ in 0..PACKETS {
                let mut packet = packets[next % packets.len()];
                let step = Step { now, rnd: 0 };
                black_box(switch.forward(step, black_box(&mut packet), &UPLINKS, &mut Idle));
                (now, next) = (now + INTERVAL, next + 1);
            }
        });
    });
}

fn plain<S: Scheme>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, config: &S::Config) {
    for flows in FLOWS {
        // Any odd factor visits each flow once.
        let packets: Vec<Header> =
            (0..flows).map(|n| packet(n.wrapping_mul(0x9e37_79b1) % flows)).collect();
        forward(group, name, &mut switch::<S>(config), &packets);
    }
}

/// Teaches a ToR the handshakes of one connection with so many subflows, and forwards packets of
/// all.
fn subflows(group: &mut BenchmarkGroup<'_, WallTime>, best_k: u8, subflows: u32) {
    let mut tor = switch::<MpHula>(&mp_hula(best_k));
    let (client, server) = (*b"client's", *b"server's");
    let keys = [&[30, 20, 0x01, 0x81][..], &client, &server].concat();
    let token = Version::V1.token(Key(server)).0.to_be_bytes();
    let join = [&[30, 12, 0x10, 2][..], &token, &[1, 2, 3, 4]].concat();
    for flow in 0..subflows {
        let (flags, options) =
            if flow == 0 { (TcpFlags::ACK, &keys) } else { (TcpFlags::SYN, &join) };
        let out_hash = packet(flow).flow_hash;
        let handshake = Handshake { out_hash, ingress: Ingress::Host, flags, options };
        tor.handshake(Step { now: 0, rnd: 0 }, &handshake);
    }
    let packets: Vec<Header> = (0..subflows).map(packet).collect();
    let mut last = packets[packets.len() - 1];
    tor.forward(Step { now: 1, rnd: 0 }, &mut last, &UPLINKS, &mut Idle);
    assert!(last.shim.is_some(), "the ToR knows the last subflow");
    forward(group, &format!("mp-hula, k = {best_k}, shims"), &mut tor, &packets);
}

fn schemes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("forward");
    group.throughput(Throughput::Elements(u64::from(PACKETS)));
    plain::<Ecmp>(&mut group, "ecmp", &());
    for (name, cipher) in
        [("rc5", Cipher::Rc5), ("skip32", Cipher::Skip32), ("feistel", Cipher::Feistel)]
    {
        plain::<Cflb>(&mut group, &format!("cflb, ports, {name}"), &codec(cipher));
    }
    plain::<Hula>(&mut group, "hula", &hula());
    for best_k in [1, 2, 4] {
        plain::<MpHula>(&mut group, &format!("mp-hula, k = {best_k}"), &mp_hula(best_k));
    }
    for (best_k, count) in [(2, 2), (2, 4), (2, 8), (4, 8)] {
        subflows(&mut group, best_k, count);
    }
    group.finish();
}

criterion_group!(benches, schemes);
criterion_main!(benches);
