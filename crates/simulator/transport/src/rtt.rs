//! Round-trip time estimation and the retransmission timeout (RFC 6298).

use heddle_units::Time;

use crate::TcpConfig;

/// Clock granularity G: a tick of [`crate::Timestamp`].
const GRANULARITY: u64 = 1 << 14;

/// RTT estimator. Timestamps make every sample unambiguous, so Karn's algorithm is not needed.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    /// Smoothed round-trip time; zero before the first sample.
    srtt: Time,
    var: Time,
    rto: Time,
}

impl Rtt {
    pub(crate) fn new(config: &TcpConfig) -> Rtt {
        Rtt { srtt: Time::ZERO, var: Time::ZERO, rto: config.initial_rto() }
    }

    /// Adds a sample, which also ends a back-off.
    pub(crate) fn sample(&mut self, config: &TcpConfig, rtt: Time) {
        let rtt = rtt.0.max(1);
        if self.srtt == Time::ZERO {
            self.srtt = Time(rtt);
            self.var = Time(rtt / 2);
        } else {
            let error = self.srtt.0.abs_diff(rtt);
            self.var = Time(self.var.0 - self.var.0 / 4 + error / 4);
            self.srtt = Time(self.srtt.0 - self.srtt.0 / 8 + rtt / 8);
        }
        let rto = self.srtt + Time(GRANULARITY.max(4 * self.var.0));
        self.rto = rto.max(config.min_rto).min(config.max_rto);
    }

    /// Doubles the timeout, up to its limit.
    pub(crate) fn back_off(&mut self, config: &TcpConfig) {
        self.rto = self.rto.saturating_add(self.rto).min(config.max_rto);
    }

    /// The smoothed round-trip time; zero before the first sample.
    #[inline]
    pub(crate) fn smoothed(&self) -> Time {
        self.srtt
    }

    /// The retransmission timeout.
    #[inline]
    pub(crate) fn rto(&self) -> Time {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> TcpConfig {
        TcpConfig { min_rto: Time::micros(200), max_rto: Time::millis(2), ..TcpConfig::default() }
    }

    #[test]
    fn samples_update_the_timeout_by_rfc_6298_section_2() {
        let mut rtt = Rtt::new(&config());
        assert_eq!(rtt.rto(), config().initial_rto());
        for (sample, srtt, rto) in [
            (800, 800.0, 2000.0),    // var 400, rto 2400 capped
            (800, 800.0, 2000.0),    // var 300
            (800, 800.0, 1700.0),    // var 225
            (1600, 900.0, 2000.0),   // var 368.75
            (900, 900.0, 2000.0),    // var 276.5625
            (900, 900.0, 1729.6875), // var 207.421875
        ] {
            rtt.sample(&config(), Time::micros(sample));
            assert!((rtt.smoothed().as_secs_f64() * 1e6 - srtt).abs() < 0.01, "{}", rtt.smoothed());
            assert!((rtt.rto().as_secs_f64() * 1e6 - rto).abs() < 0.01, "{}", rtt.rto());
        }
    }

    #[test]
    fn a_steady_round_trip_brings_the_timeout_down_to_its_minimum() {
        let mut rtt = Rtt::new(&config());
        for _ in 0..50 {
            rtt.sample(&config(), Time::micros(100));
        }
        assert_eq!(rtt.rto(), Time::micros(200));
    }

    #[test]
    fn each_back_off_doubles_until_the_maximum_and_a_sample_ends_it() {
        let mut rtt = Rtt::new(&config());
        rtt.sample(&config(), Time::micros(100));
        let timeouts = [(); 5].map(|()| {
            rtt.back_off(&config());
            rtt.rto().as_nanos() / 1000
        });
        assert_eq!(timeouts, [600, 1200, 2000, 2000, 2000]);
        rtt.sample(&config(), Time::micros(100));
        assert_eq!(rtt.rto(), Time::micros(250));
    }
}
