//! A balancer whose link is cut: no other balancer answers, and its health checks fail one by one.
//! An interface of its own that is cut has no carrier. A cut behind the next switch shows only as
//! the silence of other balancers, if there are any.
//!
//! Its tables would then be made of the backends that seem to be up, and for a while after the cut,
//! too, until the health checks have found all of them again. Connections that it placed meanwhile
//! would be at other backends than the other balancers' tables give, and joins to backends that
//! only seem to be down would be refused. So the health from before the cut counts until then, and
//! no packets should be sent to this balancer. One whose peers have really died goes on with the
//! health that it finds.

use std::time::Duration;

/// The longest time after the cut for which a balancer waits for its backends: those that are not
/// up then are down.
const SETTLING: Duration = Duration::from_secs(10);

/// Intervals of health checks after contact is regained, within which checks fail that began during
/// a cut.
const LATE_CHECKS: u32 = 2;

/// The time after which the checks of a balancer that hears no other one are trusted: by a cut link
/// they would all have failed.
const LAST_ONE: Duration = Duration::from_secs(60);

/// The state of everything around a balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Surroundings {
    /// There are other balancers in the list.
    pub(super) has_peers: bool,
    /// At least one of them answers.
    pub(super) has_contact: bool,
    /// An interface of this balancer has a carrier.
    pub(super) has_carrier: bool,
    /// A backend with a health check is up, or there is none with a health check.
    pub(super) some_backend_up: bool,
    /// All backends that were up when another balancer answered last are up.
    pub(super) all_backends_back: bool,
    /// The longest interval of health checks; none waits longer for its answer.
    pub(super) check_interval: Duration,
}

/// This balancer's contact with other balancers and backends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Isolation {
    /// It has contact.
    #[default]
    No,
    /// No other balancer answers since this time, but backends do: it is the last one, or its
    /// checks have not failed yet.
    Alone(Duration),
    /// Nothing answers, or no interface has a carrier.
    CutOff,
    /// Other balancers answer again, since this time, and all backends seem up: checks that began
    /// during a cut have yet to fail.
    Regained(Duration),
    /// Other balancers answer again, since this time.
    Settling(Duration),
}

impl Isolation {
    /// The state at a time.
    pub(super) fn next(self, around: &Surroundings, time: Duration) -> Isolation {
        if !around.has_carrier {
            return Isolation::CutOff;
        }
        if around.has_peers && !around.has_contact {
            return match self {
                _ if !around.some_backend_up => Isolation::CutOff,
                Isolation::Alone(_) => self,
                _ => Isolation::Alone(time),
            };
        }
        match self {
            Isolation::Alone(_) | Isolation::CutOff if around.all_backends_back => {
                Isolation::Regained(time)
            }
            Isolation::Regained(since)
                if time.saturating_sub(since) < LATE_CHECKS * around.check_interval =>
            {
                self
            }
            Isolation::Alone(_) | Isolation::CutOff | Isolation::Regained(_)
                if !around.all_backends_back =>
            {
                Isolation::Settling(time)
            }
            Isolation::Settling(since)
                if !around.all_backends_back && time.saturating_sub(since) < SETTLING =>
            {
                self
            }
            _ => Isolation::No,
        }
    }

    /// True if the health checks tell of backends, and not of this balancer's link.
    pub(super) fn trusts_checks(self, time: Duration) -> bool {
        match self {
            Isolation::No => true,
            Isolation::Alone(since) => time.saturating_sub(since) >= LAST_ONE,
            Isolation::CutOff | Isolation::Regained(_) | Isolation::Settling(_) => false,
        }
    }

    /// True if the health from before the cut counts.
    pub(super) fn uses_earlier_health(self) -> bool {
        matches!(self, Isolation::CutOff | Isolation::Regained(_) | Isolation::Settling(_))
    }

