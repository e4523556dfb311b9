//! RC5 with 16-bit words (Rivest, "The RC5 encryption algorithm", FSE 1994): a block is 32 bits.
//!
//! The paper's RC5-32/12/16: blocks of 32 bits, 12 rounds, a key of 16 bytes. Rivest counts the
//! bits of words and calls it RC5-16/12/16.

#[cfg(test)]
mod tests;

/// P_16 and Q_16: the first 16 bits of e - 2 and of the golden ratio, made odd.
const P: u16 = 0xb7e1;
const Q: u16 = 0x9e37;

/// RC5 with its expanded key. The upper half of a block is the word A, the lower half B.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rc5<const ROUNDS: usize = 12> {
    /// S\[0\] and S\[1\]: what is added before the first round.
    before: [u16; 2],
    /// S\[2i\] and S\[2i + 1\]: what round i adds.
    rounds: [[u16; 2]; ROUNDS],
}

impl<const ROUNDS: usize> Rc5<ROUNDS> {
    /// Expands a key.
    pub fn new(key: &[u8; 16]) -> Rc5<ROUNDS> {
        let word = |word| u16::from_le_bytes([key[2 * word], key[2 * word + 1]]);
        Rc5::expand::<8>(core::array::from_fn(word))
    }

    /// For keys that are not longer than the table S.
    fn expand<const WORDS: usize>(mut key: [u16; WORDS]) -> Rc5<ROUNDS> {
        let mut rc5 = Rc5 { before: [0; 2], rounds: [[0; 2]; ROUNDS] };
        let mut constant = P;
        for word in rc5.words() {
            *word = constant;
            constant = constant.wrapping_add(Q);
        }
        let (mut a, mut b, mut next) = (0u16, 0u16, 0);
        for _ in 0..3 {
            for word in rc5.words() {
                a = word.wrapping_add(a).wrapping_add(b).rotate_left(3);
                *word = a;
                let sum = a.wrapping_add(b);
                b = key[next].wrapping_add(sum).rotate_left(u32::from(sum));
                key[next] = b;
                next = (next + 1) % WORDS;
            }
        }
        rc5
    }

    /// S in order.
    fn words(&mut self) -> impl Iterator<Item = &mut u16> {
        self.before.iter_mut().chain(self.rounds.as_flattened_mut())
    }

    /// Encrypts a block.
    #[inline]
    pub fn encrypt(&self, block: u32) -> u32 {
        let mut a = ((block >> 16) as u16).wrapping_add(self.before[0]);
        let mut b = (block as u16).wrapping_add(self.before[1]);
        for [s, t] in &self.rounds {
            a = (a ^ b).rotate_left(u32::from(b)).wrapping_add(*s);
            b = (b ^ a).rotate_left(u32::from(a)).wrapping_add(*t);
        }
        u32::from(a) << 16 | u32::from(b)
    }

    /// Decrypts a block.
    #[inline]
    pub fn decrypt(&self, block: u32) -> u32 {
        let (mut a, mut b) = ((block >> 16) as u16, block as u16);
        for [s, t] in self.rounds.iter().rev() {
            b = b.wrapping_sub(*t).rotate_right(u32::from(a)) ^ a;
            a = a.wrapping_sub(*s).rotate_right(u32::from(b)) ^ b;
        }
        let [s, t] = self.before;
        u32::from(a.wrapping_sub(s)) << 16 | u32::from(b.wrapping_sub(t))
    }
}
