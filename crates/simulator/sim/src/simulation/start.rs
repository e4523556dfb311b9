//! Initial state of the network.

use heddle_fabric::{Fabric, Placer, Routes, Scheduler};
use heddle_policy::DreShift;
use heddle_scenario::{Placing, Scenario, Scheme, Transport};
use heddle_transport::Group;
use heddle_transport::uet::UetParameters;

use crate::engine::Wheel;
use crate::five_tuple::FlowHash;
use crate::hosts::{EntropyValues, Interfaces, Steering};
use crate::network::{
    Crossing, Impairments, LinkClass, Management, Network, Packets, Port, PortStats, Priority,
    PriorityQueue,
};
use crate::progress::SimError;
use crate::random::{Random, Stream};
use crate::schemes::{codec, entropy_config};
use crate::switching::GroupRouting;

/// True if a link of the scenario's graph is down from the start.
pub(super) fn is_failed(scenario: &Scenario, fabric: &Fabric, link: u32) -> bool {
    let (a, b) = fabric.graph.links[link as usize].ends;
    let (a, b) = (&fabric.node(a).name, &fabric.node(b).name);
    let same = |(x, y): &(String, String)| (x == a && y == b) || (x == b && y == a);
    scenario.fabric.failed.iter().any(same)
}

/// Protocols and parameters of the workloads.
pub(super) fn groups(scenario: &Scenario) -> Vec<Group> {
    let group = |transport: &Transport| match *transport {
        Transport::Tcp(tcp) => Group::Tcp(tcp),
        Transport::Mptcp(mptcp) => Group::Mptcp(mptcp.into()),
        Transport::Uet(uet) => {
            let rate = scenario.entropy.rate_of_uet(&uet, &scenario.fabric.graph);
            Group::Uet(UetParameters::new(&uet, rate))
        }
    };
    scenario.transports().iter().map(group).collect()
}

/// Empty ports with the scenario's rates and buffers.
pub(super) fn start_network(
    scenario: &Scenario,
    fabric: &Fabric,
    meter: Option<DreShift>,
    seed: u64,
) -> Network {
    let mut classes: Vec<LinkClass> = Vec::new();
    let (shared, red) = (scenario.fabric.shared_buffer, scenario.fabric.red);
    let marks = |to: u32| red.is_some_and(|red| red.to_hosts || to >= fabric.hosts);
    let priority = switch_priority(scenario);
    let mut ports = Vec::with_capacity(fabric.ports.len());
    for info in &fabric.ports {
        let link = fabric.graph.links[info.link as usize];
        let from_host = info.owner < fabric.hosts;
        let limits = if from_host { scenario.fabric.host_port } else { scenario.fabric.port };
        let class = LinkClass::new(fabric.rate_of(info), link.delay, limits);
        let class = if from_host {
            class.with_priority(Priority::Control)
        } else {
            let class = class.limits_at(scenario.fabric.scale_buffers);
            let is_managed = shared.is_some() || marks(info.to);
            let class = if is_managed { class.managed() } else { class };
            class.with_priority(priority).trimming(scenario.fabric.trim_above)
        };
        let index = classes.iter().position(|known| *known == class).unwrap_or(classes.len());
        if index == classes.len() {
            classes.push(class);
        }
        let mut port = Port::new(info.to, index as u16);
        port.set_up(!is_failed(scenario, fabric, info.link), false);
        ports.push(port);
    }
    let two_queues = match priority {
        Priority::None => fabric.interface_port.len(),
        _ => ports.len(),
    };
    Network {
        port_stats: vec![PortStats::default(); ports.len()],
        events: wheel_for(&classes, ports.len()),
        packets: Packets::default(),
        priority_queues: vec![PriorityQueue::default(); two_queues],
        impairments: Impairments::new(Random::new(seed, Stream::Losses)),
        management: Management::new(fabric, shared, red, Random::new(seed, Stream::Marks)),
        hops: 0,
        crossing: Crossing::default(),
        meter,
        classes,
        ports,
    }
}

