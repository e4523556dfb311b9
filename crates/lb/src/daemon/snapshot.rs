//! All that is counted, at one moment.

use super::Core;
use super::wiring::Checks;
use crate::metrics::Snapshot;

impl Core {
    /// All numbers.
    pub(super) fn snapshot(&self, _checks: &Checks) -> Snapshot {
        Snapshot::default()
    }
}
