//! VLANs: frames leave with the tag of their target, whatever tag they came with, and answers with
//! the one that they came with.

use heddle_balancer_maps::abi::{Counter, Forwarding, MAC_RECEIVED, MAC_VLAN_SHIFT};
use heddle_harness::{Outcome, Setup, tagged};

use crate::traces::world::{Traced, backend, flow, flow_v6, kept_by, open};

/// Priority 5, drop eligible, in VLAN 100: 802.1Q, 9.6.
const TAG: u16 = 5 << 13 | 1 << 12 | 100;
const KINDS: [Forwarding; 3] = [Forwarding::L2, Forwarding::Ipip, Forwarding::Gue];

/// The tag of a frame; none if it has none.
fn tag(frame: &[u8]) -> Option<u16> {
    (frame[12..14] == [0x81, 0]).then(|| u16::from_be_bytes([frame[14], frame[15]]))
}

#[test]
fn frames_get_the_tag_of_their_target_and_keep_their_priority() {
    for (forwarding, vlan) in
        KINDS.into_iter().flat_map(|kind| [0, 100, 200].map(|vlan| (kind, vlan)))
    {
        let Some(cluster) = open(Setup { forwarding, vlan, ..Setup::default() }) else { return };
        let tagged_with = |priority: u16| (vlan > 0).then_some(priority | vlan);
        for flow in [flow(1), flow_v6(2)] {
            let syn = flow.syn(&[]);
            let plain = cluster.send(0, &syn).unwrap();
            assert_eq!((tag(&plain.frame), plain.packet()), (tagged_with(0), &syn[14..]));
            let sent = cluster.send(0, &tagged(&syn, TAG)).unwrap();
            assert_eq!((tag(&sent.frame), sent.packet()), (tagged_with(TAG & 0xf000), &syn[14..]));
            assert_eq!(backend(&sent), backend(&plain));
        }
    }
}

/// Through the token's owner to the backend: the client in no VLAN, balancers and backends in one.
#[test]
fn messages_between_balancers_are_in_their_vlan() {
    let setup = Setup { balancers: 3, vlan: 200, ..Setup::default() };
    let Some(mut cluster) = open(setup) else { return };
    let connection = kept_by(&cluster, 1, 2);
    let home = cluster.connect(0, &connection);
    let subflow = flow(77);
    let (sent, seen) = cluster.seen(0, &connection.join(&subflow));
    assert_eq!((backend(&sent), tag(&sent.frame)), (home, Some(200)), "{seen:?}");
    assert!(sent.via.contains(&1), "{:?}", sent.via);
}

/// The error goes back to the client, in the client's VLAN, and not in the backend's.
#[test]
fn an_error_has_the_tag_of_the_packet_that_it_is_about() {
    let Some(mut cluster) = open(Setup { vlan: 200, mtu: 1000, ..Setup::default() }) else {
        return;
    };
    let flow = flow(1);
    cluster.plain(0, &flow);
    let (sent, seen) = cluster.seen(0, &tagged(&flow.ack(&[], 1200), TAG));
    assert_eq!(seen.at(0), [Counter::TooBig]);
    assert_eq!((sent.outcome, tag(&sent.frame)), (Outcome::Outside, Some(TAG)));
}

/// An interface of the configuration that is a VLAN: its frames have its tag. Priority says nothing
/// of that.
#[test]
fn frames_of_other_vlans_are_passed() {
    let mut settings = Setup::default().settings;
    let syn = flow(1).syn(&[]);
    let mac = syn[..6].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    settings.macs[0] = mac | MAC_RECEIVED | 100 << MAC_VLAN_SHIFT;
    settings.macs[1] = mac | MAC_RECEIVED | 4094 << MAC_VLAN_SHIFT;
    let Some(mut cluster) = open(Setup { settings, ..Setup::default() }) else { return };
    for (tag, verdict) in [
        (Some(100), Counter::SentSyn),
        (Some(TAG), Counter::SentSyn),
        (Some(4094), Counter::SentSyn),
        (Some(101), Counter::PassOtherHost),
        (Some(0), Counter::PassOtherHost),
        (None, Counter::PassOtherHost),
    ] {
        let frame = tag.map_or(syn.clone(), |tag| tagged(&syn, tag));
        let (_, seen) = cluster.seen(0, &frame);
        assert_eq!(
            seen.at(0).into_iter().filter(|one| *one != Counter::FlowAdded).collect::<Vec<_>>(),
            [verdict],
            "{tag:?}"
        );
    }
}
