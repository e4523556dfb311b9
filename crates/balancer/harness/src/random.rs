//! Numbers that look random and depend on a seed alone.

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`.
    pub const fn below(&mut self, end: u32) -> u32 {
        (((self.bits() >> 32) * end as u64) >> 32) as u32
    }

    /// A number above 0 and up to 1.
    fn share(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A number from a normal distribution (Box and Muller, 1958).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = (-2.0 * libm::log(self.share())).sqrt();
        mean + deviation * radius * libm::cos(core::f64::consts::TAU * self.share())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normal_distribution_has_its_mean_and_deviation() {
        let mut random = Random::new(1);
        let drawn: Vec<f64> = (0..100_000).map(|_| random.normal(60.0, 10.0)).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let squares = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        assert!((mean - 60.0).abs() < 0.1, "{mean}");
        assert!(((squares / drawn.len() as f64).sqrt() - 10.0).abs() < 0.1);
    }

    #[test]
    fn numbers_below_an_end_are_even() {
        let mut random = Random::new(1);
        let mut seen = [0u32; 7];
        (0..70_000).for_each(|_| seen[random.below(7) as usize] += 1);
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 400), "{seen:?}");
    }
}
