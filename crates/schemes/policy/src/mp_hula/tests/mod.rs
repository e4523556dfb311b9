//! Traces of one switch: hops of flowlets. Times in nanoseconds, T_p = 200 us, gap = 100 us.

mod choice;
mod equivalence;
mod tor;

use alloc::vec::Vec;

use heddle_units::Time;

use super::*;
use crate::{
    Ingress, MptcpId, Shim, Update,
    testing::{FakePorts, at, packet, switch_info},
};

const US: Nanos = 1_000;
const GAP: Nanos = 100 * US;
const UP: [Port; 4] = [Port(2), Port(3), Port(4), Port(5)];
const FAR: Tor = Tor(3);

fn config(best_k: u8) -> MpHulaConfig {
    MpHulaConfig {
        hula: HulaConfig {
            probe_period: Time::nanos(200 * US),
            fail_after: Some(Time::nanos(600 * US)),
            flowlet_gap: Time::nanos(GAP),
            flowlet_slots: 64,
            tau: Some(Time::nanos(400 * US)),
            util_bits: 8,
            ..HulaConfig::default()
        },
        tables: MptcpTablesConfig {
            best_k,
            mapping_rows: 64,
            association_slots: 64,
            association_idle: Time::millis(10),
        },
        rules: MpHulaRules { long_flows: LongFlows::Alike },
    }
}

fn with(long_flows: LongFlows, best_k: u8) -> MpHulaConfig {
    MpHulaConfig { rules: MpHulaRules { long_flows }, ..config(best_k) }
}

fn shim(id: u64, subflow: u8) -> Option<Shim> {
    Some(Shim { id: MptcpId(id), subflow: Subflow::new(subflow).unwrap() })
}

/// A switch above the ToRs with fake ports. Its packets have shims added by ToRs.
struct Rig {
    mp_hula: MpHula,
    ports: FakePorts,
}

impl Rig {
    fn new(config: &MpHulaConfig) -> Rig {
        Rig { mp_hula: MpHula::new(config, &switch_info(1)), ports: FakePorts::default() }
    }

    /// A switch with `hops` known hops to ToR 3: port 2 is the best, port 3 the second, and so on.
    fn knowing(config: &MpHulaConfig, hops: u16) -> Rig {
        let mut rig = Rig::new(config);
        for i in 0..hops {
            rig.hear(0, 2 + i, 10 * (1 + i));
        }
        rig
    }

    /// Receives a probe of ToR 3 on `port` with `util`.
    fn hear(&mut self, now: Nanos, port: u16, util: u16) -> Option<Probe> {
        let probe = Probe { tor: FAR, util };
        let arrival = ProbeArrival { port: Port(port), probe, is_next_hop: true };
        self.mp_hula.probe(at(now), &arrival, &mut self.ports)
    }

    /// Output port of a packet of `flow` to ToR 3.
    fn send(&mut self, now: Nanos, flow: u32, shim: Option<Shim>) -> u16 {
        self.send_over(now, flow, shim, &UP)
    }

    fn send_over(&mut self, now: Nanos, flow: u32, shim: Option<Shim>, hops: &[Port]) -> u16 {
        let mut packet = Header { ingress: Ingress::Fabric, shim, ..packet(flow, FAR.0) };
        let port = self.mp_hula.forward(at(now), &mut packet, hops, &mut self.ports);
        assert_eq!(packet.shim, shim, "between ToRs a shim stays as it is");
        port.0
    }

    fn ranked(&self) -> Vec<(u16, u16)> {
        self.mp_hula.best_hops(FAR).map(|(port, util)| (port.0, util)).collect()
    }
}

#[test]
fn the_probe_goes_on_with_the_lowest_figure() {
    let mut rig = Rig::new(&config(2));
    rig.ports.util[3] = 40 << 8;
    assert_eq!(rig.hear(0, 2, 50), Some(Probe { tor: FAR, util: 50 }));
    assert_eq!(rig.hear(200 * US, 3, 20), Some(Probe { tor: FAR, util: 40 }), "its own link");
    assert_eq!(rig.ranked(), [(3, 40), (2, 50)]);
    assert_eq!(rig.hear(200 * US, 2, 30), None, "within the window");
    assert_eq!(rig.hear(400 * US, 3, 90), Some(Probe { tor: FAR, util: 30 }));
}

#[test]
fn the_papers_forwarding_tables_take_about_25_mb() {
    let bytes = paper_forwarding_bytes(10_000, 4, 100_000, 6);
    assert_eq!(bytes, 640_000 + 22_800_000);
    assert!((23_000_000..=26_000_000).contains(&bytes));
}

#[test]
fn these_tables_are_smaller_than_the_papers_for_six_subflows() {
    let mut config = config(4);
    // A slot for each of 6 subflows and a row for each connection, powers of two both.
    (config.hula.flowlet_slots, config.tables.mapping_rows) = (6 << 17, 1 << 17);
    let held =
        MpHula::new(&config, &SwitchInfo { tors: 10_000, ..switch_info(1) }).state_bytes() as u64;
    let slots = (6_u64 << 17).next_power_of_two();
    // Best hops: the last-sent time once for each ToR, not k times. Flowlets: 8 bytes as in HULA
    // and 11 for the owner; the hash is not stored. Mappings: 16 slot numbers a row.
    let [best, flowlets, mappings] = [10_000 * (4 * 10 + 6), slots * 19, (1 << 17) * 64];
    assert_eq!(held, best + flowlets + mappings);
    assert!(held < paper_forwarding_bytes(10_000, 4, 1 << 17, 6));
}
