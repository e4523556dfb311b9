use super::siphash;

/// SipHash-2-4 of 00 01 .. up to its length under the key 00 01 .. 0f: the authors' vectors
/// (vectors.h of the reference code).
#[test]
fn whole_words_have_the_published_hashes() {
    let word = |at: u64| u64::from_le_bytes(core::array::from_fn(|byte| at as u8 * 8 + byte as u8));
    let (key, message) = ([word(0), word(1)], [0, 1, 2, 3, 4, 5].map(word));
    let published: [(usize, u64); 5] = [
        (0, 0x310e_0edd_47db_6f72),
        (1, 0x6224_939a_79f5_f593),
        (2, 0xdb9b_c257_7fcc_2a3f),
        (3, 0x94af_49f6_c650_adb8),
        (6, 0x51a9_cb9e_cba3_12e6),
    ];
    for (words, hash) in published {
        assert_eq!(siphash(key, &message[..words]).swap_bytes(), hash, "{words}");
    }
}
