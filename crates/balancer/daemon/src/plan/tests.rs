//! Traces: changes of the world, and the writes that follow.

use std::collections::BTreeMap;
use std::time::Duration;

use heddle_balancer_maps::abi::{Forwarding, MAGLEV_STRIDE, STAMP_SHIFT, TargetState, VipKind};
use heddle_hashing::{RING_SIZE, maglev};

use super::*;
use crate::config::{Member, Ports, load};
use crate::health::State;
use crate::links::{LinkAddress, Macs};
use crate::mac::Mac;
use crate::neighbours::NextHop;

mod access;
mod balancers;
mod choices;
mod ports;
mod properties;
mod quic;
mod shared;
mod shares;
mod states;

const UP: u8 = TargetState::Up as u8;
const DOWN: u8 = TargetState::Down as u8;
const FAILING: u8 = TargetState::Failing as u8;
const REMOVED: u8 = TargetState::Removed as u8;

fn config(backends: &[u8]) -> Config {
    load("lb.toml", &config_text(backends)).unwrap()
}

fn config_text(backends: &[u8]) -> String {
    let backend =
        |n: &u8| format!("[[service.backend]]\nname = 'be{n}'\naddress = '10.0.1.{n}'\nid = {n}\n");
    let backends: String = backends.iter().map(backend).collect();
    format!(
        "balancer = {{ name = 'lb1', interfaces = ['eth0'] }}
        balancers = [{{ name = 'lb1', address = '10.0.0.1', id = 101 }}, {{ name = 'lb2', address = '10.0.0.2', id = 102 }}]
        steering = {{ secret_file = 's' }}
        [[service]]\nname = 'web'\naddress = '192.0.2.10'\nport = 443\n{backends}"
    )
}

/// A world that changes, and the plans made in it.
struct Trace {
    now: Duration,
    balancers: Vec<Member>,
    listed: Vec<Member>,
    health: BTreeMap<WireId, State>,
    down_since: BTreeMap<WireId, Duration>,
    drained_since: BTreeMap<WireId, Duration>,
    up_since: BTreeMap<WireId, Duration>,
    drained: BTreeMap<WireId, bool>,
    next_hops: BTreeMap<IpAddr, NextHop>,
    has_placed_flows: bool,
    peer_tables_changed: bool,
    peer_flows_unexplained: bool,
    macs: Macs,
    plan: Plan,
}

fn id(number: u32) -> WireId {
    WireId(NonZeroU32::new(number).unwrap())
}

fn hop(last: u8) -> NextHop {
    let mac = [2, 0, 0, 0, 0, last];
    NextHop {
        ifindex: 2,
        vlan: 0,
        mac,
        source_mac: [2; 6],
        mtu: 1500,
        source: [10, 0, 0, 1].into(),
    }
}

impl Trace {
    /// All is well, both balancers live.
    fn start() -> Trace {
        let addresses = (1..10).map(|n| (IpAddr::from([10, 0, 1, n]), hop(n)));
        let balancers = (1..3).map(|n| (IpAddr::from([10, 0, 0, n]), hop(100 + n)));
        Trace {
            now: Duration::from_secs(1000),
            balancers: config(&[]).members().to_vec(),
            listed: config(&[]).members().to_vec(),
            health: BTreeMap::new(),
            down_since: BTreeMap::new(),
            drained_since: BTreeMap::new(),
            up_since: BTreeMap::new(),
            drained: BTreeMap::new(),
            next_hops: addresses.chain(balancers).collect(),
            has_placed_flows: true,
            peer_tables_changed: false,
            peer_flows_unexplained: false,
            macs: Macs::new(),
            plan: Plan::default(),
        }
    }

    fn update(&mut self, config: &Config) -> Result<Vec<Change>, Full> {
        let world = World {
            now: self.now,
            tick: ticks(self.now),
            own: Some(id(101)),
            balancers: &self.balancers,
            listed: &self.listed,
            health: &self.health,
            down_since: &self.down_since,
            drained_since: &self.drained_since,
            up_since: &self.up_since,
            drained: &self.drained,
            next_hops: &self.next_hops,
            has_placed_flows: self.has_placed_flows,
            peer_tables_changed: self.peer_tables_changed,
            peer_flows_unexplained: self.peer_flows_unexplained,
            macs: &self.macs,
        };
        let next = self.plan.next(config, &world)?;
        assert_eq!(self.with_tables_of_unknown_origin().next(config, &world)?, next);
        let changes = changes(&self.plan.maps, &next.maps);
        self.plan = next;
        Ok(changes)
    }

    /// The plan as a daemon finds it in the maps, whose tables are all made anew.
    fn with_tables_of_unknown_origin(&self) -> Plan {
        let mut plan = self.plan.clone();
        let anew = |table: &mut Table| *table = table.iter().copied().collect();
        plan.maps.tables.values_mut().for_each(anew);
        plan
    }

