//! A reload whose writes fail, one after the other, on maps that a test makes.

use std::net::IpAddr;

use heddle_balancer_maps::Error;
use heddle_balancer_maps::abi::{MAGLEV_STRIDE, Settings, Target, VipKind};
use heddle_hashing::maglev;

use super::*;
use crate::daemon::testing::hop;
use crate::plan::{Change, Table};

mod slow_start;

/// Maps in memory whose writes fail from some moment on.
#[derive(Clone, Debug, Default, PartialEq)]
struct TestMaps {
    settings: Settings,
    maps: plan::Maps,
    /// Writes that still succeed.
    successes: usize,
    /// Failures after them; then all is well again.
    failures: usize,
}

impl TestMaps {
    fn attempt(&mut self) -> Result<(), Error> {
        if self.successes > 0 {
            self.successes -= 1;
        } else if self.failures > 0 {
            self.failures -= 1;
            return Err(Error::Missing("mercy"));
        }
        Ok(())
    }

    /// The contents that a packet can meet: the tables that VIPs use, and no others.
    fn contents(&self) -> Contents<'static> {
        let mut maps = self.maps.clone();
        let services = maps.vips.values().filter(|vip| vip.kind == VipKind::Service as u8);
        let used: Vec<u32> = services.map(|vip| vip.table / MAGLEV_STRIDE).collect();
        maps.tables.retain(|number, _| used.contains(number));
        Contents { settings: self.settings, maps: Cow::Owned(maps) }
    }
}

impl DataPlane for TestMaps {
    fn change(&mut self, change: &Change) -> Result<(), Error> {
        self.attempt()?;
        let maps = &mut self.maps;
        match change.clone() {
            Change::Target(index, target) if target == Target::default() => {
                maps.targets.remove(&index);
            }
            Change::Target(index, target) => drop(maps.targets.insert(index, target)),
            Change::Id(id, Some(index)) => drop(maps.ids.insert(id, index)),
            Change::Id(id, None) => drop(maps.ids.remove(&id)),
            Change::QuicServer(name, Some(index)) => drop(maps.quic_servers.insert(name, index)),
            Change::QuicServer(name, None) => drop(maps.quic_servers.remove(&name)),
            Change::GroupTarget(key, Some(index)) => drop(maps.group_targets.insert(key, index)),
            Change::GroupTarget(key, None) => drop(maps.group_targets.remove(&key)),
            Change::AccessRule(name, Some(rule)) => drop(maps.access_rules.insert(name, rule)),
            Change::AccessRule(name, None) => drop(maps.access_rules.remove(&name)),
            Change::AccessLimit(service, Some(limit)) => {
                maps.access_limits.insert(service, limit);
            }
            Change::AccessLimit(service, None) => drop(maps.access_limits.remove(&service)),
            Change::Table(number, slots) => {
                let live = maps.vips.values().any(|vip| {
                    vip.kind == VipKind::Service as u8 && vip.table / MAGLEV_STRIDE == number
                });
                let same = maps.tables.get(&number) == Some(&slots);
                assert!(!live || same, "packets see half of table {number}");
                maps.tables.insert(number, slots);
            }
            Change::Ring([ring, former_ring, second_ring]) => {
                (maps.ring, maps.former_ring, maps.second_ring) = (ring, former_ring, second_ring);
            }
            Change::Vip(name, Some(vip)) => drop(maps.vips.insert(name, vip)),
            Change::Vip(name, None) => drop(maps.vips.remove(&name)),
            Change::Peer(address, Some(index)) => drop(maps.peers.insert(address, index)),
            Change::Peer(address, None) => drop(maps.peers.remove(&address)),
            Change::Derived(derived) => {
                maps.epoch = derived.epoch;
                (maps.tables_changed, maps.ask_always) =
                    (derived.tables_changed, derived.ask_always);
                self.settings = derived.on(self.settings);
            }
        }
        Ok(())
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<(), Error> {
        self.attempt()?;
        self.settings = *settings;
        Ok(())
    }

    fn read(&self) -> Result<Contents<'static>, Error> {
        Ok(self.contents())
    }
}

