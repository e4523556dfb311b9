//! Traces: changes of the world, and the writes that follow.

use std::collections::BTreeMap;
use std::time::Duration;

use heddle_balancer_maps::abi::{Forwarding, STAMP_SHIFT, TargetState, VipKind};
use heddle_hashing::{MAGLEV_SIZE, RING_SIZE, maglev};

use super::*;
use crate::config::{Member, Ports, load};
use crate::health::State;
use crate::links::{LinkAddress, Macs};
use crate::mac::Mac;
use crate::neighbours::NextHop;

mod access;
mod ports;
mod quic;
mod shared;
mod shares;

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
        let changes = changes(&self.plan.maps, &next.maps);
        self.plan = next;
        Ok(changes)
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

/// A balancer that comes asks those before it; one that sees another come remembers the ring
/// without it.
#[test]
fn the_ring_before_the_last_change_is_known() {
    let mut comer = Trace::start();
    comer.update(&config(&[1])).unwrap();
    let other = comer.index(102);
    assert!(comer.plan.maps.former_ring.iter().all(|&owner| owner == other));
    let slots = || comer.plan.maps.ring.iter().zip(&comer.plan.maps.second_ring);
    assert!(slots().all(|(&first, &second)| [first, second].contains(&other) && first != second));

    let mut old = Trace::start();
    let both = std::mem::take(&mut old.balancers);
    old.balancers = vec![both[0].clone()];
    old.update(&config(&[1])).unwrap();
    old.balancers = both.clone();
    let changes = old.update(&config(&[1])).unwrap();
    assert!(kinds(&changes).contains(&"ring"));
    assert!(old.plan.maps.former_ring.iter().all(|&owner| owner == 0), "all was this one's");

    // After the other has left, the former ring is the one of both.
    let ring = old.plan.maps.ring.clone();
    old.balancers = vec![both[0].clone()];
    old.update(&config(&[1])).unwrap();
    assert_eq!(old.plan.maps.former_ring, ring);
}

#[test]
fn a_dead_backend_loses_its_slots_before_it_is_down() {
    let mut trace = Trace::start();
    let config = config(&[1, 2, 3]);
    trace.update(&config).unwrap();
    let (first, epoch) = (trace.table().0, trace.plan.maps.epoch);
    trace.health.insert(id(2), State::Down);
    let changes = trace.update(&config).unwrap();
    assert_eq!(kinds(&changes), ["table", "vip", "derived", "down"]);
    assert!(!trace.takes_flows(2) && trace.takes_flows(1) && trace.takes_flows(3));
    assert_eq!((trace.table().0, trace.plan.maps.epoch), (first + 1, epoch + 1));
    let vip = trace.plan.maps.vips.values().find(|vip| vip.id == 1).unwrap();
    assert_eq!(vip.table, (first + 1) * MAGLEV_SIZE);
    trace.health.insert(id(2), State::Up);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["up", "table", "vip", "derived"]);
    assert_eq!(trace.table().0, first, "the two tables take turns");
}

/// Datagrams have no connection that would end. From `drain.udp` on the target is as a removed one, and
/// as any when it is put back.
#[test]
fn a_backend_that_has_drained_for_long_loses_its_datagrams() {
    let mut trace = Trace::start();
    let text = config_text(&[1, 2]).replace("[[service]]", "[drain]\nudp = '30s'\n[[service]]");
    let config = load("lb.toml", &text).unwrap();
    trace.update(&config).unwrap();
    trace.drained.insert(id(2), true);
    trace.drained_since.insert(id(2), trace.now);
    trace.update(&config).unwrap();
    assert_eq!(trace.state(2), TargetState::Up as u8);
    trace.now += Duration::from_secs(29);
    assert!(trace.update(&config).unwrap().is_empty());
    trace.now += Duration::from_secs(1);
    trace.update(&config).unwrap();
    assert_eq!(trace.state(2), TargetState::Removed as u8);
    trace.drained.insert(id(2), false);
    trace.update(&config).unwrap();
    assert_eq!(trace.state(2), TargetState::Up as u8);
    assert!(trace.takes_flows(2));
}

/// A short failure changes one target and nothing else; a longer one changes the table.
#[test]
fn a_backend_that_fails_keeps_its_flows_for_a_while() {
    let mut trace = Trace::start();
    let health = "port = 443\nhealth = { kind = 'tcp', keep_flows = '10s' }\n";
    let config = load("lb.toml", &config_text(&[1, 2]).replace("port = 443\n", health)).unwrap();
    trace.update(&config).unwrap();
    let fail = |trace: &mut Trace| {
        trace.health.insert(id(2), State::Down);
        trace.down_since.insert(id(2), trace.now);
    };
    fail(&mut trace);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["table", "vip", "derived", "failing"]);
    assert!(trace.takes_flows(2));
    let index = u32::from(trace.index(2));
    let stamped = |trace: &Trace| {
        let (of_2, others): (Vec<u32>, _) =
            trace.table().1.iter().partition(|&&word| maglev::target(word) == index);
        let stamps: BTreeSet<u32> = of_2.iter().map(|word| word >> 16).collect();
        (stamps, others.iter().all(|word| word >> 16 == 0))
    };
    let now = |trace: &Trace| BTreeSet::from([ticks(trace.now) >> STAMP_SHIFT]);
    assert_eq!(stamped(&trace), (now(&trace), true), "flows that go elsewhere are asked for");
    trace.now += Duration::from_secs(60);
    trace.health.insert(id(2), State::Up);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["up", "table", "vip", "derived"]);
    assert_eq!(stamped(&trace), (now(&trace), true));

    fail(&mut trace);
    trace.update(&config).unwrap();
    trace.now += Duration::from_secs(10);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["table", "vip", "derived", "down"]);
    fail(&mut trace);
    assert!(trace.update(&config).unwrap().is_empty(), "it has lost its flows already");
}

