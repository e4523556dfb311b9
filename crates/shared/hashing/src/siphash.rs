//! SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) of whole words:
//! bpf/common/siphash.h in Rust.
//!
//! A pseudo-random function: without the key its values cannot be told from random ones.

#[cfg(test)]
mod tests;

/// The hash of these words, each of which stands for eight bytes with the lowest first.
pub fn siphash(key: [u64; 2], words: &[u64]) -> u64 {
    let mut state = State([
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ]);
    for &word in words {
        state.take(word);
    }
    state.take((words.len() as u64 * 8) << 56);
    state.0[2] ^= 0xff;
    state.rounds(4);
    state.0.iter().fold(0, |all, word| all ^ word)
}

struct State([u64; 4]);

impl State {
    fn take(&mut self, word: u64) {
        self.0[3] ^= word;
        self.rounds(2);
        self.0[0] ^= word;
    }

    fn rounds(&mut self, rounds: u32) {
        let [a, b, c, d] = &mut self.0;
        for _ in 0..rounds {
            *a = a.wrapping_add(*b);
            *c = c.wrapping_add(*d);
            *b = b.rotate_left(13) ^ *a;
            *d = d.rotate_left(16) ^ *c;
            *a = a.rotate_left(32);
            *c = c.wrapping_add(*b);
            *a = a.wrapping_add(*d);
            *b = b.rotate_left(17) ^ *c;
            *d = d.rotate_left(21) ^ *a;
            *c = c.rotate_left(32);
        }
    }
}
