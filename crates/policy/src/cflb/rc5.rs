//! RC5 with 16-bit words (Rivest, "The RC5 encryption algorithm", FSE 1994): a block is 32 bits.
//!
//! The paper's RC5-32/12/16: blocks of 32 bits, 12 rounds, keys of 16 bytes.

/// Rounds.
const ROUNDS: usize = 12;

/// Words of the expanded key.
const WORDS: usize = 2 * (ROUNDS + 1);

/// P_16 and Q_16: the first 16 bits of e - 2 and of the golden ratio, made odd.
const P: u16 = 0xb7e1;
const Q: u16 = 0x9e37;

/// RC5 with its expanded key. The upper half of a block is the word A, the lower half B.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rc5 {
    expanded: [u16; WORDS],
}

impl Rc5 {
    /// Expands a key.
    pub fn new(key: &[u8; 16]) -> Rc5 {
        let mut expanded = [P; WORDS];
        for index in 1..WORDS {
            expanded[index] = expanded[index - 1].wrapping_add(Q);
        }
        let mut words: [u16; 8] =
            core::array::from_fn(|word| u16::from_le_bytes([key[2 * word], key[2 * word + 1]]));
        let (mut a, mut b) = (0u16, 0u16);
        for step in 0..3 * WORDS {
            let (i, j) = (step % WORDS, step % words.len());
            a = expanded[i].wrapping_add(a).wrapping_add(b).rotate_left(3);
            expanded[i] = a;
            let sum = a.wrapping_add(b);
            b = words[j].wrapping_add(sum).rotate_left(u32::from(sum));
            words[j] = b;
        }
        Rc5 { expanded }
    }

    /// Encrypts a block.
    #[inline]
    pub fn encrypt(&self, block: u32) -> u32 {
        let [first, second, rounds @ ..] = &self.expanded;
        let mut a = ((block >> 16) as u16).wrapping_add(*first);
        let mut b = (block as u16).wrapping_add(*second);
        for [s, t] in rounds.as_chunks::<2>().0 {
            a = (a ^ b).rotate_left(u32::from(b)).wrapping_add(*s);
            b = (b ^ a).rotate_left(u32::from(a)).wrapping_add(*t);
        }
        u32::from(a) << 16 | u32::from(b)
    }

    /// Decrypts a block.
    #[inline]
    pub fn decrypt(&self, block: u32) -> u32 {
        let [first, second, rounds @ ..] = &self.expanded;
        let (mut a, mut b) = ((block >> 16) as u16, block as u16);
        for [s, t] in rounds.as_chunks::<2>().0.iter().rev() {
            b = b.wrapping_sub(*t).rotate_right(u32::from(a)) ^ a;
            a = a.wrapping_sub(*s).rotate_right(u32::from(b)) ^ b;
        }
        u32::from(a.wrapping_sub(*first)) << 16 | u32::from(b.wrapping_sub(*second))
    }
}
