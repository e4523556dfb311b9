//! NSCC, network signalled congestion control: a window by marks and by delay.
//!
//! | Mark | Delay below the target | Delay at or above it |
//! |---|---|---|
//! | none | proportional increase: the more, the lower the delay | fair increase: as much for all |
//! | marked | nothing: another path will do | multiplicative decrease by the average delay, once in a round trip |
//!
//! - **Fulfil adjustment**: increases add up, and reach the window after 8 packets or a round trip,
//!   divided by it; each round trip adds a little more.
//! - **Fast increase**: a whole window without queues makes it grow by a part of each byte that is
//!   acknowledged.
//! - **Quick adapt**: once in a round trip and the target, after a loss or a delay of four targets,
//!   the window becomes what has arrived meanwhile, if that is less than an eighth of the largest
//!   window. What was in flight then is ignored.
//! - A NACK takes its packet's bytes from the window, and counts in the average as a delay of a
//!   round trip. A timeout takes its packet's bytes alone.
//!
//! The four cases, quick adapt and fast increase are SMaRTT's (Bonato et al., arXiv 2404.01630; UE's
//! overview, arXiv 2508.08906, has the four cases). All constants are those of the public uet-htsim,
//! given for a network of 100 Gbps and 12 us, and scaled by bandwidth times delay.

use heddle_units::Time;

use super::UetParameters;
use crate::HEADER_BYTES;

/// Bytes of a round trip in the network of the constants: 12 us at 100 Gbps.
const REFERENCE_BYTES: f64 = 150_000.0;

/// The round trip of that network.
const REFERENCE_RTT: f64 = 12e6;

/// Proportional increase in a round trip without delay, in packets, for each reference round trip of
/// target (alpha is this over the target).
const PROPORTIONAL: f64 = 4.0;

/// Fair increase in a round trip, in packets (fi).
const FAIR: f64 = 5.0;

/// Increase with each fulfil adjustment a round trip after the last, in packets (eta).
const STEADY: f64 = 0.15;

/// Fast increase of a byte acknowledged (fi_scale).
const FAST: f64 = 0.25;

/// A delay below this is none.
const NO_DELAY: Time = Time::micros(1);

/// Weight of the excess delay in a decrease (gamma), and the least that a decrease leaves.
const DECREASE: f64 = 0.8;
const LEAST_LEFT: f64 = 0.5;

/// Weight of a sample in the average delay.
const WEIGHT: f64 = 0.0125;

/// Sample of a packet without a mark whose delay is above the target, in round trips.
const UNMARKED: f64 = 0.25;

/// Packets after which increases reach the window.
const ADJUST_PACKETS: u64 = 8;

/// Quick adapt: of the largest window, and delay in targets.
const QUICK_SHARE: u64 = 8;
const QUICK_DELAY: u64 = 4;

/// An acknowledgement. Bytes are those on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    pub(super) now: Time,
    /// True if the packet that it answers was marked.
    pub(super) marked: bool,
    /// Round-trip time of that packet; `None` if it was sent again meanwhile.
    pub(super) rtt: Option<Time>,
    /// Bytes that are newly received.
    pub(super) bytes: u64,
    /// Bytes in flight after it.
    pub(super) in_flight: u64,
}

/// A packet that was trimmed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trimmed {
    pub(super) now: Time,
    /// Its bytes on the wire, before it was.
    pub(super) bytes: u64,
    /// Bytes in flight, with it.
    pub(super) in_flight: u64,
}

/// A window and what it depends on.
#[derive(Clone, Debug)]
pub(super) struct Nscc {
    window: u64,
    most: u64,
    /// The lowest round-trip time so far; at first that of the hosts farthest apart.
    base_rtt: Time,
    /// Average delay in picoseconds.
    average: f64,
    last_decrease: Time,
    adjustment: Adjustment,
    fast: FastIncrease,
    quick: QuickAdapt,
}

/// Increases that have not reached the window.
#[derive(Clone, Debug, Default)]
struct Adjustment {
    /// Bytes times the window.
    increase: f64,
    /// Bytes received since the last adjustment.
    received: u64,
    last: Time,
}

#[derive(Clone, Debug, Default)]
struct FastIncrease {
    /// Bytes in a row without delay.
    bytes: u64,
    is_on: bool,
}

#[derive(Clone, Debug, Default)]
struct QuickAdapt {
    /// Bytes received since the last check.
    achieved: u64,
    /// Time of the next check; `None` before the first acknowledgement.
    check_at: Option<Time>,
    /// True after a loss.
    is_triggered: bool,
    /// Bytes whose marks are ignored, and those that have been.
    to_ignore: u64,
    ignored: u64,
}

impl Nscc {
    pub(super) fn new(parameters: &UetParameters) -> Nscc {
        Nscc {
            window: parameters.window,
            most: parameters.window,
            base_rtt: parameters.base_rtt,
            average: 0.0,
            last_decrease: Time::ZERO,
            adjustment: Adjustment::default(),
            fast: FastIncrease::default(),
            quick: QuickAdapt::default(),
        }
    }

