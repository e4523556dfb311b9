//! All encodings of a path: 16 bits, B = 3, so that L = 10 and 3^10 = 59049 selectors.

use alloc::vec::Vec;

use super::*;

const PATH: [RouterChoice; 4] = [
    RouterChoice { hop: 0, next_hop: 2, next_hops: 3 },
    RouterChoice { hop: 1, next_hop: 0, next_hops: 2 },
    RouterChoice { hop: 2, next_hop: 0, next_hops: 1 },
    RouterChoice { hop: 4, next_hop: 1, next_hops: 3 },
];

fn source_port(fields: &Fields) -> u16 {
    fields.ports.unwrap().source
}

/// Source ports that steer a packet along the path, by the decisions of all routers for all ports.
fn ports_of_path(codec: &Codec, ttl: u8) -> Vec<u16> {
    let steers = |source: &u16| {
        let ports = Some(Ports { source: *source, destination: 5_001 });
        PATH.iter().filter(|choice| choice.next_hops > 1).all(|choice| {
            let decision =
                at_router(codec, &Fields { ports, ..ipv4(ttl) }, choice.hop, choice.next_hops);
            matches!(decision.reason, Reason::Controlled { digit, .. } if digit == choice.next_hop)
        })
    };
    (0..=u16::MAX).filter(steers).collect()
}

/// Three of ten digits are determined: 3^7 encodings, the ports that all routers forward along the
/// path.
#[test]
fn the_names_of_a_path_are_the_ports_that_steer_along_it() {
    let codec = codec_of_16_bits(3);
    let ports = ports_of_path(&codec, 64);
    assert_eq!((codec.names(&PATH, 64), ports.len()), (Ok(2187), 2187));
    let name = |filler| source_port(&codec.encode(&PATH, &ipv4(64), filler).unwrap());
    let mut names: Vec<u16> = (0..2187).map(name).collect();
    names.sort_unstable();
    assert_eq!(names, ports);
}

#[test]
fn names_are_counted() {
    let codec = codec_of_16_bits(3);
    assert_eq!(codec.names(&[], 64), Ok(59_049));
    assert_eq!(codec.names(&[choice(3, 0, 1)], 64), Ok(59_049));
    assert_eq!(codec.names(&[choice(0, 1, 2), choice(10, 1, 2)], 64), Ok(19_683));
    let too_low = EncodeError::TtlTooLow { ttl: 4, hop: 3 };
    assert_eq!(codec.names(&[choice(3, 0, 2)], 4), Err(too_low));
    let all: Vec<RouterChoice> = (0..10).map(|hop| choice(hop, 1, 3)).collect();
    assert_eq!(codec.names(&all, 64), Ok(1));
    let wide = super::codec(Cipher::Rc5, Field::Ports, 2);
    assert_eq!(wide.names(&[], 64), Ok(u32::MAX), "2^32 saturates");
    assert_eq!(wide.names(&[choice(0, 1, 2)], 64), Ok(1 << 31));
}

/// A single free port is found for any start of the search.
#[test]
fn the_only_free_name_is_found() {
    let codec = codec_of_16_bits(3);
    for (start, port) in
        (0..).map(|step: u32| step.wrapping_mul(0x9e37_79b9)).zip(ports_of_path(&codec, 64))
    {
        let free = |fields: &Fields| source_port(fields) == port;
        let found = codec.encode_free(&PATH, &ipv4(64), 64..=64, start, free).unwrap();
        assert_eq!(source_port(&found), port);
    }
}

#[test]
fn a_search_starts_at_its_argument_and_continues_in_order() {
    let codec = codec_of_16_bits(3);
    let name = |filler| codec.encode(&PATH, &ipv4(64), filler);
    for start in [0, 1, 2186, 2187, u32::MAX] {
        let found = codec.encode_free(&PATH, &ipv4(64), 64..=64, start, |_| true);
        assert_eq!(found, name(start % 2187));
        let next =
            codec.encode_free(&PATH, &ipv4(64), 64..=64, start, |fields| Ok(*fields) != found);
        assert_eq!(next, name((start % 2187 + 1) % 2187));
    }
}

/// With all encodings of one TTL in use, those of the next one are tried (section 3.2).
#[test]
fn another_ttl_gives_other_names() {
    let codec = codec_of_16_bits(3);
    let taken = ports_of_path(&codec, 64);
    let free = |fields: &Fields| taken.binary_search(&source_port(fields)).is_err();
    let found = codec.encode_free(&PATH, &ipv4(64), 60..=63, 0, free).unwrap();
    assert_eq!(found.ttl, 60);
    assert!(ports_of_path(&codec, 60).binary_search(&source_port(&found)).is_ok());
}

/// 2187 encodings each with a TTL of 64 and 63; 54 and 74 differ from 64 by L = 10 and have the
/// same encodings.
#[test]
fn the_error_of_a_failed_search_has_the_number_of_tries() {
    let codec = codec_of_16_bits(3);
    for (ttls, tried) in [(64..=64, 2187), (63..=64, 4374), (54..=54, 2187), (33..=74, 21_870)] {
        let found = codec.encode_free(&PATH, &ipv4(64), ttls, 9, |_| false);
        assert_eq!(found, Err(EncodeError::NoneFree { tried }));
    }
    let empty = core::ops::RangeInclusive::new(64, 63);
    let found = codec.encode_free(&PATH, &ipv4(64), empty, 9, |_| false);
    assert_eq!(found, Err(EncodeError::NoneFree { tried: 2187 }), "the packet's own TTL counts");
}

#[test]
fn a_search_is_bounded() {
    let codec = super::codec(Cipher::Rc5, Field::Ports, 4);
    let found = codec.encode_free(&PATH[..1], &ipv4(64), 0..=0, 0, |_| false);
    assert_eq!(found, Err(EncodeError::NoneFree { tried: Codec::MAX_TRIES }));
}

/// TTLs that are too low are skipped; if all are, the error is that of the first one.
#[test]
fn ttls_that_do_not_serve_are_passed_over() {
    let codec = codec_of_16_bits(3);
    let found = codec.encode_free(&PATH, &ipv4(3), 1..=255, 0, |_| true).unwrap();
    assert_eq!(found.ttl, 6, "with 2 at router 4");
    let too_low = EncodeError::TtlTooLow { ttl: 3, hop: 2 };
    assert_eq!(codec.encode_free(&PATH, &ipv4(3), 1..=5, 0, |_| true), Err(too_low));
}
