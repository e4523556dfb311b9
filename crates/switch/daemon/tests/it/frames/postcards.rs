//! Postcards of a sample of packets.

use std::num::NonZeroU32;

use heddle_bpf_loader::Action;
use heddle_switch::frames::MptcpOption;
use heddle_switch::rig::{HOST, Rig};
use heddle_switch_maps::abi::{Postcard, SwitchCounter};
use heddle_switch_maps::{Hook, Scheme};
use heddle_testing::{Need, skip_without};

use crate::frames::rigs::{CFLB, HOOKS, mp_hula, packet, rig_at, run, without_shim};

fn sampling(one_in: u32, hook: Hook, scheme: Scheme) -> Rig {
    let one_in = NonZeroU32::new(one_in).unwrap();
    let cflb = (scheme == Scheme::Cflb).then_some(&CFLB);
    Rig::sampling(one_in, hook, scheme, mp_hula(), cflb).unwrap()
}

fn taken(rig: &mut Rig) -> Vec<Postcard> {
    let cards = rig.switch.postcards.as_mut().unwrap();
    std::iter::from_fn(|| cards.take_next().unwrap()).collect()
}

#[test]
fn a_postcard_has_the_ports_of_a_packet_that_leaves_as_without_one() {
    if skip_without(Need::Root) {
        return;
    }
    for (hook, &scheme) in Scheme::ALL.iter().flat_map(|scheme| HOOKS.map(|hook| (hook, scheme))) {
        let mut rig = sampling(1, hook, scheme);
        for v6 in [false, true] {
            let frame = packet(v6, MptcpOption::None).frame();
            let (action, sent) = run(&rig, &frame);
            assert_eq!(action, Action::Redirect);
            let cards = taken(&mut rig);
            assert_eq!(cards.len(), 1, "{hook:?}, {scheme}, {v6}");
            let card = &cards[0];
            let sent = without_shim(scheme, sent);
            let left_by = u16::from(sent[5]) - 100;
            assert_eq!((card.from, card.to), (HOST, left_by), "{hook:?}, {scheme}, {v6}");
            assert_eq!((card.source_port, card.destination_port, card.protocol), (4000, 5000, 6));
            let address = std::net::IpAddr::from(card.destination);
            assert_eq!(address, packet(v6, MptcpOption::None).destination);
            let mut expected = frame;
            expected[..12].copy_from_slice(&sent[..12]);
            expected[if v6 { 21 } else { 22 }] -= 1;
            expected[24..26].copy_from_slice(&sent[24..26]);
            assert_eq!(sent, expected, "{hook:?}, {scheme}, {v6}: but for TTL and its checksum");
        }
    }
}

#[test]
fn all_switches_tell_of_the_same_share_of_packets_and_without_a_sample_of_none() {
    if skip_without(Need::Root) {
        return;
    }
    const PACKETS: u16 = 2000;
    let told = |hook, scheme, ttl| {
        let mut rig = sampling(10, hook, scheme);
        for port in 0..PACKETS {
            let mut packet = packet(false, MptcpOption::None);
            (packet.ports.0, packet.ttl) = (port, ttl);
            run(&rig, &packet.frame());
        }
        let told: Vec<u32> = taken(&mut rig).iter().map(|card| card.packet).collect();
        assert_eq!(rig.count(SwitchCounter::PostcardsLost).unwrap(), 0);
        told
    };
    let first = told(Hook::Xdp, Scheme::Ecmp, 64);
    // 200 of 2000 with a standard deviation of 13.4.
    assert!((130..=270).contains(&first.len()), "{}", first.len());
    assert_eq!(told(Hook::Tc, Scheme::Cflb, 63), first);
    assert!(rig_at(Hook::Xdp, Scheme::Ecmp).switch.postcards.is_none());
}
