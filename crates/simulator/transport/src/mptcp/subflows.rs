//! The subflows of a client, each with its scheduling status.
//!
//! Sending or acknowledging a segment changes one subflow, while the scheduler reads all of them.
//! The statuses are therefore stored contiguously, apart from the subflows: a few cache lines in
//! all instead of several for each subflow.

use alloc::vec::Vec;
use core::mem;

use heddle_units::Time;

use super::status::{SubflowPhase, SubflowStatus};
use super::subflow::Subflow;
use crate::TcpConfig;

/// Subflows, indexed by path. Every change goes through [`Subflows::update`], which keeps the
/// statuses current.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflows {
    list: Vec<Subflow>,
    statuses: Vec<SubflowStatus>,
    /// Subflows in [`SubflowPhase::Handshake`].
    handshakes: usize,
    /// Subflows in [`SubflowPhase::Recovering`].
    recovering: usize,
}

impl Subflows {
    pub(super) fn push(&mut self, config: &TcpConfig, subflow: Subflow) {
        let status = subflow.status(config);
        self.count(status.phase, 1);
        self.statuses.push(status);
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
    pub(super) fn status(&self, path: usize) -> &SubflowStatus {
        &self.statuses[path]
    }

    /// First path from `path` on whose subflow is in `phase`.
    #[inline]
    fn next_in_phase(&self, phase: SubflowPhase, path: usize) -> Option<usize> {
        (path..self.statuses.len()).find(|path| self.statuses[*path].phase == phase)
    }

    /// Applies `change` to a subflow and refreshes its status.
    #[inline]
    pub(super) fn update<R>(
        &mut self,
        config: &TcpConfig,
        path: usize,
        change: impl FnOnce(&mut Subflow) -> R,
    ) -> R {
        let subflow = &mut self.list[path];
        let result = change(subflow);
        let new = subflow.status(config);
        let old = mem::replace(&mut self.statuses[path], new);
        if old.phase != new.phase {
            self.count(old.phase, -1);
            self.count(new.phase, 1);
        }
        result
    }

    fn count(&mut self, phase: SubflowPhase, delta: isize) {
        match phase {
            SubflowPhase::Handshake => self.handshakes = self.handshakes.wrapping_add_signed(delta),
            SubflowPhase::Recovering => {
                self.recovering = self.recovering.wrapping_add_signed(delta);
            }
            SubflowPhase::Open => {}
        }
    }

    #[inline]
    fn any_in_phase(&self, phase: SubflowPhase) -> bool {
        match phase {
            SubflowPhase::Handshake => self.handshakes > 0,
            SubflowPhase::Recovering => self.recovering > 0,
            SubflowPhase::Open => true,
        }
    }

    /// Applies `attempt` to each subflow in `phase`, until one returns a value.
    #[inline]
    pub(super) fn find_map_in<R>(
        &mut self,
        phase: SubflowPhase,
        config: &TcpConfig,
        mut attempt: impl FnMut(&mut Subflow) -> Option<R>,
    ) -> Option<(usize, R)> {
        if !self.any_in_phase(phase) {
            return None;
        }
        let mut from = 0;
        while let Some(path) = self.next_in_phase(phase, from) {
            if let Some(result) = self.update(config, path, &mut attempt) {
                return Some((path, result));
            }
            from = path + 1;
        }
        None
    }

    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.statuses.iter().map(|status| status.deadline).min().unwrap_or(Time::NEVER)
    }
}
