//! Names to numbers, and what is said of names that are not there.

use std::net::IpAddr;
use std::time::Duration;

use heddle_balancer_maps::abi::FlowState;
use heddle_balancer_maps::maps::Flow;

use super::backends::Serving;
use super::connections::Wanted;
use super::status::{Fill, down, nearly_full, without_backends};
use super::*;
use crate::admin::{BackendStatus, Filter};
use crate::daemon::names::Former;
use crate::daemon::testing::World;
use crate::health::State;

fn flow(client: u8, target: u16, token: Option<u32>) -> Flow {
    Flow {
        client: IpAddr::from([198, 51, 100, client]),
        port: 4000,
        service: 1,
        token,
        target,
        state: FlowState::Established,
        flags: 0,
        epoch: 0,
        seen: 1,
    }
}

#[test]
fn a_filter_lets_through_what_has_all_of_it() {
    let world = World::start();
    let flows = [
        flow(1, world.index("be1"), Some(7)),
        flow(2, world.index("be1"), None),
        flow(1, world.index("be2"), Some(7)),
    ];
    let through = |filter: Filter| {
        let wanted = Wanted::new(&filter, &world.names()).unwrap();
        flows.each_ref().map(|flow| wanted.has(flow))
    };
    let none = Filter::default();
    assert_eq!(through(none.clone()), [true, true, true]);
    let web = Filter { service: Some("web".into()), ..none.clone() };
    assert_eq!(through(web), [true, true, true]);
    let be1 = Filter { backend: Some("be1".into()), ..none.clone() };
    assert_eq!(through(be1.clone()), [true, true, false]);
    assert_eq!(through(Filter { token: Some(7), ..be1 }), [true, false, false]);
    let client = Filter { client: Some([198, 51, 100, 1].into()), ..none };
    assert_eq!(through(client), [true, false, true]);
}

#[test]
fn who_is_not_there_is_guessed_at() {
    let config = World::start().config;
    let said = |service, backend| named_backends(&config, service, backend).unwrap_err();
    let problem = said(None, "be11");
    assert_eq!(problem.kind, ProblemKind::NotFound);
    assert_eq!(problem.message, "no backend is called be11; did you mean be1?");
    assert_eq!(said(None, "x").message, "no backend is called x; there are: be1, be2");
    assert_eq!(said(Some("wep"), "be1").message, "no service is called wep; did you mean web?");
    assert_eq!(named_backends(&config, Some("web"), "be1").unwrap().len(), 1);
    let unknown = Filter { backend: Some("be9".into()), ..Filter::default() };
    let world = World::start();
    assert_eq!(Wanted::new(&unknown, &world.names()).unwrap_err().kind, ProblemKind::NotFound);
}

#[test]
fn flows_of_a_backend_that_has_left_are_found_by_its_name_and_address() {
    let mut world = World::start();
    let index = world.index("be1");
    let left = world.config.services[0].backends.remove(0);
    assert_eq!(world.names().described(index), "10.0.1.1 (gone)", "of the daemon before");
    let former = Former { service: "web".into(), name: "be1".into() };
    world.former.insert(left.id, former);
    assert_eq!(world.names().described(index), "be1 (gone)");
    let filter = |service: Option<&str>, backend: &str| Filter {
        service: service.map(str::to_owned),
        backend: Some(backend.into()),
        ..Filter::default()
    };
    for filter in [filter(None, "be1"), filter(Some("web"), "be1"), filter(None, "10.0.1.1")] {
        let wanted = Wanted::new(&filter, &world.names()).unwrap();
        assert!(wanted.has(&flow(1, index, None)), "{filter:?}");
        assert!(!wanted.has(&flow(1, world.index("be2"), None)), "{filter:?}");
    }
    let unknown = Wanted::new(&filter(None, "be9"), &world.names()).unwrap_err();
    assert_eq!(unknown.kind, ProblemKind::NotFound);
}

#[test]
fn a_service_without_a_backend_is_warned_of() {
    let status = |service: &str, health, draining| BackendStatus {
        service: service.into(),
        name: "be1".into(),
        address: IpAddr::from([10, 0, 1, 1]),
        weight: 1,
        health,
        since: Duration::ZERO,
        reason: None,
        draining,
        sorry: false,
        unreachable: None,
        flows: 0,
        packets: 0,
        bytes: 0,
    };
    let backends = [
        status("dns", State::Up, false),
        status("dns", State::Down, false),
        status("web", State::Down, false),
        status("web", State::Up, true),
    ];
    let services = ["dns", "web", "empty"].map(|name| {
        let service = &World::start().config.services[0];
        config::Service { name: name.into(), ..service.clone() }
    });
    let wanted =
        ["web", "empty"].map(|name| format!("service {name} has no backend for new connections"));
    assert_eq!(without_backends(&services, &backends), wanted);
}

#[test]
fn a_backend_that_is_down_is_warned_of_with_its_reason() {
    let status = |name: &str, health, reason: Option<&str>| BackendStatus {
        service: "web".into(),
        name: name.into(),
        address: IpAddr::from([10, 0, 1, 1]),
        weight: 1,
        health,
        since: Duration::ZERO,
        reason: reason.map(str::to_owned),
        draining: false,
        sorry: false,
        unreachable: None,
        flows: 0,
        packets: 0,
        bytes: 0,
    };
    let backends = [
        status("be1", State::Down, Some("connection refused")),
        status("be2", State::Up, Some("no answer in time")),
        status("be3", State::Down, Some("in maintenance")),
        status("be4", State::Unknown, None),
    ];
    assert_eq!(down(&backends), ["be1 of web is down: connection refused"]);
    assert_eq!(Serving::of(backends.iter()), Serving { up: 1, unchecked: 1 });
}

#[test]
fn a_table_is_nearly_full_from_nine_tenths_on() {
    let flows = |used| nearly_full(&Fill { table: "flow", used, room: 100 });
    assert_eq!(flows(89), None);
    let said = flows(90).unwrap();
    assert_eq!(said, "the flow table is 90 % full: [tables] flows gives it room");
}

#[test]
fn numbers_have_names_while_their_owners_are_there() {
    let world = World::start();
    let names = world.names();
    assert_eq!(names.target(world.index("lb2")), "lb2");
    assert_eq!(names.target(999), crate::daemon::names::GONE);
    assert_eq!(names.service(1).map(|service| service.name.as_str()), Some("web"));
    assert!(names.service(2).is_none());
}
