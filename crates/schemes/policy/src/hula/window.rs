//! The window that keeps probes of one ToR about a period apart.

use crate::Nanos;

/// When the last probe of a ToR was sent on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendWindow {
    sent: Option<Nanos>,
}

impl SendWindow {
    pub const OPEN: SendWindow = SendWindow { sent: None };

    /// Whether a probe may be sent on now; if so, none may for 7/8 of `period` (section 4.5).
    pub fn claim(&mut self, now: Nanos, period: Nanos) -> bool {
        let window = period - period / 8;
        if self.sent.is_some_and(|sent| now.saturating_sub(sent) < window) {
            return false;
        }
        self.sent = Some(now);
        true
    }
}
