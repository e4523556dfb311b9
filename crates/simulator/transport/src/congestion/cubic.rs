//! CUBIC (RFC 9438). Windows are in segments and times in seconds, as in the RFC; only IEEE basic
//! operations and [`libm::cbrt`] touch them, so that every machine computes the same bits.

use heddle_units::Time;

use super::Acked;

/// C, in segments per second cubed (section 5).
const C: f64 = 0.4;
/// β_cubic, the multiplicative decrease factor (section 4.6).
const BETA: f64 = 0.7;
/// α_cubic of the Reno-friendly region (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Clone, Debug)]
pub(super) struct Cubic {
    /// Start of this congestion avoidance stage; [`Time::NEVER`] if it starts with the next
    /// acknowledgement.
    epoch: Time,
    /// W_max: the plateau of the cubic function.
    w_max: f64,
    /// Time from the epoch to `w_max`.
    k: f64,
    /// W_est: the window that Reno would have.
    w_est: f64,
    /// cwnd_prior: the window before the last reduction.
    cwnd_prior: f64,
    /// Fraction of a byte of growth.
    carry: f64,
}

impl Cubic {
    pub(super) fn new() -> Cubic {
        Cubic { epoch: Time::NEVER, w_max: 0.0, k: 0.0, w_est: 0.0, cwnd_prior: 0.0, carry: 0.0 }
    }

    /// Bytes to add to `cwnd` in congestion avoidance (sections 4.2 to 4.5).
    pub(super) fn increase(&mut self, cwnd: u64, ack: &Acked) -> u64 {
        let window = segments(cwnd, ack.mss);
        let acked = segments(ack.bytes, ack.mss);
        if self.epoch == Time::NEVER {
            self.start_epoch(ack.now, window);
        }
        let alpha = if self.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        self.w_est += alpha * acked / window;

        let t = ack.now.saturating_sub(self.epoch).as_secs_f64();
        let growth = if self.curve(t) < self.w_est {
            (self.w_est - window).max(0.0)
        } else {
            let target = self.curve(t + ack.srtt.as_secs_f64()).clamp(window, 1.5 * window);
            (target - window) / window * acked
        };
        self.whole_bytes(growth * ack.mss as f64)
    }

    fn start_epoch(&mut self, now: Time, window: f64) {
        self.epoch = now;
        self.w_max = self.w_max.max(window);
        self.k = libm::cbrt((self.w_max - window) / C);
        self.w_est = window;
    }

    /// W_cubic(t), equation 1.
    fn curve(&self, t: f64) -> f64 {
        let d = t - self.k;
        C * d * d * d + self.w_max
    }

    fn whole_bytes(&mut self, growth: f64) -> u64 {
        let bytes = growth + self.carry;
        let whole = bytes as u64;
        self.carry = bytes - whole as f64;
        whole
    }

    /// The window after a loss (section 4.6), with fast convergence (section 4.7).
    pub(super) fn reduce(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64 {
        let window = segments(cwnd, mss);
        self.w_max = if window < self.w_max { window * (1.0 + BETA) / 2.0 } else { window };
        self.cwnd_prior = window;
        self.end_epoch();
        (flight as f64 * BETA) as u64
    }

    /// Resets W_max after a timeout: the next stage starts with K = 0 (section 4.8).
    pub(super) fn on_timeout(&mut self) {
        self.w_max = 0.0;
        self.end_epoch();
    }

    /// Ends the epoch: a new stage starts with the next acknowledgement, so that idle time does not
    /// count (section 5.8).
    pub(super) fn end_epoch(&mut self) {
        self.epoch = Time::NEVER;
    }
}

fn segments(bytes: u64, mss: u64) -> f64 {
    bytes as f64 / mss as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MSS, one_segment, window};
    use crate::Control;
    use heddle_units::Time;
    use std::vec::Vec;

    const RTT: Time = Time::millis(100);

    /// The window in segments after each of `rounds` round trips, acknowledgements spread evenly
    /// over them.
    fn rounds(window: &mut super::super::CongestionControl, rounds: u64) -> Vec<f64> {
        let mut seen = Vec::new();
        for round in 0..rounds {
            let segments = window.cwnd / MSS;
            for i in 0..segments {
                let now = RTT * round + Time(RTT.0 * i / segments);
                window.on_ack(&one_segment(now, window.cwnd));
            }
            seen.push(window.cwnd as f64 / MSS as f64);
        }
        seen
    }

    #[test]
    fn the_window_follows_the_cubic_curve_of_equation_1() {
        let w_max: f64 = 1000.0;
        let mut window = window(Control::Cubic, 1000, 1000);
        window.on_loss(window.cwnd, MSS);
        assert_eq!(window.cwnd, 700 * MSS);
        let k = libm::cbrt(w_max * 0.3 / 0.4);
        for (round, seen) in rounds(&mut window, 150).into_iter().enumerate() {
            let t = (round + 1) as f64 * 0.1;
            let curve = 0.4 * (t - k) * (t - k) * (t - k) + w_max;
            assert!(
                (seen / curve - 1.0).abs() < 0.01,
                "at {t:.1} s: {seen}, the curve says {curve}"
            );
        }
    }

    #[test]
    fn a_small_window_grows_like_reno() {
        let mut window = window(Control::Cubic, 20, 20);
        window.on_loss(window.cwnd, MSS);
        let seen = rounds(&mut window, 30);
        // 0.53 segments a round from 14 to 20, one a round from there on.
        assert!((seen[9] - (14.0 + 10.0 * super::ALPHA)).abs() < 0.5, "{}", seen[9]);
        assert!((seen[29] - seen[19] - 10.0).abs() < 0.5, "{} to {}", seen[19], seen[29]);
    }

    #[test]
    fn a_second_loss_below_the_first_converges_fast() {
        let mut window = window(Control::Cubic, 1000, 1000);
        window.on_loss(1000 * MSS, MSS);
        window.on_loss(700 * MSS, MSS);
        // Fast convergence: flat at 700 * 0.85 = 595, not at 700; from 490, K is the cube root of
        // 105 / 0.4, 6.4 s.
        let seen = rounds(&mut window, 64);
        assert!((seen[63] - 595.0).abs() < 3.0, "{}", seen[63]);
    }

    #[test]
    fn after_a_timeout_the_curve_starts_flat() {
        let mut window = window(Control::Cubic, 1000, 1000);
        window.on_loss(1000 * MSS, MSS);
        window.on_timeout(MSS);
        let seen = rounds(&mut window, 60);
        // Slow start is at 700 after 0.94 s; from there W_max = 700 and K = 0.
        let curve: f64 = 700.0 + 0.4 * libm::pow(6.0 - 0.94, 3.0);
        assert!((seen[59] - curve).abs() < 3.0, "{}, the curve says {curve}", seen[59]);
    }
}
