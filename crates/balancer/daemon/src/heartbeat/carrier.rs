//! The carrier of this balancer's own interfaces.
//!
//! While none of them has one, silence says nothing about other balancers. Nor does it shortly
//! after: the kernel asks for a neighbour's Ethernet address once a second (`retrans_time_ms`; RFC
//! 4861, section 10: RETRANS_TIMER), and heartbeats wait for the answer.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

/// The time after the carrier's return for which silence proves nothing: twice the time between two
/// neighbour solicitations.
const RESOLUTION: Duration = Duration::from_secs(2);

/// The interfaces' carrier, as it was seen last. Knows no clock but its arguments.
#[derive(Debug)]
pub(super) struct Carrier {
    present: bool,
    missing_at: Option<Duration>,
}

impl Default for Carrier {
    fn default() -> Carrier {
        Carrier { present: true, missing_at: None }
    }
}

impl Carrier {
    /// False if no interface had a carrier when it was seen last.
    pub(super) fn is_present(&self) -> bool {
        self.present
    }

    /// Takes in the state at a time.
    pub(super) fn see(&mut self, present: bool, now: Duration) {
        self.present = present;
        if !present {
            self.missing_at = Some(now);
        }
    }

    /// True if a heartbeat that has no answer says something about the other balancer.
    pub(super) fn silence_proves(&self, now: Duration) -> bool {
        self.present && self.missing_at.is_none_or(|at| now.saturating_sub(at) >= RESOLUTION)
    }
}

/// True if one of the interfaces has a carrier, in the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer.
pub(super) fn is_on(interfaces: &BTreeSet<String>) -> io::Result<bool> {
    let mut running = getifaddrs()?.filter(|one| one.flags.contains(InterfaceFlags::IFF_RUNNING));
    Ok(running.any(|one| interfaces.contains(&one.interface_name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn silence_proves_nothing_without_a_carrier_and_for_two_seconds_after() {
        let mut carrier = Carrier::default();
        assert!(carrier.is_present() && carrier.silence_proves(1000 * MS));
        carrier.see(false, 2000 * MS);
        assert!(!carrier.is_present() && !carrier.silence_proves(9000 * MS));
        carrier.see(false, 5000 * MS);
        carrier.see(true, 5020 * MS);
        assert!(carrier.is_present() && !carrier.silence_proves(6999 * MS));
        assert!(carrier.silence_proves(7000 * MS));
    }

    #[test]
    fn loopback_is_on_and_an_interface_that_is_not_there_is_not() {
        let on = |name: &str| is_on(&BTreeSet::from([name.to_string()])).unwrap();
        assert_eq!((on("lo"), on("not-there")), (true, false));
        assert!(is_on(&BTreeSet::from(["not-there".into(), "lo".into()])).unwrap());
    }
}
