//! Settings of a service.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_path_encoder::Scheduler;

use crate::state::unix_seconds;
use crate::{TlsFiles, Tokens};

/// The largest request, in bytes.
pub(crate) const MAX_REQUEST_BYTES: usize = 64 << 10;

/// Addresses, scheduler and limits of a service.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address of gRPC; port 0 takes a free one; `None` turns it off.
    pub grpc: Option<SocketAddr>,
    /// Address of JSON over HTTP and of metrics; port 0 takes a free one; `None` turns it off.
    pub http: Option<SocketAddr>,
    /// The placement algorithm.
    pub scheduler: Scheduler,
    /// Limits of state and of requests.
    pub limits: Limits,
    /// The clock of leases.
    pub clock: Clock,
    /// The number of the first connection, unless the state has higher ones. A process that starts
    /// at another number than those before it answers for none of their connections by mistake: see
    /// [`epoch`].
    pub first_connection: u64,
    /// The file of the connections' state; without one a restart forgets them.
    pub state: Option<PathBuf>,
    /// The certificate; without one nothing is encrypted.
    pub tls: Option<TlsFiles>,
    /// The tokens; without any everyone may use the service.
    pub tokens: Tokens,
}

/// A first number of connections that no earlier process of the same machine has given, as long as
/// processes start at least a second apart and open fewer than two million connections a second:
/// the seconds since 1970 in the upper bits of 53, which JSON's numbers have.
pub fn epoch() -> u64 {
    (unix_seconds() & ((1 << 32) - 1)) << 21
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
            first_connection: 0,
            state: None,
            tls: None,
            tokens: Tokens::default(),
        }
    }
}

/// Limits of the state that callers can create, and of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The default lease: the time for which a connection is kept without being renewed; whole
    /// seconds, at least 1.
    pub lease: Duration,
    /// The longest lease that a caller may request; never shorter than `lease`.
    pub longest_lease: Duration,
    /// Connections (of hosts, with subflows) that can be open at once.
    pub connections: usize,
    /// Taken ports of all open connections together.
    pub taken_ports: usize,
    /// Accepted sockets at once, for each listener; others wait in the kernel's backlog.
    pub sockets: usize,
    /// The time limit of a request, the reading of its body included.
    pub request: Duration,
    /// The time limit of requests under way after the shutdown.
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

/// A clock in seconds from an arbitrary start; it never goes back.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that calls a function, for tests.
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
