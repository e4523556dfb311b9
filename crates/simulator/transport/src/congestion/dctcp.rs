//! DCTCP's estimate of congestion (RFC 8257 section 3.3).

use super::Acked;

/// g, the weight of new samples in the estimate (section 4.2).
const G: f64 = 1.0 / 16.0;

#[derive(Clone, Debug)]
pub(super) struct Dctcp {
    /// The estimated fraction of bytes that are marked.
    alpha: f64,
    /// Bytes acknowledged in this observation window.
    acked: u64,
    /// Bytes among these whose acknowledgement carried ECE.
    marked: u64,
    /// End of the observation window.
    end: u64,
}

impl Dctcp {
    pub(super) fn new() -> Dctcp {
        Dctcp { alpha: 1.0, acked: 0, marked: 0, end: 0 }
    }

    #[inline]
    pub(super) fn observe(&mut self, ack: &Acked) {
        self.acked += ack.bytes;
        self.marked += if ack.echo { ack.bytes } else { 0 };
        if ack.una > self.end && self.acked > 0 {
            self.alpha += G * (self.marked as f64 / self.acked as f64 - self.alpha);
            self.end = ack.nxt;
            self.acked = 0;
            self.marked = 0;
        }
    }

    /// Window after a reduction for ECE.
    pub(super) fn reduce(&self, cwnd: u64) -> u64 {
        (cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MSS, one_segment};
    use super::*;
    use heddle_units::Time;

    /// `rounds` windows of ten segments, the first `marked` of each marked.
    fn observe(dctcp: &mut Dctcp, rounds: u64, marked: u64) {
        let start = dctcp.end;
        for i in 0..10 * rounds {
            let una = start + (i + 1) * MSS;
            let ack = one_segment(Time::ZERO, 10 * MSS);
            dctcp.observe(&Acked { una, nxt: una + 9 * MSS, echo: i % 10 < marked, ..ack });
        }
    }

    #[test]
    fn alpha_starts_at_one_and_decays_by_a_sixteenth_a_window() {
        let mut dctcp = Dctcp::new();
        assert_eq!(dctcp.reduce(100 * MSS), 50 * MSS, "as careful as Reno before it knows better");
        observe(&mut dctcp, 16, 0);
        let expected = libm::pow(15.0 / 16.0, 16.0);
        assert!((dctcp.alpha - expected).abs() < 0.03, "{}", dctcp.alpha);
    }

    #[test]
    fn alpha_tends_to_the_fraction_marked_and_cuts_the_window_by_half_of_it() {
        let mut dctcp = Dctcp::new();
        observe(&mut dctcp, 200, 2);
        assert!((dctcp.alpha - 0.2).abs() < 0.001, "{}", dctcp.alpha);
        assert!(dctcp.reduce(1000 * MSS).abs_diff(900 * MSS) < MSS);
    }
}
