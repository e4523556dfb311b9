//! The balancer's program through this crate: what is set is what it does, what it did is what is
//! read.

use std::net::IpAddr;

use etherparse::PacketBuilder;
use heddle_balancer_maps::abi::{
    Counter, FlowState, Forwarding, MAGLEV_SIZE, Settings, Target, TargetState, Vip, VipKey,
    VipKind,
};
use heddle_balancer_maps::{Action, Balancer, Clock, Sizes};
use heddle_bpf_loader::{Bench, Clients};
use heddle_testing::{Need, skip_without};

const SERVICE: [u8; 4] = [198, 51, 100, 1];
const BACKEND: [u8; 4] = [10, 0, 0, 7];
const CLIENT: [u8; 4] = [192, 0, 2, 1];
const NOW: u32 = 1000;

fn address(octets: [u8; 4]) -> heddle_balancer_maps::abi::Address {
    IpAddr::from(octets).into()
}

/// Service 1 on TCP port 80, all of it to one backend by IPIP.
fn balancer() -> Balancer {
    let sizes = Sizes { flows: 100_000, ..Sizes::small() };
    let mut balancer = Balancer::load(&sizes, Clock::Settings).unwrap();
    let maps = &mut balancer.maps;
    let key = VipKey {
        address: address(SERVICE),
        port: 80_u16.to_be(),
        protocol: 6,
        ..VipKey::default()
    };
    let vip = Vip { id: 1, kind: VipKind::Service as u8, ..Vip::default() };
    let backend = Target {
        address: address(BACKEND),
        id: 7,
        ifindex: 1,
        mtu: 1500,
        state: TargetState::Up as u8,
        forwarding: Forwarding::Ipip as u8,
        ..Target::default()
    };
    maps.settings.set(&settings()).unwrap();
    maps.targets.set(1, &backend).unwrap();
    maps.maglev.write(0, &[1; MAGLEV_SIZE as usize]).unwrap();
    maps.vips.insert(&key, &vip).unwrap();
    balancer
}

fn settings() -> Settings {
    Settings {
        seed: [1, 2],
        own4: address([10, 0, 0, 1]),
        syn_timeout: 100,
        flow_timeout: 10_000,
        closing_timeout: 100,
        udp_timeout: 100,
        now: NOW,
        ..Settings::default()
    }
}

/// A client's segment to the service: its SYN, or one behind it.
fn segment(port: u16, syn: Syn) -> Vec<u8> {
    let link = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4(CLIENT, SERVICE, 64);
    let tcp = link.tcp(port, 80, 1, 1000);
    let mut frame = Vec::new();
    match syn {
        Syn::Yes => tcp.syn().write(&mut frame, &[]).unwrap(),
        Syn::No => tcp.ack(1).write(&mut frame, &[]).unwrap(),
    }
    frame
}

#[derive(Clone, Copy)]
enum Syn {
    Yes,
    No,
}

#[test]
fn a_syn_goes_to_the_backend_and_leaves_a_flow() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer();
    let frame = segment(4000, Syn::Yes);
    let run = balancer.program.run(&frame, 1).unwrap();
    assert!(matches!(run.action, Action::Tx | Action::Redirect), "{run:?}");
    assert_eq!(run.data.len(), frame.len() + 20);
    assert_eq!(run.data[30..34], BACKEND);

    let flows: Vec<_> = balancer.maps.flows.iter().collect();
    let [flow] = flows.as_slice() else { panic!("{flows:?}") };
    assert_eq!((flow.client, flow.port), (IpAddr::from(CLIENT), 4000));
    assert_eq!((flow.service, flow.target, flow.state), (1, 1, FlowState::New));
    assert_eq!((flow.seen, flow.token), (NOW, None));
    assert_eq!(balancer.maps.flows.census(NOW).of(FlowState::New), 1);
    assert_eq!(balancer.maps.flows.census(NOW + 1).all(), 0);
    assert_eq!(balancer.maps.counters.get(1, Counter::SentSyn).unwrap().packets, 1);
    assert_eq!(balancer.maps.target_counts.get(1).unwrap().packets, 1);
}

#[test]
fn an_explanation_changes_nothing() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer();
    let mut explainer = balancer.explainer().unwrap();
    assert_eq!(balancer.maps.settings.get().unwrap().seed, settings().seed);
    let frame = segment(4000, Syn::Yes);
    let before = explainer.explain(&frame).unwrap();
    let trace = before.trace.unwrap();
    assert!(trace.counted(Counter::SentSyn), "{trace:?}");
    assert_eq!((trace.vip, trace.target, trace.flow_state), (1, 1, 0));
    assert_eq!(balancer.maps.flows.iter().count(), 0);
    assert_eq!(balancer.maps.counters.get(1, Counter::SentSyn).unwrap().packets, 0);

    let run = balancer.program.run(&frame, 1).unwrap();
    assert_eq!((run.action, run.data), (before.run.action, before.run.data));
    let after = explainer.explain(&segment(4000, Syn::No)).unwrap().trace.unwrap();
    assert_eq!(u32::from(after.flow_state), FlowState::New as u32);
}

/// The program grows each frame by 20 bytes: were one not restored, there would be no room or no
/// flow soon.
#[test]
fn a_bench_gives_every_packet_as_it_was() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer();
    let mut bench = Bench::new().unwrap();
    let count = |counter| balancer.maps.counters.get(1, counter).unwrap().packets;

    let syns = [segment(4000, Syn::Yes)];
    let opening = bench.measure(&balancer.program, &syns, Clients::Many(50_000), 1).unwrap();
    assert_eq!(count(Counter::SentSyn), opening.packets);
    assert_eq!(count(Counter::FlowAdded), 50_000);
    assert_eq!(balancer.maps.flows.iter().count(), 50_000);

    // In whatever order, each client comes once a round.
    let others = [segment(5000, Syn::Yes)];
    let before = count(Counter::FlowAdded);
    bench.measure(&balancer.program, &others, Clients::Shuffled(32_768), 1).unwrap();
    assert_eq!(count(Counter::FlowAdded), before, "32,768 of the clients that came before");

    let segments = [segment(4000, Syn::No)];
    let known = bench.measure(&balancer.program, &segments, Clients::Many(50_000), 3).unwrap();
    assert_eq!(count(Counter::SentFlow), known.packets);
    assert!(known.program > 0.0, "{known:?}");
    println!("SYN {opening:?}\nknown {known:?}");
}
