//! Pearson's test that all classes are equally likely.

use serde::{Deserialize, Serialize};

/// The test's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChiSquare {
    /// Things that were counted.
    pub count: u64,
    /// The sum of (observed - expected)^2 / expected; 0 if nothing was counted.
    pub statistic: f64,
    /// Classes less one.
    pub degrees: u32,
    /// Probability of such a statistic or a larger one by chance alone. Near 0: some classes are
    /// preferred. Near 1: more even than chance.
    pub p_value: f64,
}

impl ChiSquare {
    /// Of the counts of classes that should be equally likely.
    pub fn uniform(counts: &[u64]) -> ChiSquare {
        let count: u64 = counts.iter().sum();
        let degrees = counts.len().saturating_sub(1) as u32;
        let expected = count as f64 / counts.len().max(1) as f64;
        let part = |&observed: &u64| {
            let off = observed as f64 - expected;
            off * off / expected
        };
        let statistic = if count == 0 { 0.0 } else { counts.iter().map(part).sum() };
        ChiSquare { count, statistic, degrees, p_value: upper_tail(statistic, degrees) }
    }
}

/// P(X >= x) of the chi-square distribution: Q(k/2, x/2), by Q(a + 1, y) = Q(a, y) + y^a e^-y /
/// Gamma(a + 1) (NIST's Digital Library of Mathematical Functions, 8.8.6) from Q(1/2, y) =
/// erfc(sqrt y) or Q(1, y) = e^-y. 1 without degrees of freedom.
fn upper_tail(x: f64, degrees: u32) -> f64 {
    let y = x / 2.0;
    if degrees == 0 || y <= 0.0 {
        return 1.0;
    }
    let (mut a, mut tail) =
        if degrees % 2 == 1 { (0.5, libm::erfc(y.sqrt())) } else { (1.0, libm::exp(-y)) };
    while a < f64::from(degrees) / 2.0 {
        tail += libm::exp(a * libm::log(y) - y - libm::lgamma(a + 1.0));
        a += 1.0;
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The critical values of any statistics text, for 5 % and 1 %.
    #[test]
    fn critical_values() {
        for (degrees, five, one) in [
            (1, 3.841, 6.635),
            (2, 5.991, 9.210),
            (3, 7.815, 11.345),
            (15, 24.996, 30.578),
            (100, 124.342, 135.807),
        ] {
            assert!((upper_tail(five, degrees) - 0.05).abs() < 1e-4, "{degrees}");
            assert!((upper_tail(one, degrees) - 0.01).abs() < 1e-4, "{degrees}");
        }
    }

    /// 60 and 40 of 100: 2 * 10^2 / 50 = 4, and P = 0.0455 (two standard deviations).
    #[test]
    fn sixty_and_forty() {
        let test = ChiSquare::uniform(&[60, 40]);
        assert_eq!((test.count, test.statistic, test.degrees), (100, 4.0, 1));
        assert!((test.p_value - 0.0455).abs() < 1e-4);
    }

    #[test]
    fn nothing_is_even() {
        assert_eq!(ChiSquare::uniform(&[0, 0]).p_value, 1.0);
        assert_eq!(ChiSquare::uniform(&[]).p_value, 1.0);
        assert_eq!(ChiSquare::uniform(&[7]).p_value, 1.0);
    }
}