    fn index(&self, number: u32) -> u16 {
        self.plan.targets.index(&id(number)).unwrap()
    }

    fn state(&self, number: u32) -> u8 {
        self.plan.maps.targets[&self.index(number)].state
    }

    /// The service's table, and which one it is.
    fn table(&self) -> (u32, &[u32]) {
        let (number, table) = self.plan.maps.tables.first_key_value().unwrap();
        (*number, table)
    }

    fn takes_flows(&self, number: u32) -> bool {
        self.table().1.iter().any(|&word| maglev::target(word) == u32::from(self.index(number)))
    }
}

fn kinds(changes: &[Change]) -> Vec<&'static str> {
    let kind = |change: &Change| match change {
        Change::Target(_, target) if target.state == UP => "up",
        Change::Target(_, target) if target.state == DOWN => "down",
        Change::Target(_, target) if target.state == FAILING => "failing",
        Change::Target(_, target) if target.state == REMOVED => "removed",
        Change::Target(..) => "no target",
        Change::Id(_, Some(_)) => "id",
        Change::Id(_, None) => "no id",
        Change::QuicServer(_, Some(_)) => "server id",
        Change::QuicServer(_, None) => "no server id",
        Change::AccessRule(_, Some(_)) => "rule",
        Change::AccessRule(_, None) => "no rule",
        Change::AccessLimit(_, Some(_)) => "limit",
        Change::AccessLimit(_, None) => "no limit",
        Change::GroupTarget(_, Some(_)) => "group target",
        Change::GroupTarget(_, None) => "no group target",
        Change::Table(..) => "table",
        Change::Ring(..) => "ring",
        Change::Vip(_, Some(_)) => "vip",
        Change::Vip(_, None) => "no vip",
        Change::Peer(_, Some(_)) => "peer",
        Change::Peer(_, None) => "no peer",
        Change::Derived(_) => "derived",
    };
    let mut kinds: Vec<&str> = changes.iter().map(kind).collect();
    kinds.dedup();
    kinds
}

#[test]
fn the_first_plan_writes_what_is_named_before_what_names_it() {
    let mut trace = Trace::start();
    let changes = trace.update(&config(&[1, 2])).unwrap();
    assert_eq!(kinds(&changes), ["up", "id", "table", "peer", "vip", "ring", "derived"]);
    let maps = &trace.plan.maps;
    let kind = |text: &str, port, protocol| {
        maps.vips[&VipName { address: text.parse().unwrap(), port, protocol }].kind
    };
    assert_eq!(kind("192.0.2.10", 443, 6), VipKind::Service as u8);
    assert_eq!(kind("192.0.2.10", 0, 0), VipKind::Address as u8);
    assert_eq!(kind("10.0.0.1", 7077, 17), VipKind::Steering as u8);
    let peer = maps.targets[&trace.index(102)];
    assert_eq!((peer.forwarding, peer.mac), (Forwarding::Steering as u8, hop(102).mac));
    assert_eq!(maps.peers.len(), 1);
    let ours = maps.ring.iter().filter(|&&owner| owner == 0).count();
    let theirs = maps.ring.iter().filter(|&&owner| owner == trace.index(102)).count();
    assert!(ours + theirs == RING_SIZE && ours > RING_SIZE / 3 && theirs > RING_SIZE / 3);
    assert!(trace.update(&config(&[1, 2])).unwrap().is_empty(), "nothing new, nothing written");
}

/// The longest timeout is an hour (established).
#[test]
fn an_index_is_given_again_only_when_nothing_can_hold_it() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    let of_2 = trace.index(2);
    trace.update(&config(&[1])).unwrap();
    assert!(trace.state(2) == REMOVED, "it keeps its flows");
    trace.update(&config(&[1, 3])).unwrap();
    assert_ne!(trace.index(3), of_2);
    trace.now += Duration::from_secs(3601);
    assert_eq!(kinds(&trace.update(&config(&[1, 3])).unwrap()), ["derived", "down"]);
    assert_eq!(trace.state(2), DOWN);
    trace.update(&config(&[1, 3, 4])).unwrap();
    assert_ne!(trace.index(4), of_2);
    trace.now += Duration::from_secs(3601);
    let changes = trace.update(&config(&[1, 3, 4])).unwrap();
    assert_eq!(kinds(&changes), ["no id", "no target"]);
    trace.update(&config(&[1, 3, 4, 5])).unwrap();
    assert_eq!(trace.index(5), of_2);
}

#[test]
fn who_comes_back_has_its_old_index() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    let of_2 = trace.index(2);
    trace.update(&config(&[1])).unwrap();
    trace.now += Duration::from_secs(3601);
    trace.update(&config(&[1])).unwrap();
    trace.update(&config(&[1, 2])).unwrap();
    assert_eq!((trace.index(2), trace.state(2)), (of_2, UP));
    assert!(trace.takes_flows(2));
}

