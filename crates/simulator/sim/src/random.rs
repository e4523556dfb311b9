//! Random numbers, the same on every machine.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Purpose of a stream of random numbers. Streams of one seed are independent, so that a scheme
/// that draws numbers does not change the traffic: two schemes with one seed get the same flows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Traffic = 1,
    Scheme = 2,
    Layout = 3,
    MptcpKeys = 4,
    CflbKey = 5,
    Steering = 6,
    Losses = 7,
    Entropy = 8,
    Marks = 9,
    Groups = 10,
}

/// One stream.
#[derive(Clone, Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64, stream: Stream) -> Random {
        let mut base = Xoshiro256PlusPlus::seed_from_u64(seed);
        let offset = (0..stream as u32).fold(0, |_, _| base.next_u64());
        Random(Xoshiro256PlusPlus::seed_from_u64(offset))
    }

    #[inline]
    pub(crate) fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    #[inline]
    pub(crate) fn bits64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..n; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with the given mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// A permutation of 0..n that maps no number to itself; `n` must be at least 2 for that.
    pub(crate) fn derangement(&mut self, n: u32) -> Vec<u32> {
        let mut image: Vec<u32> = (0..n).collect();
        self.shuffle(&mut image);
        for i in 0..image.len() {
            if image[i] == i as u32 {
                image.swap(i, (i + 1) % n as usize);
            }
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derangement_moves_everything() {
        for n in 2..50 {
            for seed in 0..50 {
                let image = Random::new(seed, Stream::Traffic).derangement(n);
                let mut sorted = image.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..n).collect::<Vec<_>>());
                assert!(image.iter().enumerate().all(|(i, &to)| i as u32 != to), "{n} {seed}");
            }
        }
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut random = Random::new(1, Stream::Traffic);
        let mean = (0..100_000).map(|_| random.exponential(3.0)).sum::<f64>() / 100_000.0;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
    }
}
