//! Skip32 against its published vector and another implementation.

use proptest::prelude::*;

use super::{F, Skip32, g};

/// The vector of its author's program.
#[test]
fn the_published_vector() {
    let key = [0x00, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11];
    let skip32 = Skip32::new(&key);
    assert_eq!(skip32.encrypt(0x3322_1100), 0x819d_5f1f);
    assert_eq!(skip32.decrypt(0x819d_5f1f), 0x3322_1100);
}

/// Every byte once: a slip in typing the table would repeat one.
#[test]
fn the_table_is_a_permutation() {
    let mut seen = F;
    seen.sort_unstable();
    assert!((0..=u8::MAX).eq(seen));
}

/// G is a permutation of all words, whatever the key.
#[test]
fn g_is_a_permutation() {
    let mut seen = [false; 1 << 16];
    for word in 0..=u16::MAX {
        seen[usize::from(g(&[0x01, 0x80, 0xfe, 0x37], word))] = true;
    }
    assert!(seen.iter().all(|seen| *seen));
}

proptest! {
    #[test]
    fn another_program_agrees(key: [u8; 10], block: u32) {
        let ours = Skip32::new(&key);
        prop_assert_eq!(ours.encrypt(block), skip32::encode(&key, block));
        prop_assert_eq!(ours.decrypt(block), skip32::decode(&key, block));
    }
}
