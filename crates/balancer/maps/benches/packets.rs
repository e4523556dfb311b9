//! The balancer's time for a packet: `cargo bench --package heddle-balancer-maps`, as root.
//!
//! Nanoseconds of processor time, medians over batches of 100,000 packets
//! ([`heddle_bpf_loader::Bench`]). Each case says which verdict its packets must have had, and
//! fails if the program's own counters say otherwise.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{PacketBuilder, TcpOptionElement as O};
use heddle_balancer_maps::abi::*;
use heddle_balancer_maps::steering::{Inner, Message, SteeringKey};
use heddle_balancer_maps::{Balancer, Clock, Sizes};
use heddle_bpf_loader::{Bench, Clients, Program, pass, send_back};
use heddle_hashing::RING_SIZE;

const MILLION: u32 = 1 << 20;
const VIP4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 10));
const VIP6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x10));
const PORT: u16 = 443;
const BACKENDS: u32 = 16;

const OWN: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const OTHER_BALANCER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 3));
const STEERING_PORT: u16 = 7077;
const KEY: SteeringKey = [1, 2];

/// A packet to be measured, and how.
struct Case {
    name: &'static str,
    mode: MptcpMode,
    forwarding: Forwarding,
    outer: IpAddr,
    vip: IpAddr,
    /// Sent before the measurement, by each client.
    first: Vec<Vec<u8>>,
    frame: Vec<u8>,
    clients: Clients,
    verdict: Option<Counter>,
    /// There is another balancer, the first one of all slots.
    cluster: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    println!("kernel {}, nanoseconds per packet, medians", kernel.trim());
    let [pass, send_back] = [pass()?, send_back()?].map(|program| floor(&program));
    println!("programs of one instruction: XDP_PASS {} ns, XDP_TX {} ns\n", pass?, send_back?);
    println!("{:<44} {:>8} {:>9}", "packet", "program", "(wrapper)");
    let mut bench = Bench::new()?;
    for case in cases() {
        if wanted.iter().all(|word| case.name.contains(word)) {
            measure(&mut bench, &case)?;
        }
    }
    Ok(())
}

/// The least that any program takes on this machine: the median of runs without a wrapper.
fn floor(program: &Program) -> Result<u128, heddle_balancer_maps::Error> {
    let run = |_| Ok(program.run(&[0; 64], 1_000_000)?.duration.as_nanos());
    let mut runs = (0..15).map(run).collect::<Result<Vec<u128>, heddle_balancer_maps::Error>>()?;
    runs.sort_unstable();
    Ok(runs[runs.len() / 2])
}

fn case(name: &'static str, mode: MptcpMode, frame: Vec<u8>, verdict: Counter) -> Case {
    Case {
        name,
        mode,
        forwarding: Forwarding::Ipip,
        outer: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
        vip: VIP4,
        first: vec![],
        frame,
        clients: Clients::AsWritten,
        verdict: Some(verdict),
        cluster: false,
    }
}

fn measure(bench: &mut Bench, case: &Case) -> Result<(), Box<dyn std::error::Error>> {
    let mut balancer = balancer(case)?;
    let count = match case.clients {
        Clients::Many(clients) | Clients::Shuffled(clients) => clients.div_ceil(100_000).max(1),
        Clients::AsWritten => 1,
    };
    for frame in &case.first {
        bench.measure(&balancer.program, std::slice::from_ref(frame), case.clients, count)?;
    }
    let before = counted(&balancer, case)?;
    let batches = if case.clients == Clients::AsWritten { 15 } else { 10 };
    let cost = bench.measure(
        &balancer.program,
        std::slice::from_ref(&case.frame),
        case.clients,
        batches,
    )?;
    let counted = counted(&balancer, case)? - before;
    if counted < cost.packets {
        return Err(format!(
            "{}: {counted} of {} packets had the verdict meant",
            case.name, cost.packets
        )
        .into());
    }
    println!("{:<44} {:>8.1} {:>9.1}", case.name, cost.program, cost.wrapper);
    balancer.maps.ready_keys.clear()?;
    Ok(())
}

fn counted(balancer: &Balancer, case: &Case) -> Result<u64, heddle_balancer_maps::Error> {
    let of_no_service = [Some(Counter::PassNoVip), Some(Counter::HeartbeatAnswered)];
    let service = u16::from(!of_no_service.contains(&case.verdict));
    Ok(match case.verdict {
        Some(verdict) => balancer.maps.counters.get(service, verdict)?.packets,
        None => u64::MAX / 2,
    })
}