    /// The window in bytes on the wire.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    pub(super) fn on_ack(&mut self, parameters: &UetParameters, ack: &Acknowledged) {
        self.quick.achieved += ack.bytes;
        self.quick.ignored += ack.bytes;
        self.adjustment.received += ack.bytes;
        let delay = self.delay(parameters, ack);
        if self.adapt(parameters, ack.now, ack.in_flight, ack.marked, delay) {
            return;
        }
        let target = parameters.target_delay;
        match (ack.marked, delay < target) {
            (false, true) => self.increase_by_delay(parameters, ack.bytes, delay),
            (false, false) => {
                self.adjustment.increase += FAIR * unit(parameters) * ack.bytes as f64;
            }
            (true, true) => {}
            (true, false) => self.decrease(parameters, ack.now),
        }
        self.bound(parameters);
        self.adjust(parameters, ack.now);
        self.bound(parameters);
    }

    /// A packet was trimmed; its bytes stay in the window if it is spared.
    pub(super) fn on_nack(
        &mut self,
        parameters: &UetParameters,
        &Trimmed { now, bytes, in_flight }: &Trimmed,
        is_spared: bool,
    ) {
        self.quick.ignored += bytes;
        self.quick.is_triggered = true;
        self.sample(parameters, parameters.base_rtt, true);
        if !self.adapt(parameters, now, in_flight, true, Time::ZERO) && !is_spared {
            self.window = self.window.saturating_sub(bytes);
            self.bound(parameters);
        }
    }

    /// A packet of so many bytes was not answered in time.
    pub(super) fn on_timeout(&mut self, parameters: &UetParameters, bytes: u64) {
        self.window = self.window.saturating_sub(bytes);
        self.bound(parameters);
    }

    /// Queueing delay of the packet that was acknowledged; the average, if it is not known.
    fn delay(&mut self, parameters: &UetParameters, ack: &Acknowledged) -> Time {
        let Some(rtt) = ack.rtt else { return Time(self.average as u64) };
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            let share = u128::from(parameters.window) * u128::from(rtt.0);
            self.most = (share / u128::from(parameters.base_rtt.0)) as u64;
        }
        let delay = rtt - self.base_rtt;
        self.sample(parameters, delay, ack.marked);
        delay
    }

    fn sample(&mut self, parameters: &UetParameters, delay: Time, marked: bool) {
        let sample = match !marked && delay > parameters.target_delay {
            true => UNMARKED * self.base_rtt.0 as f64,
            false => delay.0 as f64,
        };
        self.average += WEIGHT * (sample - self.average);
    }

    /// Quick adapt. Returns true if the acknowledgement says nothing more.
    fn adapt(
        &mut self,
        parameters: &UetParameters,
        now: Time,
        in_flight: u64,
        marked: bool,
        delay: Time,
    ) -> bool {
        let quick = &mut self.quick;
        let mut is_over = marked && quick.ignored < quick.to_ignore;
        if !is_over && quick.check_at.is_none_or(|at| now > at) {
            let is_congested = quick.is_triggered || delay > parameters.target_delay * QUICK_DELAY;
            if quick.check_at.is_some() && is_congested && quick.achieved < self.most / QUICK_SHARE
            {
                self.window = quick.achieved.max(full_packet(parameters));
                (quick.to_ignore, quick.ignored) = (in_flight, 0);
                quick.is_triggered = false;
                is_over = true;
            }
            quick.achieved = 0;
            quick.check_at = Some(now + self.base_rtt + parameters.target_delay);
        }
        if is_over {
            (self.adjustment.increase, self.adjustment.received) = (0.0, 0);
        }
        is_over
    }

    fn increase_by_delay(&mut self, parameters: &UetParameters, bytes: u64, delay: Time) {
        if self.increase_fast(parameters, bytes, delay) {
            return;
        }
        let room = (parameters.target_delay - delay).0 as f64;
        let of_byte = PROPORTIONAL * unit(parameters) * room / REFERENCE_RTT;
        self.adjustment.increase += of_byte * bytes as f64;
    }

    /// Returns true if the window grows fast.
    fn increase_fast(&mut self, parameters: &UetParameters, bytes: u64, delay: Time) -> bool {
        if delay >= NO_DELAY {
            self.fast = FastIncrease::default();
            return false;
        }
        self.fast.bytes += bytes;
        self.fast.is_on |= self.fast.bytes > self.window;
        if self.fast.is_on {
            self.window += (bytes as f64 * FAST * scale(parameters)) as u64;
        }
        self.fast.is_on
    }

    fn decrease(&mut self, parameters: &UetParameters, now: Time) {
        self.fast = FastIncrease::default();
        let target = parameters.target_delay.0 as f64;
        if self.average <= target || now.saturating_sub(self.last_decrease) <= self.base_rtt {
            return;
        }
        let left = 1.0 - DECREASE * (self.average - target) / self.average;
        self.window = (self.window as f64 * left.max(LEAST_LEFT)) as u64;
        self.last_decrease = now;
    }

    /// Fulfil adjustment.
    fn adjust(&mut self, parameters: &UetParameters, now: Time) {
        let since = now.saturating_sub(self.adjustment.last);
        let packets = ADJUST_PACKETS * full_packet(parameters);
        if self.adjustment.received <= packets && since <= parameters.base_rtt {
            return;
        }
        self.window += (self.adjustment.increase / self.window as f64) as u64;
        if since >= parameters.base_rtt {
            self.window += (STEADY * unit(parameters)) as u64;
            self.adjustment.last = now;
        }
        (self.adjustment.increase, self.adjustment.received) = (0.0, 0);
    }

    fn bound(&mut self, parameters: &UetParameters) {
        let least = full_packet(parameters);
        self.window = self.window.clamp(least, self.most.max(least));
    }
}

/// Bytes of a full packet on the wire: the smallest window.
fn full_packet(parameters: &UetParameters) -> u64 {
    u64::from(parameters.mss) + u64::from(HEADER_BYTES)
}

/// Bandwidth times delay over that of the network of the constants.
fn scale(parameters: &UetParameters) -> f64 {
    parameters.rate.bytes_in(parameters.base_rtt).0 as f64 / REFERENCE_BYTES
}

/// A packet of the network of the constants, scaled.
fn unit(parameters: &UetParameters) -> f64 {
    f64::from(parameters.mss) * scale(parameters)
}

#[cfg(test)]
mod tests;
