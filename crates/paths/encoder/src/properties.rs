//! For any fabric, pair, path and constants: a packet with the encoded fields takes the path; and
//! flows are placed apart on any fabric.

use heddle_fabric::{Demand, Fabric, Hop, Path, Placement, Placer, Scheduler};
use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, Rules};
use heddle_units::Rate;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::testing::{PORTS, any_graph, any_pair, network_of};
use crate::{End, Family, Flow, Network, PathEncoderError, PortRules};

/// A field and a cipher that fits it.
fn any_field() -> impl Strategy<Value = (Field, Cipher)> {
    let dynamic = PortRange { low: 49_152, high: u16::MAX };
    prop_oneof![
        Just((Field::Ports, Cipher::Rc5)),
        Just((Field::Ports, Cipher::Skip32)),
        Just((Field::Ports, Cipher::Feistel)),
        Just((Field::SourcePort(PortRange::ALL), Cipher::Feistel)),
        Just((Field::SourcePort(dynamic), Cipher::Feistel)),
        Just((Field::FlowLabel, Cipher::Feistel)),
    ]
}

fn most_next_hops(network: &Network) -> u16 {
    heddle_fabric::stats(network.fabric(), network.routes()).most_next_hops.max(2)
}

/// True if a path has more choices after the first one than the selector has digits.
fn is_long(network: &Network, path: &Path) -> bool {
    let is_choice = |hop: &Hop| hop.next_hops > 1;
    let first = path.hops.iter().position(is_choice).unwrap_or(0);
    let last = path.hops.iter().rposition(is_choice).unwrap_or(0);
    last - first >= network.codec().radix().length() as usize
}

