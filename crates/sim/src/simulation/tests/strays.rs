//! Packets that come after their connection has gone.

use heddle_policy::{Ecmp, Tor};
use heddle_scenario::{Source, load};
use heddle_transport::Segment;

use super::*;
use crate::network::{Body, Hot, NIL};

const TEXT: &str = r#"
    fabric = { kind = "leaf-spine", leaves = 1, hosts_per_leaf = 2 }
    workload = { kind = "replay", file = "flows.csv" }
    scheme = "ecmp"
    [measure]
"#;

/// Two flows from host 1 to host 2, one after the other; the second takes the first one's place.
fn two_flows() -> Scenario {
    let flows = "at,from,to,size\n0s,host-1,host-2,1000B\n1ms,host-1,host-2,50KB";
    let files = |_: &str| Ok(flows.to_owned());
    load(&Source::new("strays.toml", TEXT), &files).unwrap_or_else(|error| panic!("{error}"))
}

impl<S: Scheme> Simulation<'_, S> {
    /// Runs until `time`.
    fn run_until(&mut self, time: Time) {
        while self.now < time && self.step(self.end()) {}
    }

    /// Hands host 2 the first data of the first flow's connection.
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
        };
        let segment = Segment { len: 1000, ..Segment::default() };
        let packet = self.network.packets.add(hot, Body { segment, generation: 1 });
        let mut site = Site { now: self.now, network: &mut self.network, fabric: &self.fabric };
        self.hosts.receive(&mut site, packet, &mut self.finishing);
    }
}

#[test]
fn a_packet_of_a_connection_that_is_gone_changes_nothing() {
    let scenario = two_flows();
    let mut simulation = Simulation::<Ecmp>::new(&scenario, (), 1).unwrap();
    // The second flow starts at 2 ms: a millisecond of probes' warm-up, then the replay's.
    for (time, why) in [(1500, "nobody has its place"), (2010, "another has its place")] {
        simulation.run_until(Time::micros(time));
        let before = simulation.hosts.counters();
        simulation.deliver_late();
        let after = simulation.hosts.counters();
        assert_eq!(after.strays, before.strays + 1, "{why}");
        assert_eq!((after.sent, after.delivered), (before.sent, before.delivered), "{why}");
    }
    simulation.run_until(Time::millis(10));
    assert_eq!((simulation.flows.len(), simulation.hosts.counters().delivered), (2, 51_000));
}
