//! The offset of each target's checks in the interval.

use std::time::Duration;

use xxhash_rust::xxh64::xxh64;

/// The time from the start of each interval to the check of the target `name`: below `interval`,
/// spread evenly over names, and always the same for a name.
pub fn jitter(name: &str, interval: Duration) -> Duration {
    let nanoseconds = interval.as_nanos().min(u64::MAX.into());
    // The hash as a fraction of 2^64.
    let part = (nanoseconds * u128::from(xxh64(name.as_bytes(), 0))) >> 64;
    Duration::from_nanos(part as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spread_evenly_over_the_interval() {
        let interval = Duration::from_secs(10);
        let mut tenths = [0; 10];
        for n in 0..1000 {
            let jitter = jitter(&format!("web/b{n}"), interval);
            tenths[jitter.as_secs() as usize] += 1;
        }
        // 1000 fair choices of ten: 100 each, standard deviation 9.5. Five of them either way.
        assert!(tenths.iter().all(|n| (52..=148).contains(n)), "{tenths:?}");
    }

    #[test]
    fn a_name_keeps_its_place() {
        let [one, two] = [1, 2].map(|n| jitter("b1", Duration::from_secs(n)));
        assert_eq!(two.as_nanos() / 2, one.as_nanos());
        assert_eq!(jitter("b1", Duration::ZERO), Duration::ZERO);
    }
}
