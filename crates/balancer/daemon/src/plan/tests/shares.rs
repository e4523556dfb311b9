//! Shares of new connections: slow start, sorry backends, maintenance.

use super::*;

/// The share of the table's slots that name a backend.
fn share(trace: &Trace, number: u32) -> f64 {
    let (_, table) = trace.table();
    let index = u32::from(trace.index(number));
    table.iter().filter(|&&word| maglev::target(word) == index).count() as f64 / table.len() as f64
}

#[test]
fn the_share_of_a_backend_that_comes_up_grows_with_slow_start() {
    let mut trace = Trace::start();
    let text = config_text(&[1, 2]).replace("port = 443\n", "port = 443\nslow_start = '100s'\n");
    let config = load("lb.toml", &text).unwrap();
    trace.up_since.insert(id(2), trace.now);
    let mut share_after = |seconds: u64| {
        trace.now = Duration::from_secs(1000 + seconds);
        trace.update(&config).unwrap();
        share(&trace, 2)
    };
    // n parts of ten against ten: n / (10 + n).
    for (seconds, share) in
        [(0, 1.0 / 11.0), (19, 1.0 / 11.0), (50, 5.0 / 15.0), (100, 0.5), (500, 0.5)]
    {
        assert!((share_after(seconds) - share).abs() < 0.001, "after {seconds} s");
    }
}

#[test]
fn without_slow_start_it_has_its_share_at_once() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    let before = trace.plan.maps.tables.clone();
    trace.up_since.insert(id(2), trace.now);
    trace.update(&config(&[1, 2])).unwrap();
    assert_eq!(trace.plan.maps.tables, before);
}

#[test]
fn a_sorry_backend_gets_connections_while_no_other_is_up() {
    let mut trace = Trace::start();
    let text = config_text(&[1, 2]).replace("id = 2\n", "id = 2\nsorry = true\n");
    let text = text.replace("port = 443\n", "port = 443\nhealth = { kind = 'tcp' }\n");
    let config = load("lb.toml", &text).unwrap();
    trace.update(&config).unwrap();
    assert_eq!([1, 2].map(|number| trace.takes_flows(number)), [true, false]);
    trace.health.insert(id(1), State::Down);
    trace.down_since.insert(id(1), trace.now);
    trace.update(&config).unwrap();
    assert_eq!(trace.state(1), FAILING, "it keeps its flows");
    assert_eq!([1, 2].map(|number| trace.takes_flows(number)), [false, true]);
    trace.health.insert(id(2), State::Down);
    trace.down_since.insert(id(2), trace.now);
    trace.update(&config).unwrap();
    assert!(trace.takes_flows(1), "none is up: as without");
    trace.health.clear();
    trace.down_since.clear();
    trace.update(&config).unwrap();
    assert_eq!([1, 2].map(|number| trace.takes_flows(number)), [true, false]);
}

#[test]
fn a_backend_in_maintenance_is_down_at_once() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    assert_eq!(trace.state(2), UP);
    let text = config_text(&[1, 2]).replace("id = 2\n", "id = 2\nstate = 'maintenance'\n");
    trace.update(&load("lb.toml", &text).unwrap()).unwrap();
    assert_eq!((trace.state(2), trace.takes_flows(2), trace.takes_flows(1)), (DOWN, false, true));
}