#[test]
fn a_restart_finds_what_was_pinned() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2, 3])).unwrap();
    let before = trace.plan.clone();
    trace.plan = Plan::found(trace.plan.maps.clone());
    assert!(trace.update(&config(&[1, 2, 3])).unwrap().is_empty());
    assert_eq!(trace.plan, before);
}

#[test]
fn more_than_there_is_room_for_is_refused() {
    let mut trace = Trace::start();
    let mut small = config(&[1, 2]);
    small.sizes.targets = 4;
    trace.update(&small).unwrap();
    let mut more = config(&[1, 3]);
    more.sizes.targets = 4;
    assert_eq!(trace.update(&more), Err(Full { capacity: 3 }));
}

/// 10 s are 596.05 ticks of 16.777216 ms; 6000 a second are 100.7 a tick.
#[test]
fn settings_are_in_ticks() {
    let keys = Keys { seed: [1, 2], maglev_seed: 3, steering: [[4, 5], [0; 2]] };
    let settings = settings(&config(&[1]), &keys, &Maps::default());
    assert_eq!(
        (settings.syn_timeout, settings.learn.per_tick, settings.learn.burst),
        (596, 101, 6000)
    );
    assert_eq!((settings.steering_port, settings.peers), (7077u16.to_be(), 0));
    assert_eq!(IpAddr::from(settings.own4), IpAddr::from([10, 0, 0, 1]));
    assert_eq!((ticks(Duration::ZERO), ticks(Duration::MAX)), (1, u32::MAX));
    assert_eq!(format!("{keys:?}"), "Keys(..)");
}

/// The interfaces' addresses are received and sent from, those of the configuration received, the
/// next hops' sent from.
#[test]
fn frames_addresses_follow_the_interfaces() {
    let mac = |last| Mac([2, 0, 0, 0, 0, last]);
    let (received, sent) = (abi::MAC_RECEIVED, abi::MAC_SENT);
    let mut config = config(&[1]);
    config.balancer.accept_macs = vec![mac(9)];
    let mut trace = Trace::start();
    trace.update(&config).unwrap();
    assert!(trace.plan.maps.macs.is_empty(), "nothing is compared while they are not known");
    for last in [7, 8] {
        trace.macs = [("eth0.7".into(), LinkAddress { mac: mac(last), vlan: 7 })].into();
        trace.update(&config).unwrap();
        let at = |mac, vlan| LinkAddress { mac, vlan };
        let hops = (at(Mac([2; 6]), 0), sent);
        let wanted = [(at(mac(last), 7), received | sent), (at(mac(9), 0), received), hops].into();
        assert_eq!(trace.plan.maps.macs, wanted);
        let keys = Keys { seed: [0; 2], maglev_seed: 0, steering: [[0; 2]; 2] };
        let words = settings(&config, &keys, &trace.plan.maps).macs;
        assert!(words.contains(&(7 << 52 | u64::from(last) << 40 | 2 | received | sent)));
        assert_eq!(read_macs(&words), wanted, "as the next daemon finds them");
    }
    trace.macs.clear();
    trace.update(&config).unwrap();
    assert!(!trace.plan.maps.macs.is_empty());
}

/// Tokens are stored under the service with the least number; its targets stand for those of the
/// others.
#[test]
fn services_of_a_group_share_their_tokens() {
    let mut config = config(&[1, 2]);
    let mut second = Service {
        ports: Ports::One(80),
        name: "web2".into(),
        group: None,
        ..config.services[0].clone()
    };
    for (backend, number) in second.backends.iter_mut().zip(11..) {
        backend.id = id(number);
    }
    config.services.push(second);
    let mut trace = Trace::start();
    trace.update(&config).unwrap();
    assert!(trace.plan.maps.group_targets.is_empty());
    for service in &mut config.services {
        service.group = Some("g".into());
    }
    trace.update(&config).unwrap();
    let maps = &trace.plan.maps;
    let services = maps.vips.values().filter(|vip| vip.kind == VipKind::Service as u8);
    let groups: BTreeSet<u16> = services.map(|vip| vip.group).collect();
    assert_eq!(groups, BTreeSet::from([1]));
    let number = |service: usize| {
        u32::from(trace.plan.services.index(&config.services[service].key()).unwrap())
    };
    let other = if number(0) == 1 { 1 } else { 0 };
    assert_eq!(maps.group_targets.len(), 4);
    for backend in 0..2 {
        let [shared, own] = [1 - other, other].map(|service: usize| {
            trace.plan.targets.index(&config.services[service].backends[backend].id).unwrap()
        });
        assert_eq!(maps.group_targets[&(number(other) << 16 | u32::from(own))], shared);
        assert_eq!(maps.group_targets[&(number(other) << 16 | u32::from(shared))], own);
    }
}
