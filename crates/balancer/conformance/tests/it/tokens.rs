//! The balancer's tokens are those of the keys' hashes.

use heddle_conformance::balancer::native;
use heddle_wire::{Key, Token, Version};
use proptest::prelude::*;

/// The expected hashes are those of `sha1sum` and `sha256sum` for the key's eight bytes.
#[test]
fn tokens_are_the_first_four_bytes_of_the_hashes() {
    let known = [
        (*b"abcdefgh", 0x425a_f12a, 0x9c56_cc51),
        ([0; 8], 0x05fe_4057, 0xaf55_70f5),
        ([0xff; 8], 0xbe67_3e8a, 0x12a3_ae44),
    ];
    for (key, v0, v1) in known {
        assert_eq!(native::token(Version::V0, Key(key)), Token(v0), "SHA-1 of {key:x?}");
        assert_eq!(native::token(Version::V1, Key(key)), Token(v1), "SHA-256 of {key:x?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn tokens_are_those_of_the_wire_crate(key: [u8; 8]) {
        for version in [Version::V0, Version::V1] {
            prop_assert_eq!(native::token(version, Key(key)), version.token(Key(key)));
        }
    }
}
