//! Random numbers, the same on every machine.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of them.
#[derive(Clone, Debug)]
pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Every bit is random.
    pub(super) fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Uniform in (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..n; 0 if `n` is 0.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(n)) >> 32) as u32
    }

    /// In 0..n, low numbers first: of n ranks, the first tenth is drawn in 46 of 100 cases.
    pub(super) fn popular(&mut self, n: u32) -> u32 {
        let unit = 1.0 - self.unit();
        (unit * unit * unit * f64::from(n)) as u32
    }

    /// Exponential with the given mean.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.unit())
    }

    /// Uniform on a logarithmic scale.
    pub(super) fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.unit())
    }

    /// Pareto's distribution cut at both ends.
    pub(super) fn pareto(&mut self, shape: f64, low: f64, high: f64) -> f64 {
        let tail = 1.0 - libm::pow(low / high, shape);
        low * libm::pow(1.0 - tail * (1.0 - self.unit()), -1.0 / shape)
    }
}

/// The mean of [`Random::pareto`], for a shape other than 1.
pub(super) fn pareto_mean(shape: f64, low: f64, high: f64) -> f64 {
    let cut = 1.0 - libm::pow(low / high, shape);
    let kept = 1.0 - libm::pow(low / high, shape - 1.0);
    shape / (shape - 1.0) * low * kept / cut
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard error of a million draws from 3 to 1000 is below 0.05.
    #[test]
    fn paretos_mean_is_the_formulas() {
        let mut random = Random::new(1);
        let drawn: f64 = (0..1_000_000).map(|_| random.pareto(1.1, 3.0, 1000.0)).sum();
        let mean = pareto_mean(1.1, 3.0, 1000.0);
        assert!((drawn / 1e6 - mean).abs() < 0.2, "{} {mean}", drawn / 1e6);
    }

    #[test]
    fn draws_stay_in_their_ranges() {
        let mut random = Random::new(2);
        for _ in 0..10_000 {
            assert!(random.popular(7) < 7 && random.below(5) < 5);
            let size = random.pareto(1.1, 3.0, 1e5);
            assert!((3.0..=1.0001e5).contains(&size), "{size}");
            let rate = random.log_uniform(10.0, 1000.0);
            assert!((9.999..=1000.1).contains(&rate), "{rate}");
        }
    }
}
