//! Congestion control: the congestion window and its algorithms.
//!
//! An algorithm depends on the arguments of its methods only, in bytes. [`crate::Sender`] calls it
//! to grow only while the congestion window, not the application or the receive window, limits the
//! sender, and to shrink at most once for each window of data. Coupled congestion control gets a
//! [`Gain`] before each acknowledgement.

mod coupled;
mod cubic;
mod dctcp;

use heddle_units::Time;

use crate::{Control, TcpConfig};
use coupled::Coupled;
pub(crate) use coupled::{Gain, PathState, gain};
use cubic::Cubic;
use dctcp::Dctcp;

/// An acknowledgement of new data. Counts and sequence numbers are in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// Arrival time.
    pub now: Time,
    /// Newly acknowledged bytes.
    pub bytes: u64,
    /// Bytes in flight before it.
    pub flight: u64,
    /// The acknowledgement number.
    pub una: u64,
    /// SND.NXT.
    pub nxt: u64,
    /// Largest payload of a segment.
    pub mss: u64,
    /// Smoothed round-trip time.
    pub srtt: Time,
    /// True if it carries ECE.
    pub echo: bool,
}

/// Algorithm with its own state.
#[derive(Clone, Debug)]
enum Algorithm {
    NewReno,
    Cubic(Cubic),
    Dctcp(Dctcp),
    Coupled(Coupled),
}

/// Congestion window and algorithm. Fields are in the order in which acknowledgements access them.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct CongestionControl {
    /// The congestion window.
    pub cwnd: u64,
    /// Slow start threshold: slow start below, congestion avoidance from here on.
    ssthresh: u64,
    /// Bytes acknowledged since congestion avoidance last increased the window.
    bytes_acked: u64,
    algorithm: Algorithm,
}

impl CongestionControl {
    pub(crate) fn new(config: &TcpConfig) -> CongestionControl {
        let algorithm = match config.control {
            Control::NewReno => Algorithm::NewReno,
            Control::Cubic => Algorithm::Cubic(Cubic::new()),
            Control::Dctcp => Algorithm::Dctcp(Dctcp::new()),
            Control::Coupled => Algorithm::Coupled(Coupled::new()),
        };
        CongestionControl {
            cwnd: initial_window(config),
            ssthresh: initial_ssthresh(config),
            bytes_acked: 0,
            algorithm,
        }
    }

    /// Records an acknowledgement of new data; called before any other method for that
    /// acknowledgement.
    #[inline]
    pub(crate) fn observe(&mut self, ack: &Acked) {
        match &mut self.algorithm {
            Algorithm::NewReno | Algorithm::Cubic(_) => {}
            Algorithm::Dctcp(dctcp) => dctcp.observe(ack),
            Algorithm::Coupled(coupled) => coupled.observe(ack),
        }
    }

    /// Sets the gain of a coupled window; other algorithms ignore it.
    #[inline]
    pub(crate) fn set_gain(&mut self, gain: Gain) {
        if let Algorithm::Coupled(coupled) = &mut self.algorithm {
            coupled.gain = gain;
        }
    }

    /// The slow start threshold; `None` if it is as high as it can be.
    pub(crate) fn ssthresh(&self) -> Option<u64> {
        Some(self.ssthresh).filter(|&threshold| threshold != u64::MAX)
    }

    /// True if the window is past slow start.
    #[inline]
    pub(crate) fn in_congestion_avoidance(&self) -> bool {
        self.cwnd >= self.ssthresh
    }

    /// State that coupled congestion control reads of this subflow.
    #[inline]
    pub(crate) fn path_state(&self, srtt: Time) -> PathState {
        let (since_loss, between_losses) = match &self.algorithm {
            Algorithm::Coupled(coupled) => coupled.losses(),
            _ => (0, 0),
        };
        PathState::new(self.cwnd as f64, srtt.as_secs_f64()).with_losses(since_loss, between_losses)
    }

