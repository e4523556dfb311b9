//! The balancer's SipHash, of which it makes keys.

use heddle_conformance::balancer::native;

/// The authors' vectors for SipHash-2-4 (vectors.h of the reference code): the key is 00 01 .. 0f,
/// the message 00 01 .. 07.
#[test]
fn eight_bytes_have_the_published_hash() {
    let word = |bytes: [u8; 8]| u64::from_le_bytes(bytes);
    let key = [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]].map(word);
    let hash = [0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93];
    assert_eq!(native::siphash(key, word([0, 1, 2, 3, 4, 5, 6, 7])), word(hash));
}
