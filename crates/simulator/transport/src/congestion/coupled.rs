//! Coupled congestion control of the subflows of one MPTCP connection: it takes no more of a
//! bottleneck than one TCP flow and moves traffic away from congestion (goals of RFC 6356 section
//! 1).
//!
//! It differs from TCP in congestion avoidance and, with BALIA, in the reduction after a loss. With
//! w_i the window and rtt_i the round-trip time of subflow i, x_i = w_i / rtt_i, and w_r the window
//! of the subflow in question, each acknowledged byte adds to w_r, in segments:
//!
//! | | Increase | Source |
//! | --- | --- | --- |
//! | LIA | min(max_i(x_i / rtt_i) / (Σ x_i)², 1 / w_r) | RFC 6356 section 3, its alpha put into equation 1 |
//! | OLIA | (x_r / rtt_r) / (Σ x_i)² + alpha_r / w_r | Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05 |
//! | BALIA | (x_r / rtt_r) / (Σ x_i)² · (1 + alpha_r) / 2 · (4 + alpha_r) / 5, alpha_r = max_i(x_i) / x_r | Peng et al., ToN 2016; draft-walid-mptcp-congestion-control-04 |
//!
//! A loss halves the window; with BALIA it removes min(alpha_r, 1.5) / 2 of it. With one path each
//! algorithm is NewReno.

use super::Acked;
use crate::config::Coupling;

/// Increase and decrease of a coupled window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gain {
    /// Growth of the window in congestion avoidance, in bytes for each acknowledged byte and each
    /// byte of MSS. Negative for some paths of OLIA.
    pub increase: f64,
    /// Share of the window that a loss removes.
    pub decrease: f64,
}

/// Congestion state of one subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PathState {
    /// Congestion window, in bytes.
    cwnd: f64,
    /// Smoothed round-trip time, in seconds.
    rtt: f64,
    /// cwnd / rtt.
    rate: f64,
    /// cwnd / rtt².
    rate_per_rtt: f64,
    /// Bytes acknowledged since the last loss.
    pub since_loss: f64,
    /// Bytes acknowledged between the last two losses.
    pub between_losses: f64,
}

/// Gain of subflow `own` among the established subflows `paths`. An index outside of `paths` has an
/// increase of 0.
pub(crate) fn gain(coupling: Coupling, paths: &[PathState], own: usize) -> Gain {
    let halved = |increase| Gain { increase, decrease: 0.5 };
    match (coupling, paths.get(own)) {
        (_, None) => halved(0.0),
        (Coupling::Uncoupled, Some(own)) => halved(1.0 / own.cwnd),
        (Coupling::Lia, Some(own)) => halved(lia(paths, own)),
        (Coupling::Olia, Some(own)) => halved(olia(paths, own)),
        (Coupling::Balia, Some(own)) => balia(paths, own),
    }
}

/// Growth of the best path alone, distributed over all paths; on no path faster than TCP.
fn lia(paths: &[PathState], own: &PathState) -> f64 {
    let best = max_of(paths, |path| path.rate_per_rtt);
    (best / squared(total_rate(paths))).min(1.0 / own.cwnd)
}

fn olia(paths: &[PathState], own: &PathState) -> f64 {
    own.rate_per_rtt / squared(total_rate(paths)) + olia_alpha(paths, own) / own.cwnd
}

/// alpha_r of OLIA: shifts window from the paths with the largest window to the best paths with a
/// smaller one.
fn olia_alpha(paths: &[PathState], own: &PathState) -> f64 {
    let (largest, best) = (max_of(paths, |path| path.cwnd), max_of(paths, PathState::quality));
    let is_large = |path: &PathState| path.cwnd >= largest;
    let is_collected = |path: &PathState| path.quality() >= best && !is_large(path);
    let share = |count: usize| 1.0 / (paths.len() * count) as f64;
    let collected = paths.iter().filter(|path| is_collected(path)).count();
    if is_collected(own) {
        share(collected)
    } else if is_large(own) && collected > 0 {
        -share(paths.iter().filter(|path| is_large(path)).count())
    } else {
        0.0
    }
}

