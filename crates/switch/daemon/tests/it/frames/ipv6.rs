//! IPv6 under each scheme.

use heddle_bpf_loader::Action;
use heddle_policy::cflb::{Addresses, CflbConfig, Cipher, Codec, Field, Fields, Ports, Rules};
use heddle_switch::frames::{self, MptcpOption, Tcp};
use heddle_switch::rig::{Rig, UPLINKS};
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::{CflbCipher, CflbConstants, CflbField, SwitchCounter};
use heddle_testing::{Need, skip_without};

use crate::frames::rigs::{
    CFLB, GAP, HOOKS, mp_hula, packet, rig, rig_at, run, shimmed, without_shim,
};

#[test]
fn every_scheme_forwards_with_the_hop_limit_decremented() {
    if skip_without(Need::Root) {
        return;
    }
    for (hook, scheme) in
        HOOKS.into_iter().flat_map(|hook| Scheme::ALL.iter().map(move |&s| (hook, s)))
    {
        let rig = rig_at(hook, scheme);
        let before = packet(true, MptcpOption::None).frame();
        let (action, frame) = run(&rig, &before);
        let frame = without_shim(scheme, frame);
        assert_eq!((action, frame[14 + 7]), (Action::Redirect, 63), "{hook:?}, {scheme}");
        assert_eq!(
            (&frame[14..21], &frame[22..]),
            (&before[14..21], &before[22..]),
            "else as it was"
        );
        assert_eq!(rig.forwarded().unwrap(), 1);
    }
}

#[test]
fn ecmp_spreads_flows_over_all_uplinks() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::Ecmp);
    let mut taken = [0; UPLINKS as usize];
    for port in 0..400 {
        let frame = Tcp { ports: (port, 80), ..packet(true, MptcpOption::None) }.frame();
        taken[usize::from(run(&rig, &frame).1[5]) - 101] += 1;
    }
    // 50 each on average; a hash leaves one below 20 with a probability under 10^-5.
    assert!(taken.iter().all(|&count| count > 20), "{taken:?}");
}

#[test]
fn hula_takes_the_best_hop_of_probes() {
    if skip_without(Need::Root) {
        return;
    }
    for scheme in [Scheme::Hula, Scheme::MpHula] {
        let mut rig = rig(scheme);
        for (uplink, util) in [(2, 90), (5, 10)] {
            rig.from_fabric(uplink).unwrap();
            run(&rig, &frames::probe(1, util));
        }
        rig.from_host().unwrap();
        let (_, frame) = run(&rig, &packet(true, MptcpOption::None).frame());
        assert_eq!(frame[5], 105, "{scheme}");
    }
}

#[test]
fn subflows_over_ipv6_get_shims_which_the_other_tor_removes() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::MpHula);
    let (a, b) = (*b"client's", *b"server's");
    run(&rig, &packet(true, MptcpOption::Keys(a, b)).frame());
    let token = heddle_wire::Version::V1.token(heddle_wire::Key(b)).0;
    let join = Tcp { ports: (4001, 5000), ..packet(true, MptcpOption::Join(token)) };
    run(&rig, &join.frame());
    std::thread::sleep(GAP + GAP / 10);
    let plain = packet(true, MptcpOption::Dss).frame();
    let (action, sent) = run(&rig, &plain);
    assert_eq!((action, sent.len()), (Action::Redirect, plain.len() + 12));
    assert_eq!((&sent[12..14], &sent[22..26]), (&[0x88, 0xb5][..], &[0, 0, 0x86, 0xdd][..]));
    assert_eq!((sent[26 + 7], &sent[66..]), (63, &plain[54..]));
    rig.from_fabric(3).unwrap();
    let back = Tcp {
        source: "fd00::2".parse().unwrap(),
        destination: "fd00::1".parse().unwrap(),
        ..packet(true, MptcpOption::Dss)
    };
    let (action, received) = run(&rig, &shimmed(&back.frame(), 2));
    assert_eq!((action, &received[12..14]), (Action::Redirect, &[0x86, 0xdd][..]));
    assert_eq!(received[54..], back.frame()[54..]);
    assert_eq!(rig.count(SwitchCounter::Delivered).unwrap(), 1);
}

/// The next hop's number of each packet is what the codec in Rust decides.
#[test]
fn cflb_reads_ports_and_flow_labels_as_the_codec_does() {
    if skip_without(Need::Root) {
        return;
    }
    for (field, cipher, codec_field, codec_cipher) in [
        (CflbField::Ports, CflbCipher::Rc5, Field::Ports, Cipher::Rc5),
        (CflbField::Ports, CflbCipher::Skip32, Field::Ports, Cipher::Skip32),
        (CflbField::FlowLabel, CflbCipher::Feistel, Field::FlowLabel, Cipher::Feistel),
    ] {
        let constants = CflbConstants { field: field as u8, cipher: cipher as u8, ..CFLB };
        let rig = Rig::new(Scheme::Cflb, mp_hula(), Some(&constants)).unwrap();
        let config = CflbConfig {
            radix: CFLB.radix,
            field: codec_field,
            cipher: codec_cipher,
            rules: Rules::Even,
        };
        let codec = Codec::new(&config, &CFLB.key[..codec_cipher.key_bytes()]).unwrap();
        let mut taken = std::collections::BTreeSet::new();
        for n in 0..200_u16 {
            let ports = (1000 + 77 * n, 5000);
            let packet =
                Tcp { ports, flow_label: 5001 * u32::from(n), ..packet(true, MptcpOption::None) };
            let frame = run(&rig, &packet.frame()).1;
            let fields = Fields {
                addresses: Addresses::new(packet.source, packet.destination).unwrap(),
                protocol: 6,
                ports: Some(Ports { source: ports.0, destination: ports.1 }),
                flow_label: packet.flow_label & 0xf_ffff,
                ttl: 64,
            };
            let expected = codec.decide(0, &fields, UPLINKS);
            assert_eq!(u16::from(frame[5]) - 101, expected.next_hop, "{field:?}, {cipher:?}, {n}");
            taken.insert(expected.next_hop);
        }
        assert_eq!(taken.len(), usize::from(UPLINKS));
    }
}