/// The contents as packets meet them: in whatever place a table is, whatever the epoch, and
/// whenever a slot has changed.
fn effect(contents: Contents<'_>) -> Contents<'_> {
    let Contents { mut settings, maps } = contents;
    let mut maps = maps.into_owned();
    settings.epoch = 0;
    maps.epoch = 0;
    let targets = |table: Table| table.iter().copied().map(maglev::target).collect();
    let tables = maps.tables.into_iter();
    maps.tables = tables.map(|(number, table)| (number / 2, targets(table))).collect();
    maps.vips.values_mut().for_each(|vip| vip.table /= 2 * MAGLEV_STRIDE);
    Contents { settings, maps: Cow::Owned(maps) }
}

const BEFORE: &str = "
    balancer = { name = 'lb1', interfaces = ['eth0'] }
    balancers = [{ name = 'lb1', address = '10.0.0.1' }, { name = 'lb2', address = '10.0.0.2' }]
    steering = { secret_file = 's' }
    [[service]]
    name = 'web'
    address = '192.0.2.10'
    port = 443
    health = { kind = 'tcp' }
    backend = [{ name = 'be1', address = '10.0.1.1' }, { name = 'be2', address = '10.0.1.2' }]
";
/// Another timeout, a backend and a service more, one backend less.
const AFTER: &str = "
    balancer = { name = 'lb1', interfaces = ['eth0'] }
    balancers = [{ name = 'lb1', address = '10.0.0.1' }, { name = 'lb2', address = '10.0.0.2' }]
    steering = { secret_file = 's' }
    timeouts = { established = '2h' }
    [[service]]
    name = 'web'
    address = '192.0.2.10'
    port = 443
    health = { kind = 'tcp' }
    backend = [{ name = 'be1', address = '10.0.1.1' }, { name = 'be3', address = '10.0.1.3' }]
    [[service]]
    name = 'dns'
    address = '192.0.2.11'
    port = 53
    backend = [{ name = 'be3', address = '10.0.1.3' }]
";

fn config(text: &str) -> Config {
    crate::config::load("lb.toml", text).unwrap()
}

fn keys(first: u64) -> Keys {
    Keys { seed: [1, 2], maglev_seed: 3, steering: [[first, 9], [0; 2]] }
}

/// A balancer that runs with [`BEFORE`], be1 drained and be2 up, and its maps.
fn running() -> (State, TestMaps) {
    let inputs = Inputs::new(config(BEFORE), keys(4));
    let mut state = State::new(inputs, Plan::default(), None);
    let addresses = (1..4).flat_map(|n| [[10, 0, 1, n], [10, 0, 0, n]].map(IpAddr::from));
    state.next_hops = addresses.map(|address| (address, Ok(hop(address)))).collect();
    let ids: Vec<_> = state.inputs.config.services[0].backends.iter().map(|b| b.id).collect();
    state.inputs.drained.insert(ids[0], true);
    state.set_health("web/be2", HealthState::Up);
    let mut maps = TestMaps::default();
    maps.set_settings(&Contents::new(&state.inputs, &state.plan.maps).settings).unwrap();
    state.try_reconcile(&mut maps).unwrap();
    assert_eq!(maps.maps, state.plan.maps);
    (state, maps)
}

fn reloaded(state: &Inputs) -> Inputs {
    state.with(config(AFTER), keys(5))
}

/// Each write once is the one that fails, the last included.
#[test]
fn a_reload_that_fails_at_any_write_leaves_all_as_it_was() {
    let (state, maps) = running();
    let mut writes = 0;
    loop {
        let (mut state_now, mut maps_now) = (state.clone(), maps.clone());
        (maps_now.successes, maps_now.failures) = (writes, 1);
        match state_now.replace_inputs(reloaded(&state.inputs), &mut maps_now) {
            Ok(()) => break,
            Err(error) => assert!(error.to_string().contains("mercy"), "{error}"),
        }
        assert_eq!(state_now.inputs, state.inputs, "configuration, keys, health and drains");
        assert_eq!(state_now.plan, state.plan);
        assert_eq!(state_now.up_since, state.up_since, "nothing begins slowly");
        assert_eq!(maps_now.contents(), maps.contents(), "after {writes} writes");
        writes += 1;
    }
    assert!(writes > 10, "{writes}");
}

#[test]
fn a_reload_takes_over_all_of_the_new_configuration() {
    let (mut state, mut maps) = running();
    let drained = state.inputs.drained.clone();
    state.replace_inputs(reloaded(&state.inputs), &mut maps).unwrap();
    assert_eq!((&state.inputs.config, state.inputs.keys), (&config(AFTER), keys(5)));
    assert_eq!(state.inputs.drained, drained, "be1 is still there");
    assert!(state.inputs.health.is_empty(), "be2 is not");
    assert_eq!(maps.contents(), Contents::new(&state.inputs, &state.plan.maps));
}

/// The way back fails, too: the next reconciliation finds out what the maps hold.
#[test]
fn maps_between_two_plans_are_repaired_by_the_next_reconciliation() {
    let (state, maps) = running();
    for writes in 0.. {
        let (mut state_now, mut maps_now) = (state.clone(), maps.clone());
        (maps_now.successes, maps_now.failures) = (writes, 2);
        if state_now.replace_inputs(reloaded(&state.inputs), &mut maps_now).is_ok() {
            break;
        }
        assert_eq!(state_now.inputs, state.inputs);
        state_now.reconcile(&mut maps_now);
        assert_eq!(state_now.reconcile_error(), None);
        assert!(effect(maps_now.contents()) == effect(maps.contents()), "after {writes} writes");
    }
}

/// A reload is rolled back to maps that an earlier failed write had left between two plans.
#[test]
fn a_failed_reload_does_not_hide_an_earlier_failed_write() {
    let (state, maps) = running();
    for writes in 0.. {
        let (mut state_now, mut maps_now) = (state.clone(), maps.clone());
        state_now.set_health("web/be2", HealthState::Down);
        (maps_now.successes, maps_now.failures) = (writes, 1);
        if state_now.try_reconcile(&mut maps_now).is_ok() {
            break;
        }
        (maps_now.successes, maps_now.failures) = (0, 1);
        state_now.replace_inputs(reloaded(&state.inputs), &mut maps_now).unwrap_err();
        state_now.set_health("web/be2", HealthState::Up);
        state_now.reconcile(&mut maps_now);
        assert_eq!(state_now.reconcile_error(), None);
        assert!(effect(maps_now.contents()) == effect(maps.contents()), "after {writes} writes");
    }
}

#[test]
fn a_write_that_fails_is_known_until_one_succeeds() {
    let (mut state, mut maps) = running();
    state.set_health("web/be2", HealthState::Down);
    maps.failures = 2;
    for _ in 0..2 {
        state.reconcile(&mut maps);
        assert!(state.reconcile_error().is_some_and(|error| error.contains("mercy")));
    }
    state.reconcile(&mut maps);
    assert_eq!(state.reconcile_error(), None);
    assert_eq!(maps.contents(), Contents::new(&state.inputs, &state.plan.maps));
}

/// A reload that does not fit is refused before anything is written.
#[test]
fn a_reload_without_room_writes_nothing() {
    let (mut state, mut maps) = running();
    let before = (state.inputs.clone(), maps.clone());
    let mut inputs = reloaded(&state.inputs);
    inputs.config.sizes.services = 1;
    let error = state.replace_inputs(inputs, &mut maps).unwrap_err();
    assert!(matches!(error, CoreError::Full(_)), "{error}");
    assert_eq!((state.inputs, maps), before);
}

/// A write has failed; before the next attempt another backend goes down. Packets never meet half
/// of a table, and flows never take the tables or the ring for those that they have registered
/// with.
#[test]
fn after_a_failed_write_the_next_plan_starts_from_what_the_maps_hold() {
    let (state, maps) = running();
    for writes in 0.. {
        let (mut state, mut maps) = (state.clone(), maps.clone());
        let before = maps.contents();
        state.set_health("web/be2", HealthState::Down);
        (maps.successes, maps.failures) = (writes, 1);
        if state.try_reconcile(&mut maps).is_ok() {
            break;
        }
        let between = maps.contents();
        state.inputs.drained.clear();
        state.reconcile(&mut maps);
        assert_eq!(state.reconcile_error(), None);
        let after = maps.contents();
        assert_eq!(after, Contents::new(&state.inputs, &state.plan.maps), "after {writes} writes");
        assert_ne!(after.maps.tables, before.maps.tables);
        for seen in [before, between] {
            let same = seen.maps.tables.values().eq(after.maps.tables.values());
            assert!(same || seen.maps.epoch != after.maps.epoch, "after {writes} writes");
        }
    }
}

/// A backend that has left never had a next hop, and keeps its index.
#[test]
fn only_what_is_configured_is_waited_for_and_named() {
    let mut state = State::new(Inputs::new(config(BEFORE), keys(4)), Plan::default(), None);
    let mut maps = TestMaps::default();
    state.try_reconcile(&mut maps).unwrap();
    let mut without = state.without_next_hop();
    without.sort();
    assert_eq!(without, ["be1", "be2", "lb2"]);
    let hops = [[10, 0, 0, 2], [10, 0, 1, 1], [10, 0, 1, 3]].map(IpAddr::from);
    state.next_hops = hops.map(|address| (address, Ok(hop(address)))).into();
    state.try_reconcile(&mut maps).unwrap();
    assert_eq!(state.without_next_hop(), ["be2"]);
    state.replace_inputs(reloaded(&state.inputs), &mut maps).unwrap();
    assert_eq!(state.without_next_hop(), [""; 0]);
}

#[test]
fn the_time_of_a_backend_is_its_drains_its_checks_or_its_own() {
    let (mut state, _) = running();
    let [drained, up] = [0, 1].map(|index| state.inputs.config.services[0].backends[index].id);
    let minute = Duration::from_secs(60);
    state.started = Instant::now().checked_sub(minute).unwrap();
    assert!(state.since(up, None) >= minute, "there since the start");
    state.up_since.insert(up, minute);
    assert!(state.since(up, None) < minute, "added now");
    assert_eq!(state.since(up, Some(2 * minute)), 2 * minute, "checked for longer");
    state.drained_since.insert(drained, minute);
    assert!(state.since(drained, Some(2 * minute)) < minute, "drained now");
}

#[test]
fn a_backend_that_has_left_keeps_its_name_until_it_comes_back() {
    let (mut state, mut maps) = running();
    let left = state.inputs.config.services[0].backends[1].id;
    state.replace_inputs(reloaded(&state.inputs), &mut maps).unwrap();
    let former = Former { service: "web".into(), name: "be2".into() };
    assert_eq!(state.former, BTreeMap::from([(left, former)]));
    let back = state.inputs.with(config(BEFORE), keys(4));
    state.replace_inputs(back, &mut maps).unwrap();
    assert!(!state.former.contains_key(&left));
}

/// A lone balancer has no heartbeats that would tell of its carrier.
#[test]
fn a_lone_balancer_is_cut_off_without_a_carrier() {
    let lone = "balancer = { name = 'lb1', interfaces = ['eth0'] }";
    let mut state = State::new(Inputs::new(config(lone), keys(4)), Plan::default(), None);
    state.note_isolation();
    assert_eq!(state.isolation(), None);
    state.has_own_carrier = false;
    state.note_isolation();
    assert!(state.isolation().is_some_and(|cause| cause.starts_with("cut off: the link is down")));
    state.has_own_carrier = true;
    state.note_isolation();
    assert_eq!(state.isolation(), None);
}

/// A service whose health check leaves the file: nobody would say that its backends are up again.
#[test]
fn a_backend_that_is_no_longer_checked_serves() {
    let unchecked = BEFORE.replace("health = { kind = 'tcp' }", "");
    let mut state = State::new(Inputs::new(config(BEFORE), keys(4)), Plan::default(), None);
    state.set_health("web/be2", HealthState::Down);
    assert_eq!(state.inputs.health.len(), 1);
    assert_eq!(state.inputs.with(config(BEFORE), keys(4)).health.len(), 1, "still checked");
    state.inputs = state.inputs.with(config(&unchecked), keys(4));
    assert!(state.inputs.health.is_empty());
    state.set_health("web/be2", HealthState::Down);
    assert!(state.inputs.health.is_empty(), "a result that was under way");
}