proptest! {
    #[test]
    fn a_packet_takes_the_path_that_its_fields_encode(
        graph in any_graph(),
        (field, cipher) in any_field(),
        wider in 0u16..14,
        as_published in any::<bool>(),
        pair in any::<(Index, Index)>(),
        (number, start) in any::<(u64, u32)>(),
        family in prop_oneof![Just(Family::V4), Just(Family::V6)],
        ttl in 8u8..,
    ) {
        let rules = if as_published { Rules::AsPublished } else { Rules::Even };
        let narrow = CflbConfig { field, cipher, radix: 2, rules };
        let ports = PortRules { ttl, ttls: 8..=ttl, reserved: Vec::new() };
        let radix = most_next_hops(&network_of(&graph, &narrow, ports.clone())) + wider;
        let network = network_of(&graph, &CflbConfig { radix, ..narrow }, ports);
        let (from, to) = any_pair(network.fabric(), pair);
        let Ok(paths) = network.find(from, to) else { return Ok(()) };
        let path = network.path_by_number(from, to, number % paths.count()).unwrap();
        let addresses = network.pair_of(from, to, family).unwrap().addresses;
        let flow = Flow { addresses, protocol: 6, ports: PORTS };
        match network.encode(&path, &flow, start, |_| true) {
            Ok(encoded) => {
                let walk = network.walk(from, &encoded.fields).unwrap();
                let taken = walk.steps.iter().map(|step| Hop {
                    switch: step.switch,
                    port: step.port,
                    next_hop: step.decision.next_hop,
                    next_hops: step.next_hops,
                });
                let taken = Path { hops: taken.collect() };
                prop_assert_eq!(taken, path);
                prop_assert_eq!((walk.end, walk.to), (End::Delivered, Some(to)));
                let ports = encoded.fields.ports.unwrap();
                prop_assert!(matches!(field, Field::Ports) || ports.destination == PORTS.destination);
                prop_assert!(!matches!(field, Field::FlowLabel) || ports == PORTS);
            }
            Err(PathEncoderError::TooLong { .. }) => prop_assert!(is_long(&network, &path)),
            Err(error) => {
                let lacks_label = field == Field::FlowLabel && family == Family::V4;
                prop_assert!(lacks_label && error == PathEncoderError::NoField, "{}", error);
            }
        }
    }

    /// Whatever a packet's fields are, its walk ends, over links that exist, at a host or for a
    /// reason.
    #[test]
    fn every_packet_arrives_while_its_ttl_lasts(
        graph in any_graph(),
        pair in any::<(Index, Index)>(),
        ports in any::<u32>(),
        ttl in any::<u8>(),
    ) {
        let network = crate::testing::network(&graph, 8);
        let (from, to) = any_pair(network.fabric(), pair);
        let addresses = network.pair_of(from, to, Family::V4).unwrap().addresses;
        let ports = Some(heddle_policy::cflb::Ports::from_bits(ports));
        let fields = heddle_policy::cflb::Fields { addresses, protocol: 6, ports, flow_label: 0, ttl };
        let walk = network.walk(from, &fields).unwrap();
        let length = network.find(from, to).map(|paths| paths.iter().next().unwrap().hops.len());
        let expected = match length {
            Err(_) if ttl <= 1 => End::TtlExpired,
            Err(_) => End::NoRoute,
            Ok(length) if usize::from(ttl) > length => End::Delivered,
            Ok(_) => End::TtlExpired,
        };
        prop_assert_eq!(walk.end, expected);
        prop_assert!(walk.steps.iter().enumerate().all(|(hop, step)| step.ttl == ttl - hop as u8));
    }

    /// A path is found by the names of its switches as by its number.
    #[test]
    fn a_path_is_found_by_its_names(graph in any_graph(), pair in any::<(Index, Index)>(), number in any::<u64>()) {
        let network = crate::testing::network(&graph, 8);
        let (from, to) = any_pair(network.fabric(), pair);
        let Ok(paths) = network.find(from, to) else { return Ok(()) };
        let path = network.path_by_number(from, to, number % paths.count()).unwrap();
        let names = network.path_names(&path, to);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert_eq!(network.path_by_names(from, to, &names), Ok(path));
    }

    /// A subflow shares a link with the connection's others only where every path does; after all
    /// are released, nothing is left.
    #[test]
    fn placements_keep_apart_and_leave_no_trace(
        graph in any_graph(),
        draws in prop::collection::vec((any::<(Index, Index)>(), 1usize..5, prop::option::of(1u64..12)), 1..12),
        first_fit in any::<bool>(),
    ) {
        let fabric = Fabric::new(&graph).unwrap();
        let routes = fabric.routes(|_| true).unwrap();
        let scheduler = if first_fit { Scheduler::FirstFit } else { Scheduler::FewestFlows };
        let mut placer = Placer::new(&fabric, scheduler);
        let mut held: Vec<Placement> = Vec::new();
        for (pair, subflows, gbps) in draws {
            let (from, to) = any_pair(&fabric, pair);
            let Ok(paths) = fabric.paths(&routes, from, to) else { continue };
            let mut placed: Vec<Path> = Vec::new();
            for _ in 0..subflows {
                let rate = gbps.map(Rate::gbps);
                let demand = Demand { avoid: &placed, rate };
                let placement = placer.place(&paths, &demand);
                let links: Vec<u32> = placed.iter().flat_map(|path| path.fabric_ports(&fabric)).collect();
                let is_apart = |path: &Path| path.fabric_ports(&fabric).all(|link| !links.contains(&link));
                prop_assert_eq!(placement.shared == 0, is_apart(&placement.path));
                let is_counted = scheduler == Scheduler::FewestFlows || rate.is_none();
                if is_counted && placement.shared > 0 {
                    prop_assert!(!paths.iter().any(|path| is_apart(&path)));
                }
                placed.push(placement.path.clone());
                held.push(placement);
            }
        }
        for port in 0..fabric.ports.len() as u32 {
            let on_it = held.iter().filter(|placement| placement.links().contains(&port));
            let reserved = on_it.clone().map(|placement| placement.rate.unwrap_or_default().0).sum();
            prop_assert_eq!((placer.flows(port) as usize, placer.reserved(port)), (on_it.count(), Rate(reserved)));
        }
        held.iter().for_each(|placement| placer.release(placement));
        for port in 0..fabric.ports.len() as u32 {
            prop_assert_eq!((placer.flows(port), placer.reserved(port)), (0, Rate(0)));
        }
    }
}