    /// Grows with an acknowledgement: slow start by appropriate byte counting with L = 1 (RFC
    /// 3465), then by controller.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Acked) {
        if !self.in_congestion_avoidance() {
            self.cwnd += ack.bytes.min(ack.mss);
            return;
        }
        match &mut self.algorithm {
            Algorithm::NewReno | Algorithm::Dctcp(_) => self.avoid_congestion(ack),
            Algorithm::Cubic(cubic) => self.cwnd += cubic.increase(self.cwnd, ack),
            Algorithm::Coupled(coupled) => self.cwnd = coupled.avoid_congestion(self.cwnd, ack),
        }
    }

    /// One segment more for each window of bytes acknowledged (RFC 5681 section 3.1).
    #[inline]
    fn avoid_congestion(&mut self, ack: &Acked) {
        self.bytes_acked += ack.bytes;
        if self.bytes_acked >= self.cwnd {
            self.bytes_acked -= self.cwnd;
            self.cwnd += ack.mss;
        }
    }

    /// Reduces the window after a loss with `flight` bytes outstanding.
    pub(crate) fn on_loss(&mut self, flight: u64, mss: u64) {
        let reduced = match &mut self.algorithm {
            Algorithm::Cubic(cubic) => cubic.reduce(self.cwnd, flight, mss),
            Algorithm::NewReno | Algorithm::Dctcp(_) => flight / 2,
            Algorithm::Coupled(coupled) => coupled.reduce(flight),
        };
        self.shrink(reduced, mss);
    }

    /// Reduces the window after ECE.
    pub(crate) fn on_ecn(&mut self, flight: u64, mss: u64) {
        match &self.algorithm {
            Algorithm::Dctcp(dctcp) => self.shrink(dctcp.reduce(self.cwnd), mss),
            Algorithm::NewReno | Algorithm::Cubic(_) | Algorithm::Coupled(_) => {
                self.on_loss(flight, mss);
            }
        }
    }

    fn shrink(&mut self, reduced: u64, mss: u64) {
        self.ssthresh = reduced.max(2 * mss);
        self.cwnd = self.ssthresh;
        self.bytes_acked = 0;
    }

    /// Halves the window, to a segment at least; past slow start the threshold too, to two at
    /// least.
    pub(crate) fn penalise(&mut self, mss: u64) {
        if self.in_congestion_avoidance() {
            self.ssthresh = (self.ssthresh / 2).max(2 * mss);
        }
        self.cwnd = (self.cwnd / 2).max(mss);
    }

    /// Restarts from one segment after a retransmission timeout. The sender calls `on_loss` first
    /// if the window has not been reduced for this congestion event.
    pub(crate) fn on_timeout(&mut self, mss: u64) {
        self.cwnd = mss;
        self.bytes_acked = 0;
        if let Algorithm::Cubic(cubic) = &mut self.algorithm {
            cubic.on_timeout();
        }
    }

    /// Restarts after an idle period longer than the retransmission timeout (RFC 5681 section 4.1).
    pub(crate) fn on_idle(&mut self, config: &TcpConfig) {
        if config.idle_restart {
            self.cwnd = self.cwnd.min(initial_window(config));
        }
        if let Algorithm::Cubic(cubic) = &mut self.algorithm {
            cubic.end_epoch();
        }
    }

    /// Deflates the window at the end of NewReno recovery with `flight` bytes outstanding, without
    /// a burst (RFC 6582 section 3.2 step 3, option 1).
    pub(crate) fn deflate(&mut self, flight: u64, mss: u64) {
        self.cwnd = self.ssthresh.min(flight.max(mss) + mss);
    }
}

/// The first slow start threshold in bytes; at least two segments (RFC 5681 section 3.1).
fn initial_ssthresh(config: &TcpConfig) -> u64 {
    config
        .initial_ssthresh
        .map_or(u64::MAX, |segments| u64::from(segments.max(2)) * u64::from(config.mss.max(1)))
}

