//! The segments in flight, each with the time of its last transmission (RFC 8985 section 5.2).

use alloc::collections::VecDeque;
use core::ops::Range;

use heddle_units::Time;

/// State of a segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Neither acknowledged nor known to be lost.
    InFlight,
    /// Selectively acknowledged.
    Sacked,
    /// Lost, and not yet retransmitted.
    Lost,
}

/// A segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// Its first byte.
    pub(super) start: u64,
    /// The byte after its last one (Segment.end_seq).
    pub(super) end: u64,
    /// Time of the last transmission (Segment.xmit_ts).
    pub(super) at: Time,
    /// True after a retransmission.
    pub(super) is_retransmitted: bool,
    pub(super) state: State,
}

impl Sent {
    fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// Judgement of a segment by loss detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Sent after the most recently sent segment that has been delivered: nothing is known of it.
    Newer,
    /// It may be reordered; it is lost if it has not arrived by this time.
    LostAt(Time),
    /// Lost.
    Lost,
}

/// Outcome of loss detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Detection {
    /// Latest transmission among the segments found lost; `None` if there are none.
    pub(super) lost: Option<Time>,
    /// Time at which to look again; `None` if no segment may be reordered.
    pub(super) again: Option<Time>,
}

/// Segments from SND.UNA to SND.NXT in order of their bytes, without gaps.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    segments: VecDeque<Sent>,
    sacked: u64,
    sacked_segments: u32,
    lost: u64,
}

impl History {
    /// Appends a segment of new data.
    pub(super) fn push(&mut self, bytes: Range<u64>, at: Time) {
        let Range { start, end } = bytes;
        let state = State::InFlight;
        self.segments.push_back(Sent { start, end, at, is_retransmitted: false, state });
    }

    /// Bytes selectively acknowledged.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Segments selectively acknowledged (RACK.segs_sacked).
    pub(super) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Bytes that are lost and not yet retransmitted.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of segments.
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }

    /// Removes what is below `una`, and calls `delivered` with each segment that had not been
    /// selectively acknowledged. Returns the bytes of these.
    pub(super) fn acknowledge(&mut self, una: u64, mut delivered: impl FnMut(&Sent)) -> u64 {
        let mut bytes = 0;
        while let Some(first) = self.segments.front_mut() {
            if first.start >= una {
                break;
            }
            let mut acked = *first;
            acked.end = acked.end.min(una);
            first.start = acked.end;
            if first.start == first.end {
                self.segments.pop_front();
                self.sacked_segments -= u32::from(acked.state == State::Sacked);
            }
            match acked.state {
                State::Sacked => self.sacked -= acked.bytes(),
                State::Lost => self.lost -= acked.bytes(),
                State::InFlight => {}
            }
            if acked.state != State::Sacked {
                bytes += acked.bytes();
                delivered(&acked);
            }
        }
        bytes
    }

    /// Marks the segments that lie in `range` as selectively acknowledged, and calls `delivered`
    /// with each for which that is new. Returns the bytes of these.
    pub(super) fn sack(&mut self, range: &Range<u64>, mut delivered: impl FnMut(&Sent)) -> u64 {
        let mut bytes = 0;
        let first = self.segments.partition_point(|sent| sent.start < range.start);
        for sent in self.segments.range_mut(first..) {
            if sent.end > range.end {
                break;
            }
            if sent.state == State::Sacked {
                continue;
            }
            if sent.state == State::Lost {
                self.lost -= sent.bytes();
            }
            sent.state = State::Sacked;
            bytes += sent.bytes();
            self.sacked_segments += 1;
            delivered(sent);
        }
        self.sacked += bytes;
        bytes
    }

    /// Marks the segments that `judge` finds lost. Segments are first sent in order, so that behind
    /// one that was sent once and is newer all are newer.
    pub(super) fn detect(&mut self, judge: impl Fn(&Sent) -> Verdict) -> Detection {
        let mut detection = Detection::default();
        for sent in self.segments.iter_mut() {
            if sent.state != State::InFlight {
                continue;
            }
            match judge(sent) {
                Verdict::Newer if !sent.is_retransmitted => break,
                Verdict::Newer => {}
                Verdict::LostAt(at) => detection.again = detection.again.max(Some(at)),
                Verdict::Lost => {
                    detection.lost = detection.lost.max(Some(sent.at));
                    sent.state = State::Lost;
                    self.lost += sent.bytes();
                }
            }
        }
        detection
    }

    /// Marks as lost, after a timeout, the first segment and all that `judge` finds lost whether a
    /// later one was delivered or not.
    pub(super) fn mark_on_timeout(&mut self, judge: impl Fn(&Sent) -> bool) {
        let mut is_first = true;
        for sent in self.segments.iter_mut() {
            if sent.state == State::InFlight && (is_first || judge(sent)) {
                sent.state = State::Lost;
                self.lost += sent.bytes();
            }
            is_first = false;
        }
    }

    /// Retransmits the first lost segment, and returns its bytes.
    pub(super) fn retransmit_lost(&mut self, now: Time) -> Option<Range<u64>> {
        if self.lost == 0 {
            return None;
        }
        let sent = self.segments.iter_mut().find(|sent| sent.state == State::Lost)?;
        self.lost -= sent.bytes();
        Some(retransmit(sent, now))
    }

    /// Retransmits the last segment if it is in flight, and returns its bytes.
    pub(super) fn retransmit_last(&mut self, now: Time) -> Option<Range<u64>> {
        let last = self.segments.back_mut().filter(|sent| sent.state == State::InFlight)?;
        Some(retransmit(last, now))
    }
}

