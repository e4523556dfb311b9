//! What the subflows of a connection know of each other's windows.

use alloc::vec::Vec;

use super::Coupling;
use crate::Sender;
use crate::window::{PathState, gain};

/// The state of the open subflows, as of the last acknowledgement or timeout of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Coupled {
    /// Their paths, in the order in which they opened.
    paths: Vec<usize>,
    /// In the same order.
    states: Vec<PathState>,
}

impl Coupled {
    /// A subflow has opened.
    pub(super) fn add(&mut self, path: usize, sender: &Sender) {
        self.paths.push(path);
        self.states.push(sender.path_state());
    }

    /// Tells a subflow that is about to take in an acknowledgement how its window moves.
    #[inline]
    pub(super) fn before_ack(&self, coupling: Coupling, path: usize, sender: &mut Sender) {
        if coupling != Coupling::Uncoupled
            && sender.in_congestion_avoidance()
            && let Some(place) = self.place(path)
        {
            sender.couple(gain(coupling, &self.states, place));
        }
    }

    /// Notes what an acknowledgement or a timeout has changed.
    #[inline]
    pub(super) fn note(&mut self, coupling: Coupling, path: usize, sender: &Sender) {
        if coupling != Coupling::Uncoupled
            && let Some(place) = self.place(path)
        {
            self.states[place] = sender.path_state();
        }
    }

    #[inline]
    fn place(&self, path: usize) -> Option<usize> {
        self.paths.iter().position(|known| *known == path)
    }
}
