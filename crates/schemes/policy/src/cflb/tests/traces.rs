//! The paper's example, and traces of a sender and its routers.

use super::*;

/// Figure 4 and section 3.2: B = 3, L = 20, a TTL of 64. R1, at position 64 mod 20 = 4, takes 0; R2
/// has no choice; R4, at position 62 mod 20 = 2, takes 2: p = 0 * 3^4 + 2 * 3^2 = 18.
const PATH: [RouterChoice; 3] = [
    RouterChoice { hop: 0, next_hop: 0, next_hops: 2 },
    RouterChoice { hop: 1, next_hop: 0, next_hops: 1 },
    RouterChoice { hop: 2, next_hop: 2, next_hops: 3 },
];

#[test]
fn the_papers_selector() {
    let radix = *codec(Cipher::Rc5, Field::Ports, 3).radix();
    assert_eq!((radix.base(), radix.length(), radix.selectors()), (3, 20, 3_486_784_401));
    assert_eq!((radix.position(64), radix.position(62)), (4, 2));
    assert_eq!(radix.weight(0, 4) + radix.weight(2, 2), 18);
    assert_eq!((radix.digit(18, 4), radix.digit(18, 2)), (0, 2));
}

/// Without H (equation 1) the ports are F(18). H adds the same to every digit, so that the selector
/// behind F has the digits of 18 shifted: 20 times the shift, but for a 2 more at position 2.
#[test]
fn the_papers_example_through_f() {
    let codec = codec_with(Cipher::Rc5, Field::Ports, 3, Rules::AsPublished, 1);
    let sent = codec.encode(&PATH, &ipv4(64), 0).unwrap();
    let selector = codec.function.invert(sent.ports.unwrap().bits());
    let digits: [u32; 20] = core::array::from_fn(|i| codec.radix.digit(selector, i as u32));
    let shift = digits[4];
    let expected = core::array::from_fn(|i| if i == 2 { (shift + 2) % 3 } else { shift });
    assert_eq!(digits, expected);
    assert_eq!(codec.function.apply(selector), sent.ports.unwrap().bits());
}

#[test]
fn the_papers_example_at_the_routers() {
    for (cipher, field) in KINDS.into_iter().take(3) {
        let codec = codec(cipher, field, 3);
        let sent = codec.encode(&PATH, &ipv4(64), 12_345).unwrap();
        let decisions = PATH.map(|choice| at_router(&codec, &sent, choice.hop, choice.next_hops));
        let controlled = |position, digit| Decision {
            next_hop: digit,
            reason: Reason::Controlled { position, digit },
        };
        let alone = Decision { next_hop: 0, reason: Reason::Alone };
        assert_eq!(decisions, [controlled(4, 0), alone, controlled(2, 2)]);
    }
}

/// Changed fields: source port, destination port, flow label.
fn changes(before: &Fields, after: &Fields) -> (bool, bool, bool) {
    let [before_ports, after_ports] = [before, after].map(|fields| fields.ports.unwrap());
    (
        before_ports.source != after_ports.source,
        before_ports.destination != after_ports.destination,
        before.flow_label != after.flow_label,
    )
}

#[test]
fn a_sender_writes_its_field_and_nothing_else() {
    for (cipher, field) in KINDS {
        for fields in [ipv4(64), ipv6(64)] {
            let codec = codec(cipher, field, 4);
            let Ok(sent) = codec.encode(&PATH, &fields, 77) else {
                assert!(field == Field::FlowLabel && fields == ipv4(64));
                continue;
            };
            let expected = match field {
                Field::Ports => (true, true, false),
                Field::SourcePort(_) => (true, false, false),
                Field::FlowLabel => (false, false, true),
            };
            assert_eq!(changes(&fields, &sent), expected, "{cipher:?} {field:?}");
            assert_eq!((sent.addresses, sent.protocol, sent.ttl), (fields.addresses, 6, 64));
            for choice in PATH {
                let decision = at_router(&codec, &sent, choice.hop, choice.next_hops);
                assert_eq!(decision.next_hop, choice.next_hop, "{cipher:?} {field:?} {choice:?}");
            }
        }
    }
}

/// Section 3.3: another address shifts the digits, so the ports that steer one pair of hosts do not
/// steer another one.
#[test]
fn one_pairs_ports_take_other_pairs_elsewhere() {
    let codec = codec(Cipher::Rc5, Field::Ports, 4);
    let sent = codec.encode(&[choice(0, 1, 4)], &ipv4(64), 0).unwrap();
    let elsewhere = (3..=250).filter(|host| {
        let addresses = addresses("10.0.0.1", &alloc::format!("10.0.0.{host}"));
        at_router(&codec, &Fields { addresses, ..sent }, 0, 4).next_hop != 1
    });
    let elsewhere = elsewhere.count();
    assert!((150..=222).contains(&elsewhere), "3 in 4 of 248, within 5 sigma of 7: {elsewhere}");
}

/// A TTL counts down through a multiple of L: 41, 40, 39 of L = 20 are positions 1, 0, 19.
#[test]
fn positions_wrap_at_a_multiple_of_the_length() {
    let codec = codec(Cipher::Rc5, Field::Ports, 3);
    let path = [choice(0, 2, 3), choice(1, 1, 3), choice(2, 2, 3)];
    let sent = codec.encode(&path, &ipv4(41), 0).unwrap();
    let reasons = path.map(|choice| at_router(&codec, &sent, choice.hop, 3).reason);
    let controlled = |position, digit| Reason::Controlled { position, digit };
    assert_eq!(reasons, [controlled(1, 2), controlled(0, 1), controlled(19, 2)]);
}

/// Only the first fragment has ports, and some protocols have none: hashed, all alike, whatever the
/// TTL.
#[test]
fn packets_without_the_field_are_hashed() {
    let without_ports = Fields { ports: None, ..ipv4(64) };
    for (cipher, field) in KINDS {
        let codec = codec(cipher, field, 4);
        let decision = codec.decide(3, &without_ports, 4);
        assert_eq!(decision.reason, Reason::NoField, "{field:?}");
        assert_eq!(codec.decide(3, &Fields { ttl: 63, ..without_ports }, 4), decision);
    }
    let codec = codec(Cipher::Feistel, Field::FlowLabel, 4);
    assert_eq!(codec.decide(3, &ipv4(64), 4).reason, Reason::NoField, "IPv4 has no flow label");
    let fragment = Fields { ports: None, ..ipv6(64) };
    assert_ne!(codec.decide(3, &fragment, 4).reason, Reason::NoField, "IPv6's fragments have one");
}

#[test]
fn source_ports_outside_the_range_are_hashed() {
    let codec = codec(Cipher::Feistel, Field::SourcePort(EPHEMERAL), 4);
    for (source, steered) in [(32_767, false), (32_768, true), (60_999, true), (61_000, false)] {
        let ports = Some(Ports { source, destination: 443 });
        let reason = codec.decide(0, &Fields { ports, ..ipv4(64) }, 4).reason;
        assert_eq!(reason != Reason::NoField, steered, "port {source}");
    }
}

#[test]
fn a_router_with_one_next_hop_or_none_takes_the_first() {
    let codec = codec(Cipher::Rc5, Field::Ports, 4);
    for next_hops in [0, 1] {
        let alone = Decision { next_hop: 0, reason: Reason::Alone };
        assert_eq!(codec.decide(0, &ipv4(64), next_hops), alone);
    }
}
