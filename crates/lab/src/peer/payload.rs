//! Payloads that both ends generate from a seed: the receiver checks each byte.

use std::io::{self, Read, Write};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes generated, written and checked at a time.
const BLOCK: usize = 64 * 1024;

/// The payload of a seed, block by block.
struct Blocks {
    random: Xoshiro256PlusPlus,
    left: u64,
    block: Vec<u8>,
}

impl Blocks {
    fn new(bytes: u64, seed: u64) -> Blocks {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Blocks { random, left: bytes, block: vec![0; BLOCK] }
    }

    fn next(&mut self) -> Option<&[u8]> {
        let length = usize::try_from(self.left).unwrap_or(BLOCK).min(BLOCK);
        self.left -= length as u64;
        let block = &mut self.block[..length];
        self.random.fill_bytes(block);
        (length > 0).then_some(block)
    }
}

/// Writes the payload; `progress` is called with the bytes written so far.
pub(crate) fn send(
    to: &mut impl Write,
    bytes: u64,
    seed: u64,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut blocks = Blocks::new(bytes, seed);
    while let Some(block) = blocks.next() {
        to.write_all(block)?;
        progress(bytes - blocks.left);
    }
    Ok(())
}

/// Reads the payload to its end and checks it. The error for a wrong byte is `InvalidData`, and comes after the last byte.
pub(crate) fn check(
    from: &mut impl Read,
    bytes: u64,
    seed: u64,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut blocks = Blocks::new(bytes, seed);
    let mut received = vec![0; BLOCK];
    let mut damage = None;
    let mut so_far = 0;
    while let Some(expected) = blocks.next() {
        let received = &mut received[..expected.len()];
        from.read_exact(received)?;
        damage = damage.or_else(|| difference(received, expected).map(|at| so_far + at));
        so_far += expected.len() as u64;
        progress(so_far);
    }
    damage.map_or(Ok(()), |at| Err(io::Error::new(io::ErrorKind::InvalidData, wrong(at))))
}

fn difference(a: &[u8], b: &[u8]) -> Option<u64> {
    if a == b {
        return None;
    }
    a.iter().zip(b).position(|(a, b)| a != b).map(|at| at as u64)
}

fn wrong(at: u64) -> String {
    format!("byte {at} is not what was sent")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 200_001;

    fn sent(seed: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        send(&mut bytes, BYTES, seed, &mut |_| ()).unwrap();
        bytes
    }

    #[test]
    fn what_was_sent_passes_and_progress_ends_at_its_length() {
        let mut last = 0;
        check(&mut &*sent(7), BYTES, 7, &mut |so_far| last = so_far).unwrap();
        assert_eq!((sent(7).len() as u64, last), (BYTES, BYTES));
    }

    #[test]
    fn a_changed_byte_a_swap_and_a_missing_end_are_found() {
        let mut changed = sent(7);
        changed[150_000] ^= 1;
        let error = check(&mut &*changed, BYTES, 7, &mut |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "byte 150000 is not what was sent");
        let mut swapped = sent(7);
        swapped[..20_000].rotate_left(1460);
        assert!(check(&mut &*swapped, BYTES, 7, &mut |_| ()).is_err());
        assert!(check(&mut &*sent(8), BYTES, 7, &mut |_| ()).is_err());
        let error = check(&mut &sent(7)[..200_000], BYTES, 7, &mut |_| ()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
