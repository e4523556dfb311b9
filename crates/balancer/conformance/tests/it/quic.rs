//! Server ids in connection ids of QUIC: the balancer's C and the wire crate find the same.

use heddle_conformance::balancer::quic::compare;
use heddle_wire::quic::ServerIds;
use proptest::prelude::*;

/// A UDP packet in IPv4, or in IPv6, in Ethernet; the UDP header has another length by `more`.
fn frame(v6: bool, more: i16, payload: &[u8]) -> Vec<u8> {
    let udp = (8 + payload.len()) as u16;
    let mut frame = [[2; 12].as_slice(), if v6 { &[0x86, 0xdd] } else { &[8, 0] }].concat();
    if v6 {
        frame.extend([0x60, 0, 0, 0]);
        frame.extend(udp.to_be_bytes());
        frame.extend([17, 64]);
        frame.extend([0x20; 32]);
    } else {
        frame.extend([0x45, 0]);
        frame.extend((20 + udp).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 198, 51, 100, 7, 192, 0, 2, 10]);
    }
    frame.extend([0xc3, 0x50, 1, 0xbb]);
    frame.extend(udp.wrapping_add_signed(more).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    frame
}

/// Datagrams that are QUIC more often than not: a header of either form, a connection id of this
/// rotation, bytes behind it.
fn datagram(rotation: u8) -> impl Strategy<Value = Vec<u8>> {
    let id = prop::collection::vec(any::<u8>(), 0..24).prop_map(move |mut id| {
        if let Some(first) = id.first_mut() {
            *first = if *first & 3 == 0 { *first } else { rotation << 5 | *first & 0x1f };
        }
        id
    });
    let length = prop_oneof![4 => Just(None), 1 => any::<u8>().prop_map(Some)];
    (any::<bool>(), id, length, 0..60_usize).prop_map(|(long, id, length, behind)| {
        let length = length.unwrap_or(id.len() as u8);
        let head = if long { vec![0xc0, 0, 0, 0, 1, length] } else { vec![0x40] };
        [head, id, vec![0x5a; behind]].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn both_find_the_same_server_id(
        (rotation, datagram) in (0..7_u8).prop_flat_map(|r| (Just(r), datagram(r))),
        length in 1..16_u8,
        v6 in any::<bool>(),
        more in prop_oneof![3 => Just(0_i16), 1 => -40..40_i16, 1 => any::<i16>()],
        padding in prop_oneof![2 => Just(0), 1 => 0..30_usize],
    ) {
        let ids = ServerIds::new(rotation, length).expect("in range");
        let mut frame = frame(v6, more, &datagram);
        frame.resize(frame.len() + padding, 0xee);
        prop_assert!(compare(&frame, ids).map_err(TestCaseError::fail)?.is_some());
    }

    #[test]
    fn both_find_the_same_in_any_frame(frame in prop::collection::vec(any::<u8>(), 0..120), length in 1..16_u8) {
        let ids = ServerIds::new(length % 7, length).expect("in range");
        compare(&frame, ids).map_err(TestCaseError::fail)?;
    }
}

/// So that agreement is not that on nothing.
#[test]
fn ids_are_found_in_both_families_and_headers() {
    let ids = ServerIds::new(1, 3).expect("in range");
    let id = [0x27, 0xed, 0x79, 0x3a, 1, 2, 3, 4];
    for v6 in [false, true] {
        for head in [&[0x40][..], &[0xc0, 0, 0, 0, 1, 8]] {
            let datagram = [head, &id, &[0; 30]].concat();
            let found = compare(&frame(v6, 0, &datagram), ids);
            let wanted = [&[0xed, 0x79, 0x3a][..], &[0; 13]].concat();
            assert_eq!(found.map(|found| found.flatten().map(Vec::from)), Ok(Some(wanted)));
        }
    }
}
