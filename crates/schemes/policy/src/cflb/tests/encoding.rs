//! Properties of encoding: routers follow every choice, or the error is correct.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

fn fields() -> impl Strategy<Value = Fields> {
    let addresses = prop_oneof![
        any::<(u32, u32)>().prop_map(|(a, b)| Addresses::V4(a.into(), b.into())),
        any::<(u128, u128)>().prop_map(|(a, b)| Addresses::V6(a.into(), b.into())),
    ];
    let ports = prop::option::weighted(0.9, any::<u32>().prop_map(Ports::from_bits));
    let ttls = prop_oneof![1 => 0u8..8, 4 => any::<u8>()];
    (addresses, any::<u8>(), ports, 0u32..1 << 20, ttls).prop_map(
        |(addresses, protocol, ports, flow_label, ttl)| Fields {
            addresses,
            protocol,
            ports,
            flow_label,
            ttl,
        },
    )
}

/// Mostly valid choices of routers in order, for base `radix`; sometimes arbitrary ones.
fn choices(radix: u16) -> impl Strategy<Value = Vec<RouterChoice>> {
    let sound =
        (0u8..6, 1..=radix, any::<prop::sample::Index>()).prop_map(|(hop, next_hops, of)| {
            choice(hop, of.index(usize::from(next_hops)) as u16, next_hops)
        });
    let anything = (any::<u8>(), 0..6u16, 0..=radix.saturating_add(1))
        .prop_map(|(hop, next_hop, next_hops)| choice(hop, next_hop, next_hops));
    prop::collection::vec(prop_oneof![20 => sound, 1 => anything], 0..6)
}

fn codecs() -> impl Strategy<Value = Codec> {
    let radix = prop_oneof![8 => 2u16..=16, 1 => 2u16..=28_232];
    let rules = prop_oneof![Just(Rules::Even), Just(Rules::AsPublished)];
    (prop::sample::select(&KINDS[..]), radix, rules, any::<u32>()).prop_map(
        |((cipher, field), radix, rules, key)| codec_with(cipher, field, radix, rules, key),
    )
}

fn cases() -> impl Strategy<Value = (Codec, Vec<RouterChoice>, Fields)> {
    codecs().prop_flat_map(|codec| (Just(codec), choices(codec.radix().base() as u16), fields()))
}

/// True if a router follows its choice, by its digit if it has more than one next hop.
fn is_followed(codec: &Codec, sent: &Fields, choice: RouterChoice) -> bool {
    let Decision { next_hop, reason } = at_router(codec, sent, choice.hop, choice.next_hops);
    let by_digit = matches!(reason, Reason::Controlled { .. });
    next_hop == choice.next_hop && (by_digit || choice.next_hops == 1)
}

/// True if an error refers to choices that cannot be encoded.
fn is_true(error: EncodeError, codec: &Codec, choices: &[RouterChoice], fields: &Fields) -> bool {
    let base = codec.radix().base();
    match error {
        EncodeError::RadixTooSmall { hop, next_hops, radix } => {
            let named =
                choices.iter().any(|choice| (choice.hop, choice.next_hops) == (hop, next_hops));
            named && radix == base && u32::from(next_hops) > base
        }
        EncodeError::NoSuchNextHop { hop, next_hop, next_hops } => {
            choices.contains(&choice(hop, next_hop, next_hops)) && next_hop >= next_hops
        }
        EncodeError::TooLong { first, second, length } => {
            let choices_at = |hop| {
                choices.iter().filter(move |choice| choice.hop == hop && choice.next_hops > 1)
            };
            let differ =
                choices_at(first).any(|a| choices_at(second).any(|b| a.next_hop != b.next_hop));
            let apart = u32::from(second - first);
            differ && length == codec.radix().length() && apart.is_multiple_of(length)
        }
        EncodeError::TtlTooLow { ttl, hop } => {
            let named = choices.iter().any(|choice| choice.hop == hop);
            named && ttl == fields.ttl && u16::from(ttl) < u16::from(hop) + 2
        }
        EncodeError::NoField => match codec.field() {
            Field::FlowLabel => matches!(fields.addresses, Addresses::V4(..)),
            Field::Ports | Field::SourcePort(_) => fields.ports.is_none(),
        },
        EncodeError::NoneFree { .. } => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn routers_follow_or_the_error_is_true((codec, choices, fields) in cases(), filler: u32) {
        match codec.encode(&choices, &fields, filler) {
            Ok(sent) => {
                prop_assert!(choices.iter().all(|choice| is_followed(&codec, &sent, *choice)));
            }
            Err(error) => prop_assert!(is_true(error, &codec, &choices, &fields), "{error:?}"),
        }
    }

    /// Two fillers below the number of encodings give two encodings; larger fillers repeat them.
    #[test]
    fn fillings_are_names((codec, choices, fields) in cases(), fillers: [u32; 2]) {
        let Ok(names) = codec.names(&choices, fields.ttl) else { return Ok(()) };
        let [a, b] = fillers.map(|filler| filler % names);
        let encode = |filler| codec.encode(&choices, &fields, filler);
        prop_assert!(encode(a).is_err() || (encode(a) == encode(b)) == (a == b));
        if let Some(again) = a.checked_add(names).filter(|_| names < u32::MAX) {
            prop_assert_eq!(encode(a), encode(again));
        }
    }

    /// A search obeys the same rules as a single encoding.
    #[test]
    fn the_first_free_name_steers((codec, choices, fields) in cases(), start: u32, ttls: [u8; 2]) {
        let found = codec.encode_free(&choices, &fields, ttls[0]..=ttls[1], start, |_| true);
        match found {
            Ok(sent) => {
                prop_assert!(sent.ttl == fields.ttl || (ttls[0]..=ttls[1]).contains(&sent.ttl));
                prop_assert!(choices.iter().all(|choice| is_followed(&codec, &sent, *choice)));
            }
            Err(error) => {
                prop_assert!(is_true(error, &codec, &choices, &fields), "{error:?}");
                for ttl in ttls[0]..=ttls[1] {
                    let fields = Fields { ttl, ..fields };
                    prop_assert!(codec.encode(&choices, &fields, start).is_err());
                }
            }
        }
    }

    /// Any packet has a next hop at any router.
    #[test]
    fn any_packet_is_given_a_next_hop(codec in codecs(), fields in fields(), router: u32, next_hops: u16) {
        let decision = codec.decide(router, &fields, next_hops);
        prop_assert!(decision.next_hop < next_hops.max(1));
        prop_assert_eq!(decision, codec.decide(router, &fields, next_hops));
    }
}
