//! Spread of flows that are not steered (figures 6 and 7).
//!
//! Every packet crosses `routers` routers in a row, all with N next hops: router i, from 0, has
//! number i and sees the TTL less i. A *link* is one next hop of one router, which gets 1/N of all
//! packets if the router spreads evenly; a *path* is a sequence of links, one a router, and gets
//! 1/N^R. Only paths tell whether routers decide independently.
//!
//! A hash spreads flows; packets of large flows are noise that all choosers have in common.
//! [`ChiSquare`] therefore counts flows.
//!
//! A flow's path is decided at its first packet and remembered, as it depends on nothing but the
//! 5-tuple and the TTL. (What a decision costs is measured in [`crate::cflb::speed`].)

mod chi_square;
mod meter;

pub use chi_square::ChiSquare;

use heddle_units::Time;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::flows::Packet;
use super::hashes::Chooser;
use heddle_claims::stats::{mean, quantile};
use meter::Meter;

/// Packets that are handed to the choosers at once: few enough to stay in a cache.
const BATCH: usize = 1 << 13;

/// Routers in a row, and the intervals of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// R: routers in a row, at least 1.
    pub routers: u32,
    /// N: next hops of each, at least 1. R and N are small: there are N^R paths.
    pub next_hops: u16,
    /// Shares are taken over intervals of this length.
    pub interval: Time,
}

impl Plan {
    /// Figure 6a: one router with two next hops, every second.
    pub const FIGURE_6A: Plan = Plan { routers: 1, next_hops: 2, interval: Time::secs(1) };
    /// Figure 6b: four routers in a row, every half second.
    pub const FIGURE_6B: Plan = Plan { routers: 4, next_hops: 2, interval: Time::millis(500) };
    /// Figure 7: one router with four next hops over time.
    pub const FIGURE_7: Plan = Plan { routers: 1, next_hops: 4, interval: Time::secs(1) };

    /// N^R.
    pub fn paths(&self) -> usize {
        usize::from(self.next_hops).saturating_pow(self.routers)
    }
}

/// Spread of a trace by one chooser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The chooser's name.
    pub chooser: String,
    /// Packets that were spread, those of a last interval that was cut short included.
    pub packets: u64,
    /// Flows, paths for degrees of freedom.
    pub flows: ChiSquare,
    /// For each interval, each path's share of the packets in percent. A path's number has the
    /// first router's choice as its highest digit.
    pub shares: Vec<Vec<f64>>,
    /// Each interval's largest distance of a link's share from 1/N.
    pub links: Deviations,
    /// Each interval's largest distance of a path's share from 1/N^R. With one router these are the
    /// links.
    pub paths: Deviations,
}

/// Deviations from an even share, in percentage points, one for each interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deviations {
    /// In order of time.
    pub each: Vec<f64>,
    /// The largest; 0 if there are none.
    pub max: f64,
    /// The median; 0 if there are none.
    pub median: f64,
    /// The mean; 0 if there are none.
    pub mean: f64,
}

impl Deviations {
    fn of(each: Vec<f64>) -> Deviations {
        let sorted = sorted(&each);
        let at = |q| quantile(&sorted, q).unwrap_or_default();
        Deviations { max: at(1.0), median: at(0.5), mean: mean(&each).unwrap_or_default(), each }
    }

    /// The distribution function: a deviation, and the share of intervals (0 to 1) that do not
    /// exceed it.
    pub fn distribution(&self) -> Vec<(f64, f64)> {
        let sorted = sorted(&self.each);
        let all = sorted.len() as f64;
        sorted.into_iter().enumerate().map(|(i, x)| (x, (i + 1) as f64 / all)).collect()
    }
}

fn sorted(figures: &[f64]) -> Vec<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Spreads a trace by every chooser, on all cores. Intervals without packets are left out, and so
/// is the last one, which the trace's end cuts short, if there are others. Flows must be numbered
/// as [`Packet::flow`] says.
///
/// # Errors
/// The first that the trace has; what came before is lost.
pub fn spread<E>(
    trace: impl IntoIterator<Item = Result<Packet, E>>,
    choosers: &[Chooser],
    plan: &Plan,
) -> Result<Vec<Spread>, E> {
    let mut meters: Vec<Meter> = choosers.iter().map(|chooser| Meter::new(chooser, plan)).collect();
    let mut trace = trace.into_iter();
    loop {
        let batch = trace.by_ref().take(BATCH).collect::<Result<Vec<Packet>, E>>()?;
        if batch.is_empty() {
            return Ok(meters.into_iter().map(Meter::finish).collect());
        }
        meters.par_iter_mut().for_each(|meter| meter.read(&batch));
    }
}

#[cfg(test)]
mod tests;
