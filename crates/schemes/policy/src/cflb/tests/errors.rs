//! Each error of the codec and of a sender.

use super::*;

fn refused(codec: &Codec, path: &[RouterChoice], fields: &Fields) -> EncodeError {
    codec.encode(path, fields, 0).unwrap_err()
}

#[test]
fn constants_that_make_no_codec() {
    let new = |field, cipher, radix, key: &[u8]| {
        Codec::new(&CflbConfig { field, cipher, radix, rules: Rules::Even }, key).unwrap_err()
    };
    let (key, empty) = ([0; 16], PortRange { low: 2, high: 1 });
    assert_eq!(new(Field::SourcePort(empty), Cipher::Feistel, 2, &key), CodecError::NoPorts);
    let one = PortRange { low: 7, high: 7 };
    let radix = |radix, values| CodecError::Radix { radix, values };
    assert_eq!(new(Field::SourcePort(one), Cipher::Feistel, 2, &key), radix(2, 1));
    for base in [0, 1] {
        assert_eq!(new(Field::Ports, Cipher::Rc5, base, &key), radix(base, 1 << 32));
    }
    let too_wide = new(Field::FlowLabel, Cipher::Rc5, 2, &key);
    assert_eq!(too_wide, CodecError::Cipher { values: 1 << 20 });
    let key_error = |needed, given| CodecError::Key { needed, given };
    assert_eq!(new(Field::Ports, Cipher::Rc5, 2, &key[..10]), key_error(16, 10));
    assert_eq!(new(Field::Ports, Cipher::Skip32, 2, &key), key_error(10, 16));
}

#[test]
fn a_router_with_more_next_hops_than_digits_have_values() {
    let error = refused(&codec_of_16_bits(4), &[choice(0, 0, 4), choice(1, 2, 5)], &ipv4(64));
    assert_eq!(error, EncodeError::RadixTooSmall { hop: 1, next_hops: 5, radix: 4 });
}

#[test]
fn a_next_hop_that_is_not_there() {
    let codec = codec_of_16_bits(4);
    for (next_hop, next_hops) in [(3, 3), (1, 1), (0, 0)] {
        let error = refused(&codec, &[choice(2, next_hop, next_hops)], &ipv4(64));
        assert_eq!(error, EncodeError::NoSuchNextHop { hop: 2, next_hop, next_hops });
    }
}

/// B = 4 on 16 bits: L = 8, so that routers 1 and 9 read the same digit.
#[test]
fn a_path_longer_than_the_selector() {
    let codec = codec_of_16_bits(4);
    let too_long = EncodeError::TooLong { first: 1, second: 9, length: 8 };
    assert_eq!(refused(&codec, &[choice(1, 0, 4), choice(9, 1, 4)], &ipv4(64)), too_long);
    assert_eq!(refused(&codec, &[choice(9, 1, 4), choice(1, 0, 4)], &ipv4(64)), too_long);
}

/// Two routers share a digit if their choices are equal, also with different numbers of next hops;
/// a single next hop needs no digit.
#[test]
fn two_routers_share_a_digit() {
    let codec = codec_of_16_bits(4);
    let path = [choice(1, 2, 4), choice(9, 2, 3), choice(17, 0, 1)];
    let sent = codec.encode(&path, &ipv4(64), 5).unwrap();
    for choice in path {
        assert_eq!(
            at_router(&codec, &sent, choice.hop, choice.next_hops).next_hop,
            choice.next_hop
        );
    }
    assert_eq!(codec.names(&path, 64), Ok(4u32.pow(7)), "one digit of 8 is asked for");
}

/// RFC 1812, section 5.3.1: a router that receives a TTL of 1 drops the packet.
#[test]
fn a_packet_that_would_die_on_the_way() {
    let codec = codec_of_16_bits(4);
    for next_hops in [1, 4] {
        let path = [choice(3, 0, next_hops)];
        assert!(codec.encode(&path, &ipv4(5), 0).is_ok(), "3 routers on it is 2");
        for ttl in [0, 2, 3, 4] {
            let too_low = EncodeError::TtlTooLow { ttl, hop: 3 };
            assert_eq!(refused(&codec, &path, &ipv4(ttl)), too_low);
        }
    }
}

#[test]
fn a_packet_without_the_field() {
    let codec = codec_of_16_bits(4);
    let fields = Fields { ports: None, ..ipv4(64) };
    assert_eq!(refused(&codec, &[choice(0, 1, 4)], &fields), EncodeError::NoField);
    let found = codec.encode_free(&[choice(0, 1, 4)], &fields, 32..=64, 0, |_| true);
    assert_eq!(found, Err(EncodeError::NoField));
}