/// The initial window in bytes; at least a segment.
fn initial_window(config: &TcpConfig) -> u64 {
    u64::from(config.initial_window.max(1)) * u64::from(config.mss)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const MSS: u64 = 1000;

    /// A window of `segments`, in congestion avoidance if `ssthresh` is no more.
    pub(crate) fn window(control: Control, segments: u64, ssthresh: u64) -> CongestionControl {
        let config = TcpConfig { control, mss: MSS as u16, ..TcpConfig::default() };
        let window = CongestionControl::new(&config);
        CongestionControl { cwnd: segments * MSS, ssthresh: ssthresh.saturating_mul(MSS), ..window }
    }

    /// An acknowledgement of one segment in the middle of a full window.
    pub(crate) fn one_segment(now: Time, cwnd: u64) -> Acked {
        Acked {
            now,
            bytes: MSS,
            flight: cwnd,
            una: MSS,
            nxt: cwnd,
            mss: MSS,
            srtt: Time::millis(100),
            echo: false,
        }
    }

    /// Acknowledges as many segments as the window holds.
    fn one_round(window: &mut CongestionControl) {
        for _ in 0..window.cwnd / MSS {
            window.on_ack(&one_segment(Time::ZERO, window.cwnd));
        }
    }

    #[test]
    fn slow_start_doubles_and_congestion_avoidance_adds_a_segment_each_round() {
        let mut window = window(Control::NewReno, 10, 40);
        let rounds = [(); 5].map(|()| {
            one_round(&mut window);
            window.cwnd / MSS
        });
        assert_eq!(rounds, [20, 40, 41, 42, 43]);
    }

    #[test]
    fn slow_start_ends_at_the_initial_threshold() {
        let rounds = |initial_ssthresh| {
            let config = TcpConfig { initial_ssthresh, mss: MSS as u16, ..TcpConfig::default() };
            let mut window = CongestionControl::new(&config);
            [(); 3].map(|()| {
                one_round(&mut window);
                window.cwnd / MSS
            })
        };
        assert_eq!(rounds(None), [20, 40, 80], "as high as it can be");
        assert_eq!(rounds(Some(20)), [20, 21, 22]);
        assert_eq!(rounds(Some(2)), [11, 12, 13], "below the initial window");
    }

    #[test]
    fn slow_start_counts_at_most_a_segment_for_an_acknowledgement() {
        let mut window = window(Control::NewReno, 10, u64::MAX);
        window.on_ack(&Acked { bytes: 5 * MSS, ..one_segment(Time::ZERO, 10 * MSS) });
        assert_eq!(window.cwnd, 11 * MSS);
    }

    #[test]
    fn a_penalty_halves_the_window_and_past_slow_start_the_threshold() {
        let after = |segments, ssthresh| {
            let mut window = window(Control::Coupled, segments, ssthresh);
            window.penalise(MSS);
            (window.cwnd, window.ssthresh())
        };
        assert_eq!(after(20, 12), (10 * MSS, Some(6 * MSS)));
        assert_eq!(after(20, 40), (10 * MSS, Some(40 * MSS)), "in slow start");
        assert_eq!(after(20, u64::MAX), (10 * MSS, None));
        assert_eq!(after(3, 3), (MSS * 3 / 2, Some(2 * MSS)), "two segments at least");
        assert_eq!(after(1, 4), (MSS, Some(4 * MSS)), "a segment at least");
    }

    #[test]
    fn loss_halves_what_was_in_flight_and_leaves_two_segments() {
        let mut window = window(Control::NewReno, 30, u64::MAX);
        window.on_loss(20 * MSS, MSS);
        assert_eq!((window.cwnd, window.ssthresh), (10 * MSS, 10 * MSS));
        window.on_loss(3 * MSS, MSS);
        assert_eq!((window.cwnd, window.ssthresh), (2 * MSS, 2 * MSS));
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_slow_start_to_half() {
        let mut window = window(Control::NewReno, 16, u64::MAX);
        window.on_loss(16 * MSS, MSS);
        window.on_timeout(MSS);
        let rounds = [(); 5].map(|()| {
            one_round(&mut window);
            window.cwnd / MSS
        });
        assert_eq!(rounds, [2, 4, 8, 9, 10]);
    }
}