    /// The reason why the balancer is not healthy.
    pub(super) fn cause(self) -> Option<&'static str> {
        match self {
            Isolation::No | Isolation::Alone(_) | Isolation::Regained(_) => None,
            Isolation::CutOff => {
                Some("cut off: the link is down, or no backend and no other balancer answers")
            }
            Isolation::Settling(_) => {
                Some("cut off until just now: backends are still being found again")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Surroundings = Surroundings {
        has_peers: true,
        has_carrier: true,
        has_contact: true,
        some_backend_up: true,
        all_backends_back: true,
        check_interval: Duration::from_secs(1),
    };
    const ALONE: Surroundings = Surroundings { has_contact: false, ..WHOLE };
    const NOTHING: Surroundings =
        Surroundings { some_backend_up: false, all_backends_back: false, ..ALONE };
    const SOME_BACKENDS: Surroundings = Surroundings { all_backends_back: false, ..WHOLE };

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn after_a_cut_all_is_found_again_first() {
        let alone = Isolation::No.next(&WHOLE, seconds(1)).next(&ALONE, seconds(2));
        assert_eq!((alone, alone.uses_earlier_health()), (Isolation::Alone(seconds(2)), false));
        let cut = alone.next(&NOTHING, seconds(4));
        assert_eq!((cut, cut.uses_earlier_health()), (Isolation::CutOff, true));
        let some = cut.next(&SOME_BACKENDS, seconds(5));
        assert_eq!((some, some.uses_earlier_health()), (Isolation::Settling(seconds(5)), true));
        assert_eq!(some.next(&WHOLE, seconds(6)), Isolation::No);
        assert_eq!(some.next(&NOTHING, seconds(6)), Isolation::CutOff);
    }

    /// The cut is over before the checks of all backends have failed.
    #[test]
    fn after_a_short_cut_the_backends_that_seemed_down_are_found_again_first() {
        let some = Surroundings { all_backends_back: false, ..ALONE };
        let settling = Isolation::No.next(&some, seconds(2)).next(&SOME_BACKENDS, seconds(3));
        assert_eq!(settling, Isolation::Settling(seconds(3)));
    }

    /// The cut, or the false alarm, is over before any check has failed: one that began during the
    /// cut fails now, and says nothing.
    #[test]
    fn checks_that_began_during_a_short_cut_are_not_believed() {
        let regained = Isolation::Alone(seconds(2)).next(&WHOLE, seconds(3));
        assert_eq!((regained, regained.cause()), (Isolation::Regained(seconds(3)), None));
        let late = regained.next(&SOME_BACKENDS, seconds(4));
        assert_eq!((late, late.uses_earlier_health()), (regained, true));
        assert!(!late.trusts_checks(seconds(4)));
        assert_eq!(late.next(&WHOLE, seconds(5)), Isolation::No);
        assert_eq!(late.next(&SOME_BACKENDS, seconds(5)), Isolation::Settling(seconds(5)));
        assert_eq!(late.next(&NOTHING, seconds(4)), Isolation::CutOff);
    }

    /// The link is back before any check has failed: those that began meanwhile fail now.
    #[test]
    fn a_balancer_without_a_carrier_is_cut_off_at_once() {
        let down = Surroundings { has_carrier: false, ..WHOLE };
        let cut = Isolation::No.next(&down, seconds(1));
        assert_eq!((cut, cut.trusts_checks(seconds(99))), (Isolation::CutOff, false));
        assert_eq!(cut.next(&WHOLE, seconds(2)), Isolation::Regained(seconds(2)));
        assert_eq!(cut.next(&SOME_BACKENDS, seconds(2)), Isolation::Settling(seconds(2)));
    }

    /// Its checks fail for another reason than its backends, as those of one with peers.
    #[test]
    fn a_lone_balancer_without_a_carrier_is_cut_off_too() {
        let lone = Surroundings { has_peers: false, has_contact: false, ..WHOLE };
        let down = Surroundings { has_carrier: false, ..lone };
        let failing = Surroundings { all_backends_back: false, ..down };
        let cut = Isolation::No.next(&down, seconds(1)).next(&failing, seconds(4));
        assert_eq!((cut, cut.uses_earlier_health()), (Isolation::CutOff, true));
        assert!(cut.cause().is_some());
        let regained = cut.next(&lone, seconds(5));
        assert_eq!(regained, Isolation::Regained(seconds(5)));
        assert_eq!(regained.next(&lone, seconds(7)), Isolation::No);
    }

    #[test]
    fn the_checks_of_the_last_balancer_are_trusted_after_a_while() {
        let alone = Isolation::No.next(&ALONE, seconds(2)).next(&ALONE, seconds(50));
        assert!(!alone.trusts_checks(seconds(61)) && alone.trusts_checks(seconds(62)));
        assert!(
            Isolation::No.trusts_checks(seconds(0))
                && !Isolation::CutOff.trusts_checks(seconds(99))
        );
    }

    #[test]
    fn a_backend_that_stays_down_is_not_waited_for_for_ever() {
        let settling = Isolation::CutOff.next(&SOME_BACKENDS, seconds(3));
        assert_eq!(settling.next(&SOME_BACKENDS, seconds(12)), settling);
        assert_eq!(settling.next(&SOME_BACKENDS, seconds(13)), Isolation::No);
    }

    #[test]
    fn dead_backends_alone_are_no_cut_and_without_peers_only_the_carrier_tells() {
        let no_backends = Surroundings { has_contact: true, ..NOTHING };
        let no_peers = Surroundings { has_peers: false, ..NOTHING };
        for around in [no_backends, no_peers, SOME_BACKENDS] {
            assert_eq!(Isolation::No.next(&around, seconds(1)), Isolation::No, "{around:?}");
        }
    }
}