/// Flows of slots that changed are asked for, all others are not.
#[test]
fn a_slot_that_changes_is_stamped() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    assert!(trace.table().1.iter().all(|word| word >> 16 == 0), "no flow is older than the table");
    let before = trace.table().1.to_vec();
    trace.update(&config(&[1, 2, 3])).unwrap();
    let stamp = ticks(trace.now) >> abi::STAMP_SHIFT;
    let mut changed = 0;
    for (old, new) in before.iter().zip(trace.table().1) {
        let same = old == new;
        changed += usize::from(!same);
        assert!(same || (new >> 16 == stamp && maglev::target(*new) != maglev::target(*old)));
    }
    assert!(changed > before.len() / 4 && changed < before.len() / 2, "{changed}");
    trace.now += Duration::from_secs(500);
    assert!(trace.update(&config(&[1, 2, 3])).unwrap().is_empty());
}

#[test]
fn a_drained_backend_keeps_its_flows_and_gets_no_new_ones() {
    let mut trace = Trace::start();
    let config = config(&[1, 2]);
    trace.update(&config).unwrap();
    trace.drained.insert(id(1), true);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["table", "vip", "derived"]);
    assert!(trace.state(1) == UP && !trace.takes_flows(1));
    trace.drained.insert(id(1), false);
    trace.update(&config).unwrap();
    assert!(trace.takes_flows(1));
}

/// A balancer that has changed nothing asks for all flows that it does not know while another one
/// has: `established` is an hour.
#[test]
fn a_change_at_another_balancer_makes_this_one_ask() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    let flags = |trace: &Trace| (trace.plan.maps.tables_changed, trace.plan.maps.ask_always);
    assert_eq!(flags(&trace), (false, false));
    trace.peer_tables_changed = true;
    assert_eq!(kinds(&trace.update(&config(&[1, 2])).unwrap()), ["derived"]);
    assert_eq!(flags(&trace), (false, true));
    // It loses the same backend: the stamps tell of which flows it has to ask.
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (true, false));
    // Stamps do not tell of flows that were placed past a backend that seemed dead there.
    trace.peer_flows_unexplained = true;
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (true, true));
    trace.peer_flows_unexplained = false;
    trace.now += Duration::from_secs(3602);
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (false, true));
    trace.peer_tables_changed = false;
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (false, false));
}

