//! Packets that arrive after their connection has closed.

use heddle_policy::{Ecmp, Tor};
use heddle_scenario::{Source, load};
use heddle_transport::Segment;

use super::*;
use crate::hosts::HostCounters;
use crate::network::{Body, Hot, NIL};

const TEXT: &str = r#"
    fabric = { kind = "leaf-spine", leaves = 1, hosts_per_leaf = 2 }
    workload = { kind = "replay", file = "flows.csv" }
    scheme = "ecmp"
    [measure]
"#;

/// Two flows from host 1 to host 2 in sequence; the second reuses the connection slot of the first.
fn two_flows() -> Scenario {
    let flows = "at,from,to,size\n0s,host-1,host-2,1000B\n1ms,host-1,host-2,50KB";
    let files = |_: &str| Ok(flows.to_owned());
    load(&Source::new("strays.toml", TEXT), &files).unwrap_or_else(|error| panic!("{error}"))
}

impl<S: Scheme> Simulation<'_, S> {
    /// Runs until `condition` holds.
    fn run_until(&mut self, condition: fn(&Self) -> bool) {
        while !condition(self) {
            assert!(self.step(), "it never is");
        }
    }

    /// Delivers the first data segment of the first connection to host 2.
    fn deliver_late(&mut self) {
        let hot = Hot {
            arrival: self.now,
            next: NIL,
            connection: 0,
            flow_hash: 0,
            dst_host: 1,
            dst_tor: Tor(0),
            src_tor: Tor(0),
            size: 1058,
            tag: 0,
            kind: PacketKind::Forward,
            is_handshake: false,
        };
        let segment = Segment { len: 1000, ..Segment::default() };
        let packet =
            self.network.packets.add(hot, Body { segment, generation: 1, ..Body::default() });
        let routes = &self.switching.routes;
        let (network, fabric) = (&mut self.network, &self.fabric);
        let mut site = HostContext { now: self.now, network, fabric, routes };
        self.hosts.receive(&mut site, packet, &mut self.finishing);
    }

    fn expect_discard(&mut self) {
        let before = self.hosts.counters();
        self.deliver_late();
        let after = self.hosts.counters();
        let expected = HostCounters {
            received: before.received + 1,
            to_closed_connections: before.to_closed_connections + 1,
            ..before
        };
        assert_eq!(after, expected, "nothing is delivered, nothing sent");
    }
}

#[test]
fn a_packet_of_a_connection_that_is_gone_changes_nothing() {
    let scenario = two_flows();
    let mut simulation = Simulation::<Ecmp>::new(&scenario, (), 1).unwrap();
    simulation.run_until(|run| run.flows.len() == 1 && run.network.packets.len() == 0);
    simulation.expect_discard();
    simulation
        .run_until(|run| run.totals.flows_started == 2 && run.hosts.counters().delivered > 5000);
    simulation.expect_discard();
    while simulation.step() {}
    assert_eq!((simulation.flows.len(), simulation.hosts.counters().delivered), (2, 51_000));
}
