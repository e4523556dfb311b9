//! Rounds of heartbeats with delays of the observer and of the answers.

use super::*;
use crate::heartbeat::INTERVAL;

const MS: Duration = Duration::from_millis(1);

/// An observer, the balancer that it observes, and the time.
struct Trace {
    judge: Judge,
    now: Duration,
    sequence: u32,
    /// Answers on their way: their arrival, and the numbers of their heartbeats.
    coming: Vec<(Duration, u32)>,
    heard: Heard,
    carrier: bool,
}

impl Trace {
    fn start() -> Trace {
        let heard = Heard::default();
        let (judge, now) = (Judge::new(heard), 1000 * MS);
        Trace { judge, now, sequence: 0, coming: Vec::new(), heard, carrier: true }
    }

    /// One round: the observer is late by `late`, and the answer comes after `answer`, or never.
    fn round(&mut self, late: Duration, answer: Option<Duration>) -> Liveness {
        let due = self.now;
        self.now += late;
        let now = self.now;
        let come = self.coming.iter().filter(|(at, _)| *at <= now).max();
        if let Some(&(at, sequence)) = come {
            self.heard = Heard { at, sequence };
        }
        self.judge.look(due, now, self.heard, || self.carrier);
        self.sequence += 1;
        self.judge.sent(self.sequence, due, now);
        self.coming.extend(answer.map(|delay| (now + delay, self.sequence)));
        self.coming.retain(|(at, _)| *at > now);
        self.now = now.max(due + INTERVAL);
        self.judge.liveness()
    }

    fn rounds(&mut self, number: usize, late: Duration, answer: Option<Duration>) -> Liveness {
        for _ in 0..number {
            self.round(late, answer);
        }
        self.judge.liveness()
    }
}

#[test]
fn the_first_answer_makes_alive() {
    let mut trace = Trace::start();
    assert_eq!(trace.round(Duration::ZERO, Some(MS)), Liveness::Unknown);
    assert_eq!(trace.round(Duration::ZERO, Some(MS)), Liveness::Alive);
    assert_eq!(trace.judge.round_trip(), Some(MS));
}

/// Five heartbeats at 20 ms: the sixth round, 100 ms after the first of them.
#[test]
fn five_unanswered_heartbeats_make_dead_after_100_ms() {
    let mut trace = Trace::start();
    trace.rounds(10, Duration::ZERO, Some(MS));
    let last = trace.now;
    assert_eq!(trace.rounds(5, Duration::ZERO, None), Liveness::Alive);
    assert_eq!(trace.rounds(1, Duration::ZERO, None), Liveness::Dead);
    assert_eq!(trace.now - INTERVAL - last, 100 * MS);
    assert_eq!(trace.judge.round_trip(), None);
    let mut never = Trace::start();
    assert_eq!(never.rounds(5, Duration::ZERO, None), Liveness::Unknown);
    assert_eq!(never.rounds(1, Duration::ZERO, None), Liveness::Dead);
}

#[test]
fn four_missing_answers_and_one_that_comes_are_no_death() {
    let mut trace = Trace::start();
    for _ in 0..20 {
        trace.rounds(4, Duration::ZERO, None);
        assert_ne!(trace.rounds(1, Duration::ZERO, Some(MS)), Liveness::Dead);
    }
}

#[test]
fn a_dead_balancer_is_back_after_five_answers_in_a_row() {
    let mut trace = Trace::start();
    trace.rounds(6, Duration::ZERO, None);
    for _ in 0..5 {
        // Four answers, then two that are missing.
        assert_eq!(trace.rounds(4, Duration::ZERO, Some(MS)), Liveness::Dead);
        assert_eq!(trace.rounds(2, Duration::ZERO, None), Liveness::Dead);
    }
    assert_eq!(trace.rounds(5, Duration::ZERO, Some(MS)), Liveness::Dead);
    assert_eq!(trace.rounds(1, Duration::ZERO, Some(MS)), Liveness::Alive);
}

/// Its own link is down: neither is anybody dead, nor does it count when the link is back.
#[test]
fn a_balancer_without_a_carrier_takes_nobody_for_dead() {
    let mut trace = Trace::start();
    trace.rounds(10, Duration::ZERO, Some(MS));
    trace.carrier = false;
    assert_eq!(trace.rounds(500, Duration::ZERO, None), Liveness::Alive);
    trace.carrier = true;
    assert_eq!(trace.rounds(4, Duration::ZERO, None), Liveness::Alive);
    assert_eq!(trace.rounds(2, Duration::ZERO, None), Liveness::Dead);
}

/// Answers recorded before the daemon started do not count.
#[test]
fn an_answer_to_the_daemon_before_tells_nothing() {
    let heard = Heard { at: 500 * MS, sequence: 3 };
    let mut judge = Judge::new(heard);
    judge.sent(1, 1000 * MS, 1000 * MS);
    assert!(!judge.look(1020 * MS, 1020 * MS, heard, || true));
    assert_eq!(judge.liveness(), Liveness::Unknown);
}

/// A busy observer still notices a death, by the rounds in which it was in time.
#[test]
fn an_observer_that_is_sometimes_late_notices_a_death_later() {
    let mut trace = Trace::start();
    trace.rounds(10, Duration::ZERO, Some(MS));
    let mut rounds = 0;
    while trace.judge.liveness() == Liveness::Alive {
        trace.round(if rounds % 3 == 0 { 30 * MS } else { Duration::ZERO }, None);
        rounds += 1;
    }
    assert!((6..20).contains(&rounds), "{rounds}");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn delay(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
        range.prop_map(Duration::from_micros)
    }

    proptest! {
        /// Nothing answers, or nothing that arrives; an observer that is never in time concludes
        /// nothing from it.
        #[test]
        fn a_late_observer_never_declares_anybody_dead(
            rounds in prop::collection::vec((delay(10_001..2_000_000), prop::bool::ANY), 1..200)
        ) {
            let mut trace = Trace::start();
            trace.round(Duration::ZERO, Some(MS));
            for (late, answers) in rounds {
                prop_assert_ne!(trace.round(late, answers.then_some(MS)), Liveness::Dead);
            }
        }

        /// Answers that take up to 99 ms, to an observer that is late by anything: never dead.
        #[test]
        fn a_balancer_that_answers_each_heartbeat_within_the_silence_never_dies(
            rounds in prop::collection::vec((delay(0..500_000), delay(0..79_000)), 1..300)
        ) {
            let mut trace = Trace::start();
            for (late, answer) in rounds {
                prop_assert_ne!(trace.round(late, Some(answer)), Liveness::Dead);
            }
        }

        /// One that answers nothing from some moment on is dead after five rounds in time and no
        /// more than one round beyond.
        #[test]
        fn a_death_is_noticed_with_the_fifth_punctual_round(
            before in 0..20usize, lates in prop::collection::vec(delay(0..25_000), 50..100)
        ) {
            let mut trace = Trace::start();
            trace.rounds(before, Duration::ZERO, Some(MS));
            trace.rounds(1, Duration::ZERO, None);
            let (mut evidence, mut previous) = (0, true);
            for late in lates {
                let punctual = late <= LATE;
                evidence += u32::from(punctual && previous);
                previous = punctual;
                let liveness = trace.round(late, None);
                if evidence > FALL {
                    prop_assert_eq!(liveness, Liveness::Dead);
                } else if evidence < FALL {
                    prop_assert_ne!(liveness, Liveness::Dead);
                }
            }
        }
    }
}
