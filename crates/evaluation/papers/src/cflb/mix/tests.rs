//! Traces against what they are said to be.

use std::collections::BTreeMap;

use heddle_policy::cflb::Addresses;

use super::*;
use crate::cflb::flows::Packet;

#[test]
fn a_seed_is_a_trace() {
    let trace = |seed| Mix::Backbone.packets(seed, 1000).collect::<Vec<Packet>>();
    let first = trace(1);
    assert_eq!(first, trace(1));
    assert_ne!(first, trace(2));
    assert_eq!(first[..], Mix::Backbone.packets(1, 5000).take(1000).collect::<Vec<_>>()[..]);
}

#[test]
fn packets_are_in_order_and_flows_are_numbered_as_they_appear() {
    for mix in Mix::ALL {
        let (mut last, mut flows) = (heddle_units::Time(0), Vec::new());
        for packet in mix.packets(3, 50_000) {
            assert!(packet.at >= last, "{mix:?}");
            last = packet.at;
            let number = packet.flow as usize;
            assert!(number <= flows.len(), "{mix:?}");
            if number == flows.len() {
                flows.push(packet.fields);
            }
            let (now, first) = (packet.fields, flows[number]);
            assert_eq!((now.addresses, now.ports), (first.addresses, first.ports));
        }
    }
}

/// 600 000 packets take 2 s, within 15 %: heavy tails make means of few seconds unsure.
#[test]
fn the_rate_is_the_documented_one() {
    for mix in Mix::ALL {
        let last = mix.packets(1, 600_000).last().unwrap().at.as_secs_f64();
        assert!((1.7..=2.3).contains(&last), "{mix:?}: {last}");
    }
}

/// Of a second's packets, those of its largest hundred flows: much more than their share of the
/// flows, and no flow above 2 %.
#[test]
fn few_flows_are_much_of_the_traffic() {
    let mut sizes = BTreeMap::<u32, u64>::new();
    for packet in Mix::Backbone.packets(1, 300_000) {
        *sizes.entry(packet.flow).or_default() += 1;
    }
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
    let largest: u64 = sizes[..100].iter().sum();
    assert!(sizes.len() > 10_000 && largest > 30_000, "{} {largest}", sizes.len());
    assert!(sizes[0] < 6_000, "{}", sizes[0]);
}

#[test]
fn mixes_have_the_headers_that_they_are_named_for() {
    for packet in Mix::OnePair.packets(1, 10_000) {
        let ports = packet.fields.ports.unwrap();
        assert_eq!((ports.destination, packet.fields.ttl), (5001, 59));
    }
    for packet in Mix::DataCentre.packets(1, 10_000) {
        let Addresses::V4(source, destination) = packet.fields.addresses else { panic!("IPv6") };
        assert!([source, destination].iter().all(|host| host.octets()[..2] == [10, 0]));
    }
    let servers = |mix: Mix, port| {
        let is_server = |packet: &Packet| {
            packet.fields.ports.is_some_and(|p| p.source == port || p.destination == port)
        };
        mix.packets(1, 100_000).filter(is_server).count()
    };
    assert!(servers(Mix::Backbone, 80) > 30_000);
    assert!(servers(Mix::Random, 80) < 5_000);
}
