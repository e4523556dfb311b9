//! The cost of SYNs where the balancer assigns keys, beside RomanRoads' figure 7:
//! `cargo bench --package heddle-balancer-maps --bench assign`, as root.
//!
//! Nanoseconds of processor time, medians over batches of 100,000 SYNs of as many clients, each of
//! which leaves a flow. The paper's numbers are for one forwarding thread (figure 7a, 7b) on a 2.0
//! GHz Xeon with DPDK, packet input and output included.

use std::net::{IpAddr, Ipv4Addr};

use etherparse::{PacketBuilder, TcpOptionElement as O, TcpOptions};
use heddle_balancer_maps::abi::*;
use heddle_balancer_maps::{Balancer, Clock, Sizes};
use heddle_bpf_loader::{Bench, Clients};
use heddle_wire::{Key, Version};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const MILLION: u32 = 1 << 20;
const BATCHES: u32 = 9;
const VIP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 10);
/// Two services with nothing in common, for two threads.
const PORTS: [u16; 2] = [443, 444];
const BACKENDS: u32 = 16;

const V1: [u8; 4] = [30, 4, 0x01, 0x01];
const V0: [u8; 12] = [30, 12, 0x00, 0x81, 1, 2, 3, 4, 5, 6, 7, 8];

/// The option that SYNs carry, and the source of their keys.
struct Case {
    name: &'static str,
    mptcp: &'static [u8],
    ready: bool,
    balancers: u32,
    paper: &'static str,
}

const CASES: [Case; 8] = [
    Case { name: "SYN", mptcp: &[], ready: false, balancers: 1, paper: "2" },
    Case { name: "MP_CAPABLE v1, ready key", mptcp: &V1, ready: true, balancers: 1, paper: "-" },
    Case { name: "v1, on demand", mptcp: &V1, ready: false, balancers: 1, paper: "-" },
    Case { name: "MP_CAPABLE v0, ready key", mptcp: &V0, ready: true, balancers: 1, paper: "2" },
    Case { name: "on demand, 1 balancer", mptcp: &V0, ready: false, balancers: 1, paper: "1" },
    Case { name: "on demand, 2 balancers", mptcp: &V0, ready: false, balancers: 2, paper: "-" },
    Case { name: "on demand, 4 balancers", mptcp: &V0, ready: false, balancers: 4, paper: "-" },
    Case { name: "on demand, 8 balancers", mptcp: &V0, ready: false, balancers: 8, paper: "-" },
];

fn main() -> Result<(), Failure> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    println!("kernel {}\n", kernel.trim());
    println!("{:<26} {:>8} {:>7} {:>9} {:>11}", "packet", "ns", "Mpps", "no key", "paper, Mpps");
    for case in &CASES {
        let balancer = balancer(case.balancers, case.ready)?;
        let cost = measure(&balancer, case, PORTS[0])?;
        let lost = lost(&balancer, case)?;
        let rate = 1e3 / cost;
        println!("{:<26} {cost:>8.1} {rate:>7.2} {lost:>8.2}% {:>11}", case.name, case.paper);
    }
    scaling()
}

/// Figure 7d: all balancers, or threads of one balancer, together. The paper's on-demand rate stays
/// at about 1 Mpps, as each key takes as many tries as there are threads; with ready keys it grows
/// with them.
fn scaling() -> Result<(), Failure> {
    let processors = std::thread::available_parallelism()?.get();
    println!("\nMpps together, at once on {processors} processors (more than 2 are not tried)");
    println!("{:<26} {:>6} {:>12} {:>21}", "keys", "1", "2 balancers", "2 threads of one");
    for case in &[&CASES[0], &CASES[3], &CASES[4]] {
        let alone = 1e3 / measure(&balancer(1, case.ready)?, case, PORTS[0])?;
        let (apart, shared) = (balancers_apart(case)?, threads_of_one(case)?);
        println!("{:<26} {alone:>6.2} {apart:>12.2} {shared:>21.2}", case.name);
    }
    Ok(())
}

/// Each owns half of the tokens.
fn balancers_apart(case: &Case) -> Result<f64, Failure> {
    let balancers = [balancer(2, case.ready)?, balancer(2, case.ready)?];
    together([&balancers[0], &balancers[1]], case)
}

/// They share its tables, and own all tokens.
fn threads_of_one(case: &Case) -> Result<f64, Failure> {
    let balancer = balancer(1, case.ready)?;
    together([&balancer, &balancer], case)
}

fn together(balancers: [&Balancer; 2], case: &Case) -> Result<f64, Failure> {
    let costs = std::thread::scope(|scope| {
        let measure = |index: usize| move || measure(balancers[index], case, PORTS[index]);
        [0, 1].map(|index| scope.spawn(measure(index))).map(|thread| thread.join())
    });
    let mut rate = 0.0;
    for cost in costs {
        rate += 1e3 / cost.map_err(|_| "a thread has panicked")??;
    }
    Ok(rate)
}

