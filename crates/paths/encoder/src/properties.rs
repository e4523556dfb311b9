//! For any fabric, pair, path and constants: a packet with the encoded fields takes the path.

use heddle_fabric::{Hop, Path};
use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, Rules};
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

    /// Whatever a packet's fields are, its walk ends, over links that exist, at a host or for a reason.
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
}
