//! Congestion state of a connection's subflows, for coupled congestion control.

use alloc::vec::Vec;

use super::Coupling;
use crate::Sender;
use crate::congestion::{PathState, gain};

/// The state of the open subflows, as of the last acknowledgement or timeout of each.
#[derive(Clone, Debug, Default)]
pub(super) struct PathStates {
    /// Paths, in the order in which the subflows opened.
    paths: Vec<usize>,
    /// State of each, in the same order.
    states: Vec<PathState>,
}

impl PathStates {
    /// Adds a subflow that has opened.
    pub(super) fn add(&mut self, path: usize, sender: &Sender) {
        self.paths.push(path);
        self.states.push(sender.path_state());
    }

    /// Sets a subflow's gain before it handles an acknowledgement.
    #[inline]
    pub(super) fn set_gain(&self, coupling: Coupling, path: usize, sender: &mut Sender) {
        if coupling != Coupling::Uncoupled
            && sender.in_congestion_avoidance()
            && let Some(index) = self.index(path)
        {
            sender.set_gain(gain(coupling, &self.states, index));
        }
    }

    /// Updates a subflow's state after an acknowledgement or a timeout.
    #[inline]
    pub(super) fn update(&mut self, coupling: Coupling, path: usize, sender: &Sender) {
        if coupling != Coupling::Uncoupled
            && let Some(index) = self.index(path)
        {
            self.states[index] = sender.path_state();
        }
    }

    #[inline]
    fn index(&self, path: usize) -> Option<usize> {
        self.paths.iter().position(|known| *known == path)
    }
}