/// Nanoseconds for a SYN.
fn measure(balancer: &Balancer, case: &Case, port: u16) -> Result<f64, Failure> {
    let frame = [syn(port, case.mptcp)?];
    let cost = Bench::new()?.measure(&balancer.program, &frame, Clients::Many(MILLION), BATCHES)?;
    Ok(cost.program)
}

/// The share of SYNs without a key, in percent. Fails if keys did not come from the case's source.
fn lost(balancer: &Balancer, case: &Case) -> Result<f64, Failure> {
    let count = |counter| balancer.maps.counters.get(1, counter).map(|count| count.packets);
    let source = if case.ready { Counter::KeyReady } else { Counter::KeyGenerated };
    let (keys, lost) = (count(source)?, count(Counter::DropFailed)?);
    let packets = u64::from(BATCHES * 100_000);
    // Of a million keys made ahead, a hundred have a token that another one has: then the program
    // makes one.
    if !case.mptcp.is_empty() && keys + lost < packets - packets / 1000 {
        return Err(format!("{}: {keys} of {packets} SYNs had such a key", case.name).into());
    }
    Ok(lost as f64 / packets as f64 * 100.0)
}

/// One of so many balancers, which own the same number of the ring's slots.
fn balancer(balancers: u32, ready: bool) -> Result<Balancer, Failure> {
    let sizes = Sizes {
        flows: 2 * MILLION,
        tokens: 2 * MILLION,
        services: 15,
        maglev_tables: 2,
        ready_keys: if ready { 2 * MILLION } else { 1 },
        ..Sizes::default()
    };
    let mut balancer = Balancer::load(&sizes, Clock::Kernel)?;
    let maps = &mut balancer.maps;
    let vip = Vip {
        id: 1,
        kind: VipKind::Service as u8,
        mode: MptcpMode::Assign as u8,
        ..Vip::default()
    };
    for (id, port) in (1..).zip(PORTS) {
        let address = IpAddr::V4(VIP).into();
        let key = VipKey { address, port: port.to_be(), protocol: 6, ..VipKey::default() };
        maps.vips.insert(&key, &Vip { id, ..vip })?;
    }
    for index in 1..=BACKENDS {
        maps.targets.set(index, &backend(index))?;
    }
    let table: Vec<u32> = (0..MAGLEV_SIZE).map(|slot| 1 + slot % BACKENDS).collect();
    maps.maglev.write(0, &table)?;
    let ring: Vec<u32> = (0..RING_SIZE).map(|slot| slot % balancers).collect();
    maps.ring.write(0, &ring)?;
    maps.settings.set(&settings(balancers))?;
    if ready {
        fill(&mut balancer, balancers)?;
    }
    Ok(balancer)
}

/// Keys that are not random: only their number counts here.
fn fill(balancer: &mut Balancer, balancers: u32) -> Result<(), Failure> {
    for key in (0..2 * u64::from(MILLION) * u64::from(balancers)).map(u64::to_be_bytes) {
        let maps = &mut balancer.maps;
        for (version, queue) in
            [(Version::V0, &mut maps.ready_keys), (Version::V1, &mut maps.ready_keys_v1)]
        {
            let token = version.token(Key(key)).0;
            if (token >> RING_SHIFT).is_multiple_of(balancers) {
                queue.push(&AssignedKey { key, token, seen: 0 })?;
            }
        }
    }
    Ok(())
}

fn backend(index: u32) -> Target {
    Target {
        address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)).into(),
        id: index,
        ifindex: 1,
        mac: [2, 0, 0, 0, 0, 2],
        source_mac: [2, 0, 0, 0, 0, 1],
        mtu: 1500,
        state: TargetState::Up as u8,
        forwarding: Forwarding::Ipip as u8,
        ..Target::default()
    }
}

fn settings(balancers: u32) -> Settings {
    Settings {
        seed: [0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3211],
        maglev_seed: 7,
        own4: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)).into(),
        peers: u8::from(balancers > 1),
        syn_timeout: 60_000,
        flow_timeout: 60_000,
        closing_timeout: 60_000,
        udp_timeout: 60_000,
        provisional_timeout: 60_000,
        token_timeout: 60_000,
        refresh: 20_000,
        learning: 60_000,
        ..Settings::default()
    }
}

/// With TCP options as Linux sends them and then `mptcp`.
fn syn(port: u16, mptcp: &[u8]) -> Result<Vec<u8>, Failure> {
    let linux = [
        O::MaximumSegmentSize(1460),
        O::SelectiveAcknowledgementPermitted,
        O::Timestamp(1, 0),
        O::Noop,
        O::WindowScale(7),
    ];
    let mut options = TcpOptions::try_from_elements(&linux)?.as_slice().to_vec();
    options.extend_from_slice(mptcp);
    let ip = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 1]).ipv4(
        [198, 51, 100, 7],
        VIP.octets(),
        64,
    );
    let tcp = ip.tcp(50_000, port, 1, 64_240).syn().options_raw(&options)?;
    let mut bytes = Vec::new();
    tcp.write(&mut bytes, &[])?;
    Ok(bytes)
}
