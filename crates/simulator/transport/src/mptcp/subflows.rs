//! A client's subflows, and what choosing among them needs to know of each.
//!
//! A segment sent or acknowledged changes one subflow, but to choose the next one means to look at all of them. So what a choice
//! reads stands side by side, apart from the rest: a few cache lines instead of several a subflow.

use alloc::vec::Vec;
use core::mem;

use heddle_units::Time;

use super::subflow::Subflow;
use crate::TcpConfig;

/// Where a subflow stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its handshake is not over.
    Opening,
    /// Nothing is suspected.
    Orderly,
    /// Something is lost, or suspected to be.
    Repairing,
}

/// What a choice reads of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gauge {
    /// When its clock matters next.
    pub(super) deadline: Time,
    /// Its smoothed round-trip time, zero before the first sample.
    pub(super) srtt: Time,
    pub(super) standing: Standing,
    /// Whether it can take new data now.
    pub(super) has_room: bool,
}

/// The subflows, numbered by path. They change through [`Subflows::change`] alone, so that their gauges are always right.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflows {
    list: Vec<Subflow>,
    gauges: Vec<Gauge>,
    /// How many are opening, and how many are repairing: mostly none.
    opening: usize,
    repairing: usize,
}

impl Subflows {
    pub(super) fn push(&mut self, config: &TcpConfig, subflow: Subflow) {
        let gauge = subflow.gauge(config);
        self.count(gauge.standing, 1);
        self.gauges.push(gauge);
        self.list.push(subflow);
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(super) fn get(&self, path: usize) -> &Subflow {
        &self.list[path]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Subflow> {
        self.list.iter()
    }

    #[inline]
    pub(super) fn gauge(&self, path: usize) -> &Gauge {
        &self.gauges[path]
    }

    /// The path of the first subflow that stands so, from `path` on.
    #[inline]
    fn next_that_is(&self, standing: Standing, path: usize) -> Option<usize> {
        (path..self.gauges.len()).find(|path| self.gauges[*path].standing == standing)
    }

    /// Does something to a subflow.
    #[inline]
    pub(super) fn change<R>(
        &mut self,
        config: &TcpConfig,
        path: usize,
        what: impl FnOnce(&mut Subflow) -> R,
    ) -> R {
        let subflow = &mut self.list[path];
        let result = what(subflow);
        let new = subflow.gauge(config);
        let old = mem::replace(&mut self.gauges[path], new);
        if old.standing != new.standing {
            self.count(old.standing, -1);
            self.count(new.standing, 1);
        }
        result
    }

    fn count(&mut self, standing: Standing, change: isize) {
        match standing {
            Standing::Opening => self.opening = self.opening.wrapping_add_signed(change),
            Standing::Repairing => self.repairing = self.repairing.wrapping_add_signed(change),
            Standing::Orderly => {}
        }
    }

    #[inline]
    fn is_any(&self, standing: Standing) -> bool {
        match standing {
            Standing::Opening => self.opening > 0,
            Standing::Repairing => self.repairing > 0,
            Standing::Orderly => true,
        }
    }

    /// Does something to each subflow that stands so, until it gives something.
    #[inline]
    pub(super) fn first_of<R>(
        &mut self,
        standing: Standing,
        config: &TcpConfig,
        mut what: impl FnMut(&mut Subflow) -> Option<R>,
    ) -> Option<(usize, R)> {
        if !self.is_any(standing) {
            return None;
        }
        let mut from = 0;
        while let Some(path) = self.next_that_is(standing, from) {
            if let Some(result) = self.change(config, path, &mut what) {
                return Some((path, result));
            }
            from = path + 1;
        }
        None
    }

    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.gauges.iter().map(|gauge| gauge.deadline).min().unwrap_or(Time::NEVER)
    }
}
