//! Suppression of probe replication: probes of one ToR are forwarded about once in each period.

use crate::{Digest, Nanos};

/// Time of the last forwarded probe of a ToR.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeSuppression {
    sent: Option<Nanos>,
}

impl ProbeSuppression {
    pub const IDLE: ProbeSuppression = ProbeSuppression { sent: None };

    /// Returns true if a probe may be forwarded now, and then suppresses others for 7/8 of `period`
    /// (section 4.5).
    pub fn try_forward(&mut self, now: Nanos, period: Nanos) -> bool {
        let window = period - period / 8;
        if self.sent.is_some_and(|sent| now.saturating_sub(sent) < window) {
            return false;
        }
        self.sent = Some(now);
        true
    }

    /// Adds to a digest: 1 and the time of the last forwarded probe, or two zeros.
    pub fn digest(&self, digest: &mut Digest) {
        digest.words(&[self.sent.is_some().into(), self.sent.unwrap_or_default()]);
    }
}