/// Packets that switches send before others.
fn switch_priority(scenario: &Scenario) -> Priority {
    match (scenario.fabric.control_first, scenario.fabric.priority_bytes) {
        (true, _) => Priority::ControlFirst,
        (false, Some(_)) => Priority::FirstBytes,
        (false, None) => Priority::None,
    }
}

/// Fewest and most events in a slot of the wheel when every port is busy with full packets: enough
/// for prefetching, and in a large fabric so many that the ends of all slots, where events are
/// added, fit into the cache of a core.
const SLOT_EVENTS: (u64, u64) = (16, 128);

/// Ports for an event in a slot: a slot is so much shorter than the time between two packets of a
/// port that no event falls into the current one.
const PORTS_PER_SLOT_EVENT: u64 = 48;

/// An event queue sized for the ports of a fabric.
fn wheel_for(classes: &[LinkClass], ports: usize) -> Wheel {
    let packet = |class: &LinkClass| class.time_for(1500);
    let ahead = classes.iter().map(|class| packet(class) + class.delay).max().unwrap_or_default();
    let busiest = classes.iter().map(packet).min().unwrap_or_default();
    let ports = ports.max(1) as u64;
    let events = (ports / PORTS_PER_SLOT_EVENT).clamp(SLOT_EVENTS.0, SLOT_EVENTS.1);
    Wheel::new(busiest * events / ports, ahead * 2)
}

/// Routing by an intermediate group; `None` if paths are the graph's own.
pub(super) fn group_routing(
    scenario: &Scenario,
    fabric: &Fabric,
    seed: u64,
) -> Result<Option<Box<GroupRouting>>, SimError> {
    let config = scenario.fabric.non_minimal.filter(|_| scenario.scheme != Scheme::Ideal);
    let groups = config.map(|config| GroupRouting::new(config, fabric, seed)).transpose()?;
    Ok(groups.map(Box::new))
}

/// Entropy values of the hosts' packets; `None` if they choose none.
pub(super) fn entropy(scenario: &Scenario, seed: u64) -> Option<EntropyValues> {
    let config = entropy_config(&scenario.entropy)?;
    let are_by_packet = scenario.entropy.is_by_packet();
    Some(EntropyValues::new(config, are_by_packet, Random::new(seed, Stream::Entropy)))
}

/// The interfaces of hosts; `None` if each has one.
pub(super) fn interfaces(
    fabric: &Fabric,
    routes: &Routes,
    is_up: impl Fn(u32) -> bool,
) -> Option<Interfaces> {
    let mut interfaces = (fabric.interfaces > 1).then(|| Interfaces::new(fabric))?;
    let are_all_up = (0..fabric.graph.links.len() as u32).all(&is_up);
    if fabric.has_inner_switches() || !are_all_up {
        interfaces.learn(fabric, Some(routes.clone()), is_up);
    }
    Some(interfaces)
}

/// The hash of packets' flows that the switches of a scheme see.
pub(super) fn flow_hash(scheme: &Scheme) -> FlowHash {
    if *scheme == Scheme::EcmpNs2 { FlowHash::Ns2 } else { FlowHash::FiveTuple }
}

/// CFLB senders; `None` under other schemes.
pub(super) fn steering(
    scenario: &Scenario,
    fabric: &Fabric,
    seed: u64,
) -> Result<Option<Steering>, SimError> {
    let Scheme::Cflb(cflb) = &scenario.scheme else { return Ok(None) };
    let scheduler = match cflb.placing {
        Placing::FewestFlows => Scheduler::FewestFlows,
        Placing::FirstFit => Scheduler::FirstFit,
    };
    let random = Random::new(seed, Stream::Steering);
    let placer = Placer::new(fabric, scheduler);
    Ok(Some(Steering::new(codec(cflb, seed)?, cflb.elephants.0, placer, random)))
}