fn retransmit(sent: &mut Sent, now: Time) -> Range<u64> {
    sent.state = State::InFlight;
    sent.is_retransmitted = true;
    sent.at = now;
    sent.start..sent.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Ten segments of 100 bytes, one a microsecond.
    fn ten() -> History {
        let mut history = History::default();
        (0..10).for_each(|n| history.push(100 * n..100 * n + 100, Time::micros(n)));
        history
    }

    #[test]
    fn a_segment_is_delivered_once() {
        let mut history = ten();
        let mut seen = Vec::new();
        assert_eq!(history.sack(&(300..500), |sent| seen.push(sent.start)), 200);
        assert_eq!(history.sack(&(300..600), |sent| seen.push(sent.start)), 100);
        assert_eq!(history.sack(&(650..750), |sent| seen.push(sent.start)), 0, "no whole segment");
        assert_eq!((history.sacked(), history.sacked_segments()), (300, 3));
        assert_eq!(history.acknowledge(450, |sent| seen.push(sent.start)), 300);
        assert_eq!((history.sacked(), history.sacked_segments()), (150, 2), "half of one is left");
        assert_eq!(history.acknowledge(1000, |sent| seen.push(sent.start)), 400);
        assert_eq!(seen, [300, 400, 500, 0, 100, 200, 600, 700, 800, 900]);
        assert_eq!((history.sacked(), history.lost(), history.len()), (0, 0, 0));
    }

    #[test]
    fn lost_segments_are_retransmitted_in_order_and_delivered_ones_are_not() {
        let mut history = ten();
        history.sack(&(900..1000), |_| {});
        let found = history.detect(|sent| match sent.start {
            ..300 => Verdict::Lost,
            300 => Verdict::LostAt(Time::micros(7)),
            _ => Verdict::Newer,
        });
        let (lost, again) = (Some(Time::micros(2)), Some(Time::micros(7)));
        assert_eq!(found, Detection { lost, again });
        assert_eq!(history.lost(), 300);
        history.sack(&(100..200), |_| {});
        assert_eq!(history.lost(), 200, "it was only late");
        let now = Time::micros(20);
        assert_eq!(history.retransmit_lost(now), Some(0..100));
        assert_eq!(history.retransmit_lost(now), Some(200..300));
        assert_eq!((history.retransmit_lost(now), history.lost()), (None, 0));
        assert_eq!(history.retransmit_last(now), None, "the last has arrived");
    }

    #[test]
    fn retransmitted_segments_are_judged_behind_newer_ones() {
        let mut history = ten();
        history.detect(
            |sent| if sent.start == 500 { Verdict::Lost } else { Verdict::LostAt(sent.at) },
        );
        history.retransmit_lost(Time::micros(20));
        let judged = core::cell::Cell::new(0);
        history.detect(|sent| {
            judged.set(judged.get() + 1);
            if sent.is_retransmitted || sent.start == 600 { Verdict::Newer } else { Verdict::Lost }
        });
        assert_eq!(judged.get(), 7, "to the first that was sent once and is newer");
        assert_eq!(history.lost(), 500);
    }

    proptest! {
        #[test]
        fn counts_agree_with_the_segments(
            steps in prop::collection::vec((0u8..5, 0u64..1200, 0u64..400), 0..40),
        ) {
            let mut history = ten();
            for (step, at, len) in steps {
                match step {
                    0 => drop(history.acknowledge(at.min(1000), |_| {})),
                    1 => drop(history.sack(&(at..at + len), |_| {})),
                    2 => drop(history.detect(|sent| {
                        if sent.start < at { Verdict::Lost } else { Verdict::Newer }
                    })),
                    3 => drop(history.retransmit_lost(Time::micros(at))),
                    _ => history.mark_on_timeout(|sent| sent.start < at),
                }
                let bytes_in = |state| {
                    let in_state = history.segments.iter().filter(move |sent| sent.state == state);
                    in_state.map(Sent::bytes).sum::<u64>()
                };
                prop_assert_eq!(history.sacked(), bytes_in(State::Sacked));
                prop_assert_eq!(history.lost(), bytes_in(State::Lost));
                let sacked = history.segments.iter().filter(|sent| sent.state == State::Sacked);
                prop_assert_eq!(history.sacked_segments() as usize, sacked.count());
                let (front, back) = history.segments.as_slices();
                let all = [front, back].concat();
                prop_assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
        }
    }
}
