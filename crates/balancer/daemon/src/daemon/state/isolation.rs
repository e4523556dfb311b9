//! A balancer whose link is cut: neither backends nor other balancers answer.
//!
//! Its tables are then made of the backends that seem to be up, and for a while after the cut, too, until the health checks have found
//! all of them again. Connections that it placed meanwhile would be at other backends than at the other balancers. So it is not healthy
//! until then, and no packets should be sent to it.

use std::time::Duration;

/// The longest time after the cut for which a balancer waits for its backends: those that are not up then are down.
const SETTLING: Duration = Duration::from_secs(10);

/// The state of everything around a balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Surroundings {
    /// The other balancers that are listed.
    pub(super) balancers: usize,
    /// Those of them that answer.
    pub(super) alive: usize,
    /// The backends with health checks.
    pub(super) checked: usize,
    /// Those of them that are up.
    pub(super) up: usize,
}

impl Surroundings {
    fn is_cut_off(&self) -> bool {
        self.balancers > 0 && self.alive == 0 && self.checked > 0 && self.up == 0
    }

    fn is_whole(&self) -> bool {
        self.alive == self.balancers && self.up == self.checked
    }
}

/// Whether this balancer is cut off, or was just now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Isolation {
    /// It is not.
    #[default]
    No,
    /// Nothing answers.
    CutOff,
    /// Something answers again, since this time.
    Settling(Duration),
}

impl Isolation {
    /// The state at a time.
    pub(super) fn next(self, around: &Surroundings, time: Duration) -> Isolation {
        match self {
            _ if around.is_cut_off() => Isolation::CutOff,
            Isolation::CutOff if !around.is_whole() => Isolation::Settling(time),
            Isolation::Settling(since)
                if !around.is_whole() && time.saturating_sub(since) < SETTLING =>
            {
                self
            }
            _ => Isolation::No,
        }
    }

    /// The reason why the balancer is not healthy.
    pub(super) fn cause(self) -> Option<&'static str> {
        match self {
            Isolation::No => None,
            Isolation::CutOff => Some("cut off: no backend and no other balancer answers"),
            Isolation::Settling(_) => {
                Some("cut off until just now: backends and balancers are still being found")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Surroundings = Surroundings { balancers: 2, alive: 2, checked: 4, up: 4 };
    const NOTHING: Surroundings = Surroundings { alive: 0, up: 0, ..WHOLE };

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn after_a_cut_all_is_found_again_first() {
        let cut = Isolation::No.next(&WHOLE, seconds(1)).next(&NOTHING, seconds(2));
        assert_eq!(cut, Isolation::CutOff);
        let some = cut.next(&Surroundings { alive: 2, up: 1, ..WHOLE }, seconds(3));
        assert_eq!(some, Isolation::Settling(seconds(3)));
        assert_eq!(some.next(&WHOLE, seconds(4)), Isolation::No);
        assert_eq!(some.next(&NOTHING, seconds(4)), Isolation::CutOff);
    }

    #[test]
    fn a_backend_that_stays_down_is_not_waited_for_for_ever() {
        let one_down = Surroundings { up: 3, ..WHOLE };
        let settling = Isolation::CutOff.next(&one_down, seconds(3));
        assert_eq!(settling.next(&one_down, seconds(12)), settling);
        assert_eq!(settling.next(&one_down, seconds(13)), Isolation::No);
    }

    #[test]
    fn dead_backends_alone_or_dead_balancers_alone_are_no_cut() {
        for around in [
            Surroundings { up: 0, ..WHOLE },
            Surroundings { alive: 0, ..WHOLE },
            Surroundings { balancers: 0, alive: 0, up: 0, ..WHOLE },
            Surroundings { alive: 0, checked: 0, up: 0, ..WHOLE },
        ] {
            assert_eq!(Isolation::No.next(&around, seconds(1)), Isolation::No, "{around:?}");
        }
    }
}
