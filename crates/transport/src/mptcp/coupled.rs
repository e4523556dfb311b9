//! What the subflows of a connection know of each other's windows.

use super::Coupling;
use crate::Sender;

/// The state of the open subflows.
#[derive(Clone, Debug, Default)]
pub(super) struct Coupled {}

impl Coupled {
    /// A subflow has opened.
    pub(super) fn add(&mut self, _path: usize, _sender: &Sender) {}

    #[inline]
    pub(super) fn before_ack(&mut self, _coupling: Coupling, _path: usize, _sender: &mut Sender) {}

    #[inline]
    pub(super) fn after_ack(&mut self, _coupling: Coupling, _path: usize, _sender: &Sender) {}
}
