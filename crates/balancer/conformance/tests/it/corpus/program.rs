//! Every case through the program: its verdict, its counters, its frame, and what it remembers.

use std::collections::BTreeMap;

use heddle_balancer_maps::Action;
use heddle_balancer_maps::abi::Counter;
use heddle_conformance::balancer::{comparison, native};
use heddle_testing::{Need, skip_without};

use crate::corpus::cases::{Block, cases, states};
use crate::corpus::world::{SERVICES, World};

#[test]
fn the_program_does_what_the_corpus_says() {
    if skip_without(Need::Root) {
        return;
    }
    let (mut world, states) = (World::new(), states());
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| {
            let given = format!("states/{}", case.get("given"));
            let state = states.iter().find(|state| state.name == given).unwrap();
            check(&mut world, state, case).err().map(|what| format!("{}: {what}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}\n{} cases", wrong.join("\n"), wrong.len());
}

fn check(world: &mut World, state: &Block, case: &Block) -> Result<(), String> {
    world.forget();
    world.enter(state);
    let frame = case.bytes("frame");
    world.explain(&frame)?;
    let before = counts(world);
    let run = world.balancer.program.run(&frame, 1).map_err(|error| error.to_string())?;
    equal("action", action(run.action), case.get("action"))?;
    let mut said: Vec<&str> = case.get("counts").split_whitespace().collect();
    said.sort_unstable();
    equal("counts", moved(&before, &counts(world)), said.join(" "))?;
    let out = if case.get("out").is_empty() { frame.clone() } else { case.bytes("out") };
    if run.action != Action::Drop {
        equal("out", hex(&run.data), hex(&out))?;
    }
    check_memory(world, case, &frame)
}

fn check_memory(world: &World, case: &Block, frame: &[u8]) -> Result<(), String> {
    if !case.get("flow").is_empty() {
        equal("flow", flow_state(world, frame), case.get("flow"))?;
    }
    if !case.get("token").is_empty() {
        equal("token", token_state(world), case.get("token"))?;
    }
    Ok(())
}

fn equal<A: AsRef<str>, B: AsRef<str>>(what: &str, is: A, said: B) -> Result<(), String> {
    let (is, said) = (is.as_ref(), said.as_ref());
    if is == said { Ok(()) } else { Err(format!("{what}\n  is   {is}\n  said {said}")) }
}

fn action(action: Action) -> &'static str {
    match action {
        Action::Pass => "pass",
        Action::Drop => "drop",
        Action::Tx => "tx",
        Action::Redirect => "redirect",
        Action::Aborted | Action::Unknown(_) => "aborted",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

type Counts = BTreeMap<&'static str, u64>;

fn counts(world: &World) -> Counts {
    let mut sums = Counts::new();
    for service in 0..=SERVICES {
        for (counter, count) in world.balancer.maps.counters.of(service).unwrap() {
            *sums.entry(Counter::name(counter)).or_default() += count.packets;
        }
    }
    sums
}

/// The counters that moved, in alphabetical order; each as often as it did.
fn moved(before: &Counts, after: &Counts) -> String {
    let often = after.iter().flat_map(|(name, count)| {
        std::iter::repeat_n(*name, (count - before[name]).try_into().unwrap())
    });
    often.collect::<Vec<_>>().join(" ")
}

/// Of the packet's own flow, or of the packet's that another balancer sent.
fn flow_state(world: &World, frame: &[u8]) -> String {
    let mut packet = native::parse(frame).unwrap();
    if packet.destination_port == 7000 {
        let inner = [&frame[..12], &ethertype(frame[62]), &frame[62..]].concat();
        packet = comparison::compare(&inner).unwrap().unwrap();
    }
    let is = |flow: &heddle_balancer_maps::maps::Flow| {
        (flow.client, flow.port) == (packet.source, packet.source_port) && alive(world, flow.seen)
    };
    let mut flows = world.balancer.maps.flows.iter().filter(is);
    flows.next().map_or("none".into(), |flow| flow.state.name().into())
}

fn ethertype(first: u8) -> [u8; 2] {
    if first >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] }
}

/// Of the corpus's one token (version 1).
fn token_state(world: &World) -> String {
    let key = heddle_wire::Key([0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8]);
    let token = native::token(heddle_wire::Version::V1, key).0;
    let is = |entry: &heddle_balancer_maps::maps::Token| {
        entry.token == token && alive(world, entry.seen)
    };
    let mut tokens = world.balancer.maps.tokens.iter().filter(is);
    tokens.next().map_or("none".into(), |entry| entry.state.name().into())
}

/// Since the world last forgot.
fn alive(world: &World, seen: u32) -> bool {
    world.now() - seen < 50_000
}
