//! How a service is run.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_path_encoder::Scheduler;

/// Where a service listens, how it places, and what it allows.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where gRPC is served; port 0 takes a free one; `None` leaves it off.
    pub grpc: Option<SocketAddr>,
    /// Where JSON over HTTP and metrics are served; port 0 takes a free one; `None` leaves it off.
    pub http: Option<SocketAddr>,
    /// How paths are chosen.
    pub scheduler: Scheduler,
    /// Bounds.
    pub limits: Limits,
    /// What leases are measured by.
    pub clock: Clock,
}

/// Both listeners on the loopback interface, at ports 7340 and 7341.
impl Default for Options {
    fn default() -> Options {
        let loopback = |port| Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        Options {
            grpc: loopback(7340),
            http: loopback(7341),
            scheduler: Scheduler::default(),
            limits: Limits::default(),
            clock: Clock::default(),
        }
    }
}

/// Bounds of what callers can make a service hold and do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a connection is kept without being renewed, unless its caller asks otherwise; whole seconds, at least 1.
    pub lease: Duration,
    /// The longest lease that a caller may ask for; never shorter than `lease`.
    pub longest_lease: Duration,
    /// Connections (of hosts, with subflows) that can be open at once.
    pub connections: usize,
    /// Ports in use outside the service that are remembered at once, for all hosts.
    pub taken_ports: usize,
    /// Sockets that are served at once, for each listener; others wait.
    pub sockets: usize,
    /// How long a request may take, the reading of it included.
    pub request: Duration,
    /// How long requests under way may take after the shutdown.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            lease: Duration::from_secs(60),
            longest_lease: Duration::from_secs(3600),
            connections: 65_536,
            taken_ports: 1 << 20,
            sockets: 1024,
            request: Duration::from_secs(10),
            drain: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// The lease in seconds.
    pub(crate) fn lease_seconds(&self) -> u32 {
        u32::try_from(self.lease.as_secs().max(1)).unwrap_or(u32::MAX)
    }

    /// The longest lease in seconds.
    pub(crate) fn longest_lease_seconds(&self) -> u32 {
        let longest = u32::try_from(self.longest_lease.as_secs()).unwrap_or(u32::MAX);
        longest.max(self.lease_seconds())
    }
}

/// Seconds since some beginning; they never go back.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that is asked by a function, as tests want it.
    pub fn new(seconds: impl Fn() -> u64 + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(seconds))
    }

    pub(crate) fn now(&self) -> u64 {
        (self.0)()
    }
}

/// The machine's monotonic clock.
impl Default for Clock {
    fn default() -> Clock {
        let start = Instant::now();
        Clock::new(move || start.elapsed().as_secs())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Clock")
    }
}
