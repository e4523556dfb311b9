//! The moments from which `slow_start` counts, and the tables that follow.

use super::*;

/// Backend be2 and the other one, with a slow start of 100 s.
fn slowly(text: &str) -> Config {
    config(&text.replace("port = 443\n", "port = 443\n    slow_start = '100s'\n"))
}

/// A balancer that has just started, both backends up.
fn started(config: Config) -> (State, TestMaps) {
    let (mut state, _) = running();
    state.inputs = Inputs::new(config, keys(4));
    state.set_health("web/be1", HealthState::Up);
    state.set_health("web/be2", HealthState::Up);
    state.plan = Plan::default();
    let mut maps = TestMaps::default();
    state.try_reconcile(&mut maps).unwrap();
    (state, maps)
}

/// The share of a backend of the first service in the table that packets meet.
fn share(state: &State, maps: &TestMaps, name: &str) -> f64 {
    let service = &state.inputs.config.services[0];
    let id = service.backends.iter().find(|backend| backend.name == name).unwrap().id;
    let index = u32::from(maps.maps.ids[&id]);
    let vips = maps.maps.vips.values();
    let vip = vips.into_iter().find(|vip| vip.id == 1).unwrap();
    let table = &maps.maps.tables[&(vip.table / MAGLEV_STRIDE)];
    table.iter().filter(|&&word| maglev::target(word) == index).count() as f64 / table.len() as f64
}

/// Time passes, and the daemon looks again.
fn after(seconds: u64, state: &mut State, maps: &mut TestMaps) {
    state.started -= Duration::from_secs(seconds);
    state.try_reconcile(maps).unwrap();
}

/// n parts of ten against ten are n / (10 + n).
#[track_caller]
fn grows(state: &mut State, maps: &mut TestMaps, name: &str) {
    for (seconds, parts) in [(0, 1.0), (45, 4.0), (45, 9.0), (15, 10.0)] {
        after(seconds, state, maps);
        let (share, wanted) = (share(state, maps, name), parts / (10.0 + parts));
        assert!((share - wanted).abs() < 0.001, "{parts} parts: {share}");
    }
}

#[test]
fn the_start_of_the_daemon_begins_nothing_slowly() {
    let (state, maps) = started(slowly(BEFORE));
    assert!((share(&state, &maps, "be2") - 0.5).abs() < 0.001);
}

#[test]
fn a_backend_that_is_up_again_begins_slowly() {
    let (mut state, mut maps) = started(slowly(BEFORE));
    state.set_health("web/be2", HealthState::Down);
    after(60, &mut state, &mut maps);
    assert!(share(&state, &maps, "be2") == 0.0);
    state.set_health("web/be2", HealthState::Up);
    grows(&mut state, &mut maps, "be2");
}

#[test]
fn a_backend_that_is_added_begins_slowly_and_those_that_were_there_do_not() {
    let (mut state, mut maps) = started(slowly(BEFORE));
    let inputs = state.inputs.with(slowly(AFTER), keys(4));
    state.replace_inputs(inputs, &mut maps).unwrap();
    assert_eq!(state.up_since.len(), 2, "be3 of both services, and be1 of none");
    grows(&mut state, &mut maps, "be3");
}

#[test]
fn a_backend_that_leaves_maintenance_begins_slowly() {
    let away = BEFORE.replace("'10.0.1.2' }", "'10.0.1.2', state = 'maintenance' }");
    let (mut state, mut maps) = started(slowly(&away));
    assert!(share(&state, &maps, "be2") == 0.0);
    let inputs = state.inputs.with(slowly(BEFORE), keys(4));
    state.replace_inputs(inputs, &mut maps).unwrap();
    grows(&mut state, &mut maps, "be2");
}

#[test]
fn a_reload_in_between_changes_nothing() {
    let (mut state, mut maps) = started(slowly(BEFORE));
    state.set_health("web/be2", HealthState::Down);
    state.set_health("web/be2", HealthState::Up);
    after(55, &mut state, &mut maps);
    let inputs = state.inputs.with(slowly(BEFORE), keys(4));
    state.replace_inputs(inputs, &mut maps).unwrap();
    assert!((share(&state, &maps, "be2") - 5.0 / 15.0).abs() < 0.001);
}
