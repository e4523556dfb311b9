//! The choices of services for packets to their addresses.

use super::*;

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
