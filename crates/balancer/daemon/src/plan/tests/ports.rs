//! Services with several ports.

use super::*;
use crate::service::Protocol;

/// The configuration with other ports, and services more.
fn with_ports(ports: &str, more: &str) -> Config {
    let text = config_text(&[1, 2]).replace("port = 443\n", &format!("ports = '{ports}'\n"));
    load("lb.toml", &format!("tables = {{ ports = 70000 }}\n{text}{more}")).unwrap()
}

fn name(port: u16) -> VipName {
    let protocol = Protocol::Tcp.number();
    VipName { address: [192, 0, 2, 10].into(), port, protocol }
}

#[test]
fn each_port_has_an_entry_with_the_services_number_and_first_port() {
    let mut trace = Trace::start();
    trace.update(&with_ports("8000-8099", "")).unwrap();
    let vips = &trace.plan.maps.vips;
    let of_service = |vip: &&abi::Vip| vip.kind == VipKind::Service as u8;
    assert_eq!(vips.values().filter(of_service).count(), 100);
    for port in 8000..8100 {
        assert_eq!(vips[&name(port)], vips[&name(8000)]);
    }
    let first = &vips[&name(8000)];
    assert_eq!((first.id, first.several_ports, first.first_port), (1, 1, 8000_u16.to_be()));
}

#[test]
fn one_port_is_named_by_itself() {
    let mut trace = Trace::start();
    trace.update(&config(&[1])).unwrap();
    let vip = &trace.plan.maps.vips[&name(443)];
    assert_eq!((vip.several_ports, vip.first_port), (0, 0));
}

#[test]
fn all_ports_are_those_that_no_other_service_has() {
    let other = "[[service]]\nname = 'ssh'\naddress = '192.0.2.10'\nport = 22\n\
        [[service.backend]]\nname = 'be9'\naddress = '10.0.1.9'\nid = 9\n";
    let config = with_ports("all", other);
    let mut trace = Trace::start();
    trace.update(&config).unwrap();
    let vips = &trace.plan.maps.vips;
    let number = |index: usize| trace.plan.services.index(&config.services[index].key()).unwrap();
    assert_ne!(number(0), number(1));
    assert_eq!(vips[&name(22)].id, number(1));
    for port in [1, 21, 23, 65535] {
        assert_eq!((vips[&name(port)].id, vips[&name(port)].first_port), (number(0), 0), "{port}");
    }
}

/// A daemon that takes over finds each service once, under its own number.
#[test]
fn the_next_daemon_finds_the_services_numbers() {
    for ports in ["8000-8099", "all"] {
        let config = with_ports(ports, "");
        let mut trace = Trace::start();
        trace.update(&config).unwrap();
        let key = config.services[0].key();
        let number = trace.plan.services.index(&key);
        let found = Plan::found(trace.plan.maps.clone());
        assert_eq!(found.services.iter().count(), 1, "{ports}");
        assert_eq!(found.services.index(&key), number);
        let vips = found.maps.vips.clone();
        trace.plan = found;
        trace.update(&config).unwrap();
        assert_eq!(trace.plan.maps.vips, vips, "nothing changes");
    }
}

#[test]
fn ports_come_and_go_with_reloads() {
    let mut trace = Trace::start();
    trace.update(&with_ports("8000-8002", "")).unwrap();
    let changes = trace.update(&with_ports("8000-8001", "")).unwrap();
    assert_eq!(changes, [Change::Vip(name(8002), None)]);
}
