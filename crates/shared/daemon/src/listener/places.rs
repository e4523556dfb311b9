//! The places of connections under a server's limits, and which of them gives way to a new one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The network that a connection comes from, as far as limits go: an IPv4 address, or the 64 bits
/// of IPv6 that one host has; none on this machine's own sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(Option<IpAddr>);

impl Source {
    /// Of a socket that only this machine reaches.
    pub const LOCAL: Source = Source(None);

    /// The network of an address.
    pub fn of(address: IpAddr) -> Source {
        let network = match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::from((u128::from(v6) >> 64 << 64).to_be_bytes()),
            v4 => v4,
        };
        Source(Some(network))
    }
}

/// Limits on the connections of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// At once; 0 is taken as 1.
    pub connections: usize,
    /// Of these from one [`Source`]; those on this machine's own sockets have no such limit.
    pub of_source: usize,
}

impl From<usize> for Limits {
    /// Of all connections alone.
    fn from(connections: usize) -> Limits {
        Limits { connections, of_source: usize::MAX }
    }
}

/// The place of one connection. Dropped, it is free for another one.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    number: u64,
}

/// A request under way: its connection does not give way until this is dropped.
#[derive(Debug)]
pub struct UnderWay {
    places: Arc<Places>,
    number: u64,
}

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    limits: Limits,
    taken: Mutex<Taken>,
    /// Told when a place is free, or can be.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    /// Grows with each event.
    clock: u64,
    by_number: BTreeMap<u64, Holder>,
}

/// The connection at a place.
#[derive(Debug)]
struct Holder {
    source: Source,
    /// None: it never gives way.
    idle: Option<Idle>,
}

/// A connection that gives way while no request is under way.
#[derive(Debug)]
struct Idle {
    /// The event since which none is; none: one is under way.
    since: Option<u64>,
    displaced: Arc<Notify>,
}

/// The result of taking a place.
#[derive(Debug)]
pub(super) enum Admission {
    Admitted(Place),
    /// The source has as many connections as it may, and none of them gives way.
    Refused,
    /// All places are taken, and none gives way.
    Full,
}

impl Places {
    pub(super) fn new(limits: Limits) -> Arc<Places> {
        Arc::new(Places { limits, taken: Mutex::default(), changed: Notify::new() })
    }

    /// Waits until a place is free, or its connection gives way.
    pub(super) async fn room(&self) {
        while !self.has_room() {
            self.changed.notified().await;
        }
    }

    fn has_room(&self) -> bool {
        let taken = self.lock();
        taken.by_number.len() < self.most() || taken.longest_idle(|_| true).is_some()
    }

    /// A place for a connection. At a limit the connection without a request for the longest time
    /// gives way: of the same source, if that has as many as it may.
    pub(super) fn admit(self: &Arc<Self>, source: Source) -> Admission {
        let mut taken = self.lock();
        let same = |holder: &Holder| source != Source::LOCAL && holder.source == source;
        let of_source = taken.by_number.values().filter(|holder| same(holder)).count();
        if of_source >= self.limits.of_source.max(1) && !taken.displace(same) {
            return Admission::Refused;
        }
        if taken.by_number.len() >= self.most() && !taken.displace(|_| true) {
            return Admission::Full;
        }
        let number = taken.tick();
        taken.by_number.insert(number, Holder { source, idle: None });
        Admission::Admitted(Place { places: self.clone(), number })
    }

    fn most(&self) -> usize {
        self.limits.connections.max(1)
    }

    /// No task panics while it holds the lock, so the places are whole.
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, number: u64) {
        self.lock().by_number.remove(&number);
        self.changed.notify_one();
    }
}

impl Taken {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn longest_idle(&self, of: impl Fn(&Holder) -> bool) -> Option<u64> {
        let holders = self.by_number.iter().filter(|(_, holder)| of(holder));
        let idle =
            holders.filter_map(|(number, holder)| Some((holder.idle.as_ref()?.since?, number)));
        idle.min().map(|(_, number)| *number)
    }

    fn displace(&mut self, of: impl Fn(&Holder) -> bool) -> bool {
        let longest = self.longest_idle(of).and_then(|number| self.by_number.remove(&number));
        let displaced =
            longest.and_then(|holder| holder.idle).map(|idle| idle.displaced.notify_one());
        displaced.is_some()
    }

    fn set_idle(&mut self, number: u64, since: Option<u64>) {
        if let Some(idle) = self.by_number.get_mut(&number).and_then(|holder| holder.idle.as_mut())
        {
            idle.since = since;
        }
    }
}

impl Place {
    /// From now on the connection gives way to new ones while it has no request under way: the
    /// future is ready when it has, and the connection is to be closed then.
    pub fn displaced(&self) -> impl Future<Output = ()> + Send + use<> {
        let displaced = Arc::new(Notify::new());
        let mut taken = self.places.lock();
        let since = Some(taken.tick());
        if let Some(holder) = taken.by_number.get_mut(&self.number) {
            holder.idle = Some(Idle { since, displaced: displaced.clone() });
        }
        drop(taken);
        self.places.changed.notify_one();
        async move { displaced.notified().await }
    }

    /// A request begins.
    pub fn begin(&self) -> UnderWay {
        self.places.lock().set_idle(self.number, None);
        UnderWay { places: self.places.clone(), number: self.number }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.leave(self.number);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        let now = taken.tick();
        taken.set_idle(self.number, Some(now));
        drop(taken);
        self.places.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Waker};

    use super::*;

    fn is_ready(future: Pin<&mut impl Future<Output = ()>>) -> bool {
        future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn address(text: &str) -> Source {
        Source::of(text.parse().unwrap())
    }

    fn admitted(places: &Arc<Places>, source: Source) -> Place {
        match places.admit(source) {
            Admission::Admitted(place) => place,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_source_is_an_ipv4_address_or_the_first_64_bits_of_ipv6() {
        assert_ne!(address("192.0.2.1"), address("192.0.2.2"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:2"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
    }

    #[test]
    fn a_source_displaces_its_own_and_no_others() {
        let places = Places::new(Limits { connections: 10, of_source: 2 });
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let of_other = admitted(&places, other);
        let mut kept = pin!(of_other.displaced());
        let first = admitted(&places, one);
        let mut gone = pin!(first.displaced());
        let second = admitted(&places, one);
        let request = second.begin();
        let _third = admitted(&places, one);
        assert!(is_ready(gone.as_mut()) && !is_ready(kept.as_mut()));
        assert!(matches!(places.admit(one), Admission::Refused), "the others do not give way");
        drop(request);
    }

    #[test]
    fn at_the_limit_the_one_without_a_request_for_the_longest_time_gives_way() {
        let places = Places::new(Limits::from(3));
        let [a, b, c] = std::array::from_fn(|_| admitted(&places, Source::LOCAL));
        let [mut a_gone, mut b_gone, mut c_gone] =
            [&a, &b, &c].map(|place| Box::pin(place.displaced()));
        drop(a.begin()); // Now b has been idle for the longest time, but for its request.
        let under_way = b.begin();
        let _d = admitted(&places, Source::LOCAL);
        assert!(is_ready(c_gone.as_mut()) && !is_ready(a_gone.as_mut()));
        let _e = admitted(&places, Source::LOCAL);
        assert!(is_ready(a_gone.as_mut()) && !is_ready(b_gone.as_mut()));
        assert!(matches!(places.admit(Source::LOCAL), Admission::Full));
        drop(under_way);
        let _f = admitted(&places, Source::LOCAL);
        assert!(is_ready(b_gone.as_mut()));
    }
}