/// A balancer that holds a million flows, with one service.
fn balancer(case: &Case) -> Result<Balancer, heddle_balancer_maps::Error> {
    let sizes = Sizes {
        flows: MILLION,
        tokens: MILLION,
        services: 15,
        maglev_tables: 2,
        ..Sizes::default()
    };
    let mut balancer = Balancer::load(&sizes, Clock::Kernel)?;
    let maps = &mut balancer.maps;
    let key =
        VipKey { address: case.vip.into(), port: PORT.to_be(), protocol: 6, ..VipKey::default() };
    let vip = Vip { id: 1, kind: VipKind::Service as u8, mode: case.mode as u8, ..Vip::default() };
    maps.vips.insert(&key, &vip)?;
    let quic = Vip { choices: Vip::quic_choices(0, SERVER_ID.len() as u8), ..vip };
    maps.vips.insert(&VipKey { protocol: 17, ..key }, &quic)?;
    maps.quic_servers.insert(&QuicServer::new(1, 0, &SERVER_ID), &1)?;
    for index in 1..=BACKENDS {
        let target = Target {
            address: case.outer.into(),
            id: index,
            ifindex: 1,
            mac: [2, 0, 0, 0, 0, 2],
            source_mac: [2, 0, 0, 0, 0, 1],
            mtu: 1500,
            state: TargetState::Up as u8,
            forwarding: case.forwarding as u8,
            ..Target::default()
        };
        maps.targets.set(index, &target)?;
        maps.target_ids.insert(&index, &index)?;
    }
    let table: Vec<u32> = (0..MAGLEV_SIZE).map(|slot| 1 + slot % BACKENDS).collect();
    maps.maglev.write(0, &table)?;
    maps.settings.set(&settings())?;
    if case.cluster {
        add_other_balancer(&mut balancer)?;
    }
    Ok(balancer)
}

fn add_other_balancer(balancer: &mut Balancer) -> Result<(), heddle_balancer_maps::Error> {
    let (index, maps) = (BACKENDS + 1, &mut balancer.maps);
    let backend = maps.targets.get(1)?;
    let target = Target {
        address: OTHER_BALANCER.into(),
        id: 1000,
        forwarding: Forwarding::Steering as u8,
        ..backend
    };
    maps.targets.set(index, &target)?;
    maps.target_ids.insert(&target.id, &index)?;
    maps.peers.insert(&OTHER_BALANCER.into(), &index)?;
    maps.ring.write(0, &[index; RING_SIZE])?;
    let (address, port) = (OWN.into(), STEERING_PORT.to_be());
    let key = VipKey { address, port, protocol: 17, ..VipKey::default() };
    let vip = Vip { kind: VipKind::Steering as u8, ..Vip::default() };
    maps.vips.insert(&key, &vip)?;
    let all = Limit { per_tick: u32::MAX / 2, burst: u32::MAX / 2 };
    maps.settings.set(&Settings { peers: 1, query: all, ..settings() })
}

/// A message of the other balancer, with a client's packet behind it.
fn message(kind: SteeringKind, client: Option<&[u8]>) -> Vec<u8> {
    let inner = Inner {
        source: Ipv4Addr::new(198, 51, 100, 7).into(),
        destination: VIP4,
        protocol: 6,
        ports: [50_000, PORT],
    };
    let message = Message { backend: 1, ..Message::of(kind) };
    let header = message.signed(KEY, OTHER_BALANCER, client.map(|_| &inner));
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 1]);
    let udp = ethernet.ipv4([10, 0, 0, 3], [10, 0, 0, 1], 64).udp(STEERING_PORT, STEERING_PORT);
    let payload = [&header[..], client.map_or(&[], |frame| &frame[14..])].concat();
    let mut bytes = Vec::new();
    udp.write(&mut bytes, &payload).unwrap_or_else(|error| panic!("{error}"));
    bytes
}

fn settings() -> Settings {
    let mut macs = [0; MACS as usize];
    // 02:00:00:00:00:01, to which the frames are.
    macs[0] = 0x0100_0000_0002 | MAC_RECEIVED | MAC_SENT;
    Settings {
        seed: [0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3211],
        maglev_seed: 7,
        own4: OWN.into(),
        own6: IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1)).into(),
        steering_keys: [KEY, [0; 2]],
        steering_port: STEERING_PORT.to_be(),
        gue_port: 6080_u16.to_be(),
        syn_timeout: 60_000,
        flow_timeout: 60_000,
        closing_timeout: 60_000,
        udp_timeout: 60_000,
        provisional_timeout: 60_000,
        token_timeout: 60_000,
        refresh: 20_000,
        learning: 60_000,
        macs,
        ..Settings::default()
    }
}