/// Changes before the first packets move no flows: the next hops and states of backends that are
/// found one by one.
#[test]
fn a_balancer_that_has_only_just_come_has_changed_nothing() {
    let mut trace = Trace::start();
    trace.has_placed_flows = false;
    trace.health = BTreeMap::from([(id(1), State::Down)]);
    trace.update(&config(&[1, 2])).unwrap();
    trace.health.clear();
    trace.update(&config(&[1, 2])).unwrap();
    trace.has_placed_flows = true;
    trace.update(&config(&[1, 2])).unwrap();
    assert!(!trace.plan.maps.tables_changed);
    assert!(trace.takes_flows(1) && trace.takes_flows(2));
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
fn when_a_balancer_dies_its_slots_are_ours() {
    let mut trace = Trace::start();
    let config = config(&[1]);
    trace.update(&config).unwrap();
    trace.balancers.retain(|member| member.id == id(101));
    let changes = trace.update(&config).unwrap();
    assert_eq!(kinds(&changes), ["ring", "derived", "down"]);
    assert!(trace.plan.maps.ring.iter().all(|&owner| owner == 0));
    assert!(changes.contains(&Change::Derived(trace.plan.maps.derived())));
    assert_eq!(trace.plan.maps.peers.len(), 1, "its program may go on without its daemon");
}

#[test]
fn who_cannot_be_reached_gets_no_flows_and_a_way_once_known_is_kept() {
    let mut trace = Trace::start();
    let config = config(&[1, 2]);
    let way = trace.next_hops.remove(&IpAddr::from([10, 0, 1, 2])).unwrap();
    trace.update(&config).unwrap();
    assert!(trace.state(2) == DOWN && !trace.takes_flows(2));
    trace.next_hops.insert([10, 0, 1, 2].into(), way);
    trace.update(&config).unwrap();
    assert!(trace.state(2) == UP && trace.takes_flows(2));
    trace.next_hops.clear();
    assert!(trace.update(&config).unwrap().is_empty());
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

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// The maps as the data plane sees them while they are written.
    #[derive(Default)]
    struct Seen {
        targets: BTreeMap<u16, abi::Target>,
        tables: BTreeMap<u32, Vec<u32>>,
        vips: BTreeMap<VipName, abi::Vip>,
    }

    impl Seen {
        fn write(&mut self, change: &Change) {
            match change {
                Change::Target(index, target) => drop(self.targets.insert(*index, *target)),
                Change::Table(number, table) => drop(self.tables.insert(*number, table.clone())),
                Change::Vip(name, Some(vip)) => drop(self.vips.insert(*name, *vip)),
                Change::Vip(name, None) => drop(self.vips.remove(name)),
                _ => {}
            }
        }

        /// Every backend that a new flow could be sent to is up.
        fn is_whole(&self) -> bool {
            let services = self.vips.values().filter(|vip| vip.kind == VipKind::Service as u8);
            services.map(|vip| &self.tables[&(vip.table / MAGLEV_SIZE)]).all(|table| {
                let distinct: BTreeSet<u32> =
                    table.iter().map(|&word| maglev::target(word)).filter(|&at| at != 0).collect();
                distinct.into_iter().all(|target| self.targets[&(target as u16)].state == UP)
            })
        }
    }

    /// An event: the backends in the file, those down, those drained, and the seconds that pass.
    fn step() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<u8>, u64)> {
        let some = || prop::sample::subsequence(vec![1, 2, 3, 4, 5], 0..=5);
        (some(), some(), some(), prop_oneof![0..100u64, 3000..8000u64])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn no_write_sends_new_flows_astray_and_no_index_changes_hands_early(
            steps in prop::collection::vec(step(), 1..12)
        ) {
            let mut trace = Trace::start();
            let mut seen = Seen::default();
            let mut held = BTreeMap::<u16, (WireId, Duration)>::new();
            for (named, down, drained, seconds) in steps {
                trace.now += Duration::from_secs(seconds);
                trace.health = down.iter().map(|&n| (id(n.into()), State::Down)).collect();
                trace.drained = drained.iter().map(|&n| (id(n.into()), true)).collect();
                for change in trace.update(&config(&named)).unwrap() {
                    seen.write(&change);
                    prop_assert!(seen.is_whole(), "{:?}", kinds(&[change]));
                }
                for &number in &named {
                    let (index, owner) = (trace.index(number.into()), id(number.into()));
                    let (last, when) = held.insert(index, (owner, trace.now)).unwrap_or((owner, trace.now));
                    let rested = trace.now - when > Duration::from_secs(3600);
                    prop_assert!(last == owner || rested, "{index}: {last}, then {owner}");
                }
            }
        }
    }
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

/// The choices for packets to the address of the configuration's services that are for none of
/// them.
fn choices(config: &Config) -> u32 {
    let mut trace = Trace::start();
    trace.update(config).unwrap();
    let alone = VipName { address: [192, 0, 2, 10].into(), port: 0, protocol: 0 };
    trace.plan.maps.vips[&alone].choices.into()
}

/// A packet that cannot be read has no port: one service at an address decides for all of them.
#[test]
fn unreadable_packets_are_dropped_where_a_service_says_so() {
    let mut config = config(&[1]);
    assert_eq!(choices(&config), 0);
    config.services[0].unparsable = crate::config::Unparsable::Drop;
    config.services.push(Service {
        ports: Ports::One(80),
        name: "web2".into(),
        ..config.services[0].clone()
    });
    config.services[1].unparsable = crate::config::Unparsable::Pass;
    assert_eq!(choices(&config), abi::DROPS_UNPARSABLE);
}

#[test]
fn one_service_chooses_for_closed_ports_and_echo_of_its_address() {
    use crate::config::{ClosedPorts, Echo};
    let mut config = config(&[1]);
    config.services.push(Service {
        ports: Ports::One(80),
        name: "web2".into(),
        ..config.services[0].clone()
    });
    for (closed_ports, echo, wanted) in [
        (ClosedPorts::Pass, Echo::Pass, 0),
        (ClosedPorts::Drop, Echo::Pass, abi::DROPS_CLOSED),
        (ClosedPorts::Refuse, Echo::Drop, abi::REFUSES_CLOSED | abi::DROPS_ECHO),
        (ClosedPorts::Pass, Echo::Answer, abi::ANSWERS_ECHO),
    ] {
        config.services[0].closed_ports = Some(closed_ports);
        config.services[1].echo = Some(echo);
        assert_eq!(choices(&config), wanted);
        let keys = Keys { seed: [1, 2], maglev_seed: 3, steering: [[0; 2]; 2] };
        let settings = settings(&config, &keys, &Maps::default());
        assert_eq!(settings.closes_ports != 0, closed_ports != ClosedPorts::Pass);
    }
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
