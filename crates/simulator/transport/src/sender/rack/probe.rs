//! Tail loss probes (RFC 8985 section 7): after two round-trip times of silence a segment is sent
//! to provoke an acknowledgement, which shows a loss at the tail long before the retransmission
//! timer would.

use core::ops::Range;

use heddle_units::Time;

/// The probe whose acknowledgement is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// TLP.end_seq: SND.NXT when it was sent.
    pub(super) end: u64,
    /// TLP.is_retrans: true if it carried no new data.
    pub(super) is_retransmission: bool,
}

/// Meaning of an acknowledgement for the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing yet.
    Awaited,
    /// No segment was lost.
    NoLoss,
    /// The probe has repaired the loss of the last segment, to which congestion control must
    /// respond.
    Repaired,
}

/// An acknowledgement, as the probe's answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeAck<'a> {
    /// The acknowledgement number.
    pub(super) una: u64,
    /// True if it acknowledges nothing new, cumulatively or selectively.
    pub(super) is_duplicate: bool,
    /// DSACK.
    pub(super) duplicate: Option<&'a Range<u64>>,
}

impl Probe {
    /// TLP_process_ack (section 7.4.2).
    pub(super) fn answer(&self, ack: &ProbeAck) -> Answer {
        if ack.una < self.end {
            return Answer::Awaited;
        }
        let is_second_copy = ack.duplicate.is_some_and(|bytes| bytes.end == self.end);
        if !self.is_retransmission || is_second_copy {
            Answer::NoLoss
        } else if ack.una > self.end {
            Answer::Repaired
        } else if ack.is_duplicate && ack.duplicate.is_none() {
            Answer::NoLoss
        } else {
            Answer::Awaited
        }
    }
}

/// The probe timeout from now on (TLP_calc_PTO, section 7.2): two smoothed RTTs, and the delay that
/// the receiver may add to its acknowledgement of a single segment.
pub(super) fn timeout(srtt: Time, segments: usize, max_ack_delay: Time) -> Time {
    let delay = if segments == 1 { max_ack_delay } else { Time::ZERO };
    (srtt * 2).saturating_add(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_is_two_round_trips_and_for_one_segment_the_delay_of_its_acknowledgement() {
        let (srtt, delay) = (Time::micros(100), Time::micros(500));
        assert_eq!(timeout(srtt, 2, delay), Time::micros(200));
        assert_eq!(timeout(srtt, 1, delay), Time::micros(700));
    }

    /// The cases of section 7.4.2.
    #[test]
    fn an_answer_tells_a_repaired_loss_from_a_needless_probe() {
        let probe = |is_retransmission| Probe { end: 5000, is_retransmission };
        let ack = |una| ProbeAck { una, is_duplicate: false, duplicate: None };
        assert_eq!(probe(true).answer(&ack(4000)), Answer::Awaited, "a loss before it");
        assert_eq!(probe(false).answer(&ack(5000)), Answer::NoLoss, "new data has arrived");
        let second = 4000..5000;
        let dsack = ProbeAck { duplicate: Some(&second), is_duplicate: true, ..ack(5000) };
        assert_eq!(probe(true).answer(&dsack), Answer::NoLoss, "case 1: both copies arrived");
        assert_eq!(probe(true).answer(&ack(5000)), Answer::Awaited, "case 1 or 2: one copy so far");
        assert_eq!(probe(true).answer(&ack(6000)), Answer::Repaired, "case 2: there was one copy");
        let repeated = ProbeAck { is_duplicate: true, ..ack(5000) };
        assert_eq!(probe(true).answer(&repeated), Answer::NoLoss, "case 3: without DSACK");
        let other = 1000..2000;
        let dsack = ProbeAck { duplicate: Some(&other), ..repeated };
        assert_eq!(probe(true).answer(&dsack), Answer::Awaited, "of another segment");
    }
}
