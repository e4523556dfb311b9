//! Properties for any packets: no panic, and no subflow is associated with a wrong connection.

use proptest::prelude::*;

use super::*;

const VERSIONS: [Version; 2] = [Version::V0, Version::V1];

/// Connection `i`, over flow 100 i; its further subflows have the following flow numbers.
fn connection(i: u8) -> Connection {
    let version = VERSIONS[usize::from(i % 2)];
    Connection { version, a: Key([2 * i + 1; 8]), b: Key([2 * i + 2; 8]), flow: u32::from(i) * 100 }
}

fn ends() -> impl Strategy<Value = End> {
    prop::sample::select(&BOTH_ENDS)
}

fn flags() -> impl Strategy<Value = TcpFlags> {
    any::<u8>().prop_map(TcpFlags)
}

/// Any packet of 6 connections with up to 4 further subflows each, and plain packets with any
/// flags.
fn packets() -> impl Strategy<Value = Packet> {
    (0u8..6, 0u32..5, 0u8..8, ends(), flags()).prop_map(|(i, subflow, kind, from, flags)| {
        let connection = connection(i);
        let flow = connection.flow + subflow;
        match kind {
            0 => connection.syn(),
            1 => connection.syn_ack(),
            2 => connection.ack(),
            3 => connection.data(),
            4 | 5 => connection.join(from, connection.flow + subflow.max(1)),
            6 => connection.join_replies(from, flow)[subflow as usize % 2],
            _ => plain(from, flow, flags),
        }
    })
}

proptest! {
    #[test]
    fn a_subflow_is_never_taken_for_another_connections(
        end in ends(),
        slots in 0u32..80,
        steps in prop::collection::vec((0..IDLE / 4, packets()), 1..200),
    ) {
        let mut rig = Rig::new(end, slots);
        for (wait, packet) in steps {
            rig.now += wait;
            rig.observe(packet);
            for i in 0..6 {
                let connection = connection(i);
                for flow in connection.flow..connection.flow + 5 {
                    let Some(shim) = rig.shim(flow) else { continue };
                    prop_assert_eq!(shim.id, connection.tokens().id());
                    prop_assert_eq!(shim.subflow == Subflow::FIRST, flow == connection.flow);
                }
            }
        }
    }

    #[test]
    fn packets_that_come_again_change_nothing(
        end in ends(),
        version in prop::sample::select(&VERSIONS),
        again in prop::collection::vec(any::<u8>(), 6),
    ) {
        let connection = Connection::new(version, 11);
        let [syn, syn_ack, ack] = connection.handshake();
        let joins = [12, 13].map(|flow| connection.join(End::Client, flow));
        let packets = [syn, syn_ack, ack, connection.data(), joins[0], joins[1]];
        let mut rig = Rig::new(end, 64);
        for (i, (&packet, again)) in packets.iter().zip(again).enumerate() {
            rig.observe(packet);
            for (j, &old) in packets[..=i].iter().enumerate() {
                if again >> j & 1 == 1 {
                    rig.observe(old);
                }
            }
        }
        let numbers = [11, 12, 13].map(|flow| rig.shim(flow));
        prop_assert_eq!(numbers, [1, 2, 3].map(|n| connection.shim(n)));
        prop_assert_eq!((rig.counters().connections, rig.counters().joins), (1, 2));
    }

    #[test]
    fn any_bytes_are_taken_in(
        slots in 0u32..5,
        steps in prop::collection::vec(
            (any::<Nanos>(), any::<u32>(), flags(), prop::collection::vec(any::<u8>(), 0..50)),
            1..50,
        ),
    ) {
        let mut rig = Rig::new(End::Client, slots);
        for (now, out_hash, flags, options) in steps {
            let seen = Handshake { out_hash, ingress: Ingress::Host, flags, options: &options };
            rig.association.observe(now, &seen);
            prop_assert_eq!(rig.association.shim(now, out_hash), None);
        }
    }

    #[test]
    fn a_handshake_survives_cut_and_broken_options(
        version in prop::sample::select(&VERSIONS),
        len in 0usize..24,
        bit in 0usize..160,
    ) {
        let connection = Connection::new(version, 11);
        let mut rig = Rig::with(End::Client, &connection);
        rig.observe(connection.join(End::Client, 12));
        let mut area = [0; 40];
        connection.ack().option.unwrap().emit(&mut area).unwrap();
        area[bit / 8] ^= 1 << (bit % 8);
        let (flow, ingress, flags) = (13, Ingress::Host, TcpFlags::ACK);
        rig.association.observe(0, &Handshake { out_hash: flow, ingress, flags, options: &area[..len] });
        prop_assert_eq!(rig.shim(11), connection.shim(1));
        prop_assert_eq!(rig.shim(12), connection.shim(2));
        prop_assert_eq!(rig.shim(13), None);
    }
}