fn balia(paths: &[PathState], own: &PathState) -> Gain {
    let alpha = max_of(paths, |path| path.rate) / own.rate;
    let linked = own.rate_per_rtt / squared(total_rate(paths));
    Gain {
        increase: linked * ((1.0 + alpha) / 2.0) * ((4.0 + alpha) / 5.0),
        decrease: alpha.min(1.5) / 2.0,
    }
}

fn max_of(paths: &[PathState], of: impl Fn(&PathState) -> f64) -> f64 {
    paths.iter().map(of).fold(0.0, f64::max)
}

fn total_rate(paths: &[PathState]) -> f64 {
    paths.iter().map(|path| path.rate).sum()
}

fn squared(x: f64) -> f64 {
    x * x
}

impl PathState {
    /// State from a window in bytes and a round-trip time in seconds. Values out of range are
    /// clamped.
    #[inline]
    pub(crate) fn new(cwnd: f64, rtt: f64) -> PathState {
        let (cwnd, rtt) = (clamp_finite(cwnd, 1.0, 1e18), clamp_finite(rtt, 1e-9, 1e9));
        let rate = cwnd / rtt;
        PathState {
            cwnd,
            rtt,
            rate,
            rate_per_rtt: rate / rtt,
            since_loss: 0.0,
            between_losses: 0.0,
        }
    }

    /// Sets the bytes acknowledged since the last loss and between the last two losses.
    #[inline]
    pub(crate) fn with_losses(self, since_loss: u64, between_losses: u64) -> PathState {
        let (since_loss, between_losses) = (since_loss as f64, between_losses as f64);
        PathState { since_loss, between_losses, ..self }
    }

    /// Square of the rate that TCP would reach on this path, up to a constant: with a loss every l
    /// bytes it is sqrt(2 l MSS) / rtt.
    fn quality(&self) -> f64 {
        clamp_finite(self.since_loss.max(self.between_losses), 0.0, 1e18) / squared(self.rtt)
    }
}

/// Clamps `x`; NaN counts as `least`.
fn clamp_finite(x: f64, least: f64, most: f64) -> f64 {
    x.max(least).min(most)
}

/// State of a coupled window.
#[derive(Clone, Debug)]
pub(super) struct Coupled {
    pub(super) gain: Gain,
    /// Fraction of a byte of growth, of either sign.
    carry: f64,
    since_loss: u64,
    between_losses: u64,
}

impl Coupled {
    /// A window that does not grow until its gain is set.
    pub(super) fn new() -> Coupled {
        let gain = Gain { increase: 0.0, decrease: 0.5 };
        Coupled { gain, carry: 0.0, since_loss: 0, between_losses: 0 }
    }

    #[inline]
    pub(super) fn observe(&mut self, ack: &Acked) {
        self.since_loss += ack.bytes;
    }

    /// The window after an acknowledgement in congestion avoidance; at least a segment.
    #[inline]
    pub(super) fn avoid_congestion(&mut self, cwnd: u64, ack: &Acked) -> u64 {
        let change = self.gain.increase * ack.bytes as f64 * ack.mss as f64 + self.carry;
        let whole = change as i64;
        self.carry = change - whole as f64;
        cwnd.saturating_add_signed(whole).max(ack.mss)
    }

    /// The window after a loss.
    pub(super) fn reduce(&mut self, flight: u64) -> u64 {
        self.between_losses = self.since_loss;
        self.since_loss = 0;
        self.carry = 0.0;
        (flight as f64 * (1.0 - self.gain.decrease)) as u64
    }

    /// Bytes acknowledged since the last loss and between the last two.
    pub(super) fn losses(&self) -> (u64, u64) {
        (self.since_loss, self.between_losses)
    }
}

#[cfg(test)]
mod tests;