const SYN: u8 = 2;
const ACK: u8 = 16;

/// A frame of a client to the service, with TCP options as Linux sends them and then `mptcp`.
fn frame(vip: IpAddr, flags: u8, mptcp: &[u8], payload: usize) -> Vec<u8> {
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 1]);
    let ip = match vip {
        IpAddr::V4(vip) => ethernet.ipv4([198, 51, 100, 7], vip.octets(), 64),
        IpAddr::V6(vip) => ethernet.ipv6(
            [0x2001, 0xdb8, 1, 0, 0, 0, 0, 7]
                .map(u16::to_be_bytes)
                .concat()
                .try_into()
                .unwrap_or_default(),
            vip.octets(),
            64,
        ),
    };
    let mut tcp = ip.tcp(50_000, PORT, 1, 64_240);
    if flags & SYN != 0 {
        tcp = tcp.syn();
    }
    if flags & ACK != 0 {
        tcp = tcp.ack(1);
    }
    let linux = if flags & SYN != 0 {
        vec![
            O::MaximumSegmentSize(1460),
            O::SelectiveAcknowledgementPermitted,
            O::Timestamp(1, 0),
            O::Noop,
            O::WindowScale(7),
        ]
    } else {
        vec![O::Noop, O::Noop, O::Timestamp(1, 1)]
    };
    let mut options =
        etherparse::TcpOptions::try_from_elements(&linux).unwrap_or_default().as_slice().to_vec();
    options.extend_from_slice(mptcp);
    let tcp = tcp.options_raw(&options).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = Vec::new();
    tcp.write(&mut bytes, &vec![0; payload]).unwrap_or_else(|error| panic!("{error}"));
    bytes
}

/// A packet of an established QUIC connection, whose connection id names a backend.
fn quic(vip: IpAddr) -> Vec<u8> {
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 1]);
    let ip = match vip {
        IpAddr::V4(vip) => ethernet.ipv4([198, 51, 100, 7], vip.octets(), 64),
        IpAddr::V6(vip) => ethernet.ipv6(
            [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7],
            vip.octets(),
            64,
        ),
    };
    let payload = [&[0x40, 7][..], &SERVER_ID, &[0x5a; 30]].concat();
    let mut bytes = Vec::new();
    let written = ip.udp(50_000, PORT).write(&mut bytes, &payload);
    written.unwrap_or_else(|error| panic!("{error}"));
    bytes
}

const SERVER_ID: [u8; 2] = [0, 0xa1];
const CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];
const KEYS: [u8; 20] = [30, 20, 0x01, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0x0b, 2, 3, 4, 5, 6, 7, 8];
const JOIN: [u8; 12] = [30, 12, 0x10, 2, 0x11, 0x22, 0x33, 0x44, 9, 9, 9, 9];
const DSS: [u8; 8] = [30, 8, 0x20, 0x01, 0, 0, 0, 1];

