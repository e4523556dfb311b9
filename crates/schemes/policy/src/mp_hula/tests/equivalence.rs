//! Equivalence with HULA for one hop per ToR.

use proptest::prelude::*;

use super::*;
use crate::{Hula, testing::tor_info};

#[derive(Clone, Debug)]
enum Event {
    Data(Header, Vec<Port>),
    Probe(ProbeArrival),
    Ports(FakePorts),
}

fn headers() -> impl Strategy<Value = Header> {
    let shims = prop::option::weighted(0.7, (0u64..3, 1u8..=16))
        .prop_map(|shim| shim.map(|(id, subflow)| shim_of(id, subflow)));
    (0u32..32, 0u16..5, shims).prop_map(|(flow, dst, shim)| Header {
        ingress: Ingress::Fabric,
        shim,
        ..packet(flow, dst)
    })
}

fn shim_of(id: u64, subflow: u8) -> Shim {
    Shim { id: MptcpId(id), subflow: Subflow::new(subflow).unwrap() }
}

fn arrivals() -> impl Strategy<Value = ProbeArrival> {
    (2u16..8, 0u16..5, 0u16..256, prop::bool::weighted(0.9)).prop_map(
        |(port, tor, util, is_next_hop)| ProbeArrival {
            port: Port(port),
            probe: Probe { tor: Tor(tor), util },
            is_next_hop,
        },
    )
}

fn events() -> impl Strategy<Value = Vec<(Nanos, Event)>> {
    let hops = prop::sample::subsequence((2..8).map(Port).collect::<Vec<_>>(), 1..=6);
    let ports = (any::<[u16; 16]>(), any::<[bool; 16]>()).prop_map(|(util, down)| FakePorts {
        util,
        down,
        ..FakePorts::default()
    });
    let event = prop_oneof![
        8 => (headers(), hops).prop_map(|(header, hops)| Event::Data(header, hops)),
        6 => arrivals().prop_map(Event::Probe),
        1 => ports.prop_map(Event::Ports),
    ];
    let wait = prop_oneof![6 => 0..GAP / 4, 3 => 0..3 * GAP, 1 => 0..10 * GAP];
    prop::collection::vec((wait, event), 1..300)
}

fn configs() -> impl Strategy<Value = MpHulaConfig> {
    let updates = prop::sample::select(&[Update::Refresh, Update::Listing]);
    let long_flows =
        prop::sample::select(&[LongFlows::Alike, LongFlows::YieldBest, LongFlows::Apart]);
    (updates, long_flows, any::<bool>(), 0u32..40, 0u32..4).prop_map(
        |(update, long_flows, local_detection, flowlet_slots, mapping_rows)| {
            let MpHulaConfig { hula, tables, .. } = config(1);
            let hula = HulaConfig { update, local_detection, flowlet_slots, ..hula };
            MpHulaConfig {
                hula,
                tables: MptcpTablesConfig { mapping_rows, ..tables },
                rules: MpHulaRules { long_flows },
            }
        },
    )
}

proptest! {
    #[test]
    fn one_hop_a_tor_is_hula(config in configs(), at_tor: bool, events in events()) {
        let info = if at_tor { tor_info(1) } else { switch_info(1) };
        let (mut hula, mut mp_hula) = (Hula::new(&config.hula, &info), MpHula::new(&config, &info));
        let (mut ports, mut now) = (FakePorts::default(), 0);
        for (wait, event) in events {
            now += wait;
            match event {
                Event::Ports(changed) => ports = changed,
                Event::Probe(arrival) => prop_assert_eq!(
                    mp_hula.probe(at(now), &arrival, &mut ports),
                    hula.probe(at(now), &arrival, &mut ports)
                ),
                Event::Data(header, hops) => prop_assert_eq!(
                    mp_hula.forward(at(now), &mut header.clone(), &hops, &mut ports),
                    hula.forward(at(now), &mut header.clone(), &hops, &mut ports)
                ),
            }
            for tor in (0..5).map(Tor) {
                prop_assert_eq!(mp_hula.best_hops(tor).next(), hula.best_hop(tor));
            }
            prop_assert_eq!(Counters { shared: 0, ..mp_hula.counters() }, hula.counters());
        }
    }
}