fn cases() -> Vec<Case> {
    use Clients::{Many, Shuffled};
    use Forwarding::{Gue as ForwardGue, L2 as ForwardL2};
    let outer4 = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
    let outer6 = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2));
    let ack = |vip| frame(vip, ACK, &[], 0);
    let syn = |vip| frame(vip, SYN, &[], 0);
    let base = case;
    let known = |name, mode| Case {
        first: vec![syn(VIP4), ack(VIP4), ack(VIP4)],
        ..base(name, mode, ack(VIP4), Counter::SentFlow)
    };
    let primary = |name| Case {
        first: vec![
            frame(VIP4, SYN, &CAPABLE, 0),
            frame(VIP4, ACK, &KEYS, 0),
            frame(VIP4, ACK, &DSS, 0),
            ack(VIP4),
        ],
        ..known(name, MptcpMode::Learn)
    };
    vec![
        Case {
            verdict: Some(Counter::PassNoVip),
            ..base(
                "for no service",
                MptcpMode::Learn,
                frame(outer4, ACK, &[], 0),
                Counter::PassNoVip,
            )
        },
        known("known flow, IPIP, off", MptcpMode::Off),
        known("known flow, IPIP, learn", MptcpMode::Learn),
        primary("known MPTCP flow, IPIP, learn"),
        Case {
            clients: Many(1 << 16),
            ..known("known flow, IPIP, off, 64 K flows", MptcpMode::Off)
        },
        Case {
            clients: Shuffled(1 << 16),
            ..known("known flow, IPIP, off, 64 K flows shuffled", MptcpMode::Off)
        },
        Case {
            clients: Many(1 << 16),
            ..known("known flow, IPIP, learn, 64 K flows", MptcpMode::Learn)
        },
        Case {
            clients: Shuffled(1 << 16),
            ..known("known flow, IPIP, learn, 64 K flows shuffled", MptcpMode::Learn)
        },
        Case {
            clients: Many(1 << 19),
            ..known("known flow, IPIP, off, 512 K flows", MptcpMode::Off)
        },
        Case {
            clients: Shuffled(1 << 19),
            ..known("known flow, IPIP, off, 512 K flows shuffled", MptcpMode::Off)
        },
        Case {
            clients: Many(1 << 19),
            ..known("known flow, IPIP, learn, 512 K flows", MptcpMode::Learn)
        },
        Case {
            clients: Shuffled(1 << 19),
            ..known("known flow, IPIP, learn, 512 K flows shuffled", MptcpMode::Learn)
        },
        Case { forwarding: ForwardL2, ..known("known flow, L2, learn", MptcpMode::Learn) },
        Case { forwarding: ForwardGue, ..known("known flow, GUE, learn", MptcpMode::Learn) },
        Case {
            vip: VIP6,
            outer: outer6,
            first: vec![syn(VIP6), ack(VIP6), ack(VIP6)],
            frame: ack(VIP6),
            ..known("known flow, IPv6 in IPv6, learn", MptcpMode::Learn)
        },
        Case { clients: Many(1 << 16), ..primary("known MPTCP flow, IPIP, learn, 64 K flows") },
        Case {
            first: vec![quic(VIP4), quic(VIP4)],
            ..base("QUIC by connection id, IPIP", MptcpMode::Off, quic(VIP4), Counter::SentQuic)
        },
        base("SYN, off, one flow again", MptcpMode::Off, syn(VIP4), Counter::SentSyn),
        base("SYN, learn, one flow again", MptcpMode::Learn, syn(VIP4), Counter::SentSyn),
        Case {
            clients: Many(MILLION),
            ..base("SYN, off, inserts", MptcpMode::Off, syn(VIP4), Counter::SentSyn)
        },
        Case {
            clients: Many(MILLION),
            ..base("SYN, learn, inserts", MptcpMode::Learn, syn(VIP4), Counter::SentSyn)
        },
        Case {
            clients: Many(4 * MILLION),
            first: vec![syn(VIP4)],
            ..base("SYN, off, full table", MptcpMode::Off, syn(VIP4), Counter::SentSyn)
        },
        Case {
            clients: Many(4 * MILLION),
            first: vec![syn(VIP4)],
            ..base("SYN, learn, full table", MptcpMode::Learn, syn(VIP4), Counter::SentSyn)
        },
        base(
            "SYN MP_CAPABLE, one flow again",
            MptcpMode::Learn,
            frame(VIP4, SYN, &CAPABLE, 0),
            Counter::SentCapable,
        ),
        Case {
            clients: Many(MILLION),
            ..base(
                "SYN MP_CAPABLE, inserts",
                MptcpMode::Learn,
                frame(VIP4, SYN, &CAPABLE, 0),
                Counter::SentCapable,
            )
        },
        Case {
            first: vec![frame(VIP4, SYN, &CAPABLE, 0)],
            ..base(
                "ACK with keys, again",
                MptcpMode::Learn,
                frame(VIP4, ACK, &KEYS, 0),
                Counter::SentKeys,
            )
        },
        base(
            "SYN MP_JOIN, unknown token",
            MptcpMode::Learn,
            frame(VIP4, SYN, &JOIN, 0),
            Counter::SentJoinUnknown,
        ),
        Case {
            cluster: true,
            ..base(
                "SYN MP_JOIN, asked of another balancer",
                MptcpMode::Learn,
                frame(VIP4, SYN, &JOIN, 0),
                Counter::QueriedJoin,
            )
        },
        Case {
            cluster: true,
            ..base(
                "another balancer's registration of a flow",
                MptcpMode::Learn,
                message(SteeringKind::RegisterFlow, Some(&ack(VIP4))),
                Counter::SentForPeer,
            )
        },
        Case {
            cluster: true,
            ..base(
                "heartbeat, answered",
                MptcpMode::Learn,
                message(SteeringKind::Heartbeat, None),
                Counter::HeartbeatAnswered,
            )
        },
    ]
}
