//! The implementation behind both transports.

mod connections;
mod links;
mod paths;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use heddle_path_encoder::{ConnectionId, Connections, Network, Placer};

use crate::links::Links;
use crate::metrics::{Gauges, Metrics};
use crate::state::State;
use crate::{Clock, Limits, Options, Problem, Tokens};

/// The operations of `PathService`. Each is a method that takes a request and returns the response
/// or a [`Problem`].
///
/// Operations on paths read a snapshot of the network and take no lock. Connections are behind one
/// lock, which is held while paths are placed and encoded: about 0.1 us for each path considered,
/// at most [`heddle_fabric::MAX_PATHS`] for each subflow. These operations must not run in
/// asynchronous tasks. A link change computes new routes without a lock, and installs them under
/// that of the connections.
#[derive(Debug)]
pub struct Service {
    network: RwLock<Arc<Network>>,
    /// Serialises link changes.
    rerouting: Mutex<()>,
    connections: Mutex<Connections>,
    links: Links,
    limits: Limits,
    tokens: Tokens,
    clock: Clock,
    metrics: Metrics,
    state: Option<State>,
}

impl Service {
    /// A service without connections, or with those of its state file.
    ///
    /// # Errors
    /// The state file cannot be read or written.
    pub fn new(network: Network, options: &Options) -> std::io::Result<Service> {
        let Options { scheduler, limits, clock, state, .. } = options;
        let placer = Placer::new(network.fabric(), *scheduler);
        let connections = Connections::new(placer, limits.lease_seconds().into());
        let mut connections = connections.starting_at(options.first_connection);
        let open = |path| State::open(path, &network, &mut connections, clock.now());
        let state = state.as_deref().map(open).transpose()?;
        Ok(Service {
            state,
            links: Links::new(&network),
            network: RwLock::new(Arc::new(network)),
            rerouting: Mutex::new(()),
            connections: Mutex::new(connections),
            limits: limits.clone(),
            tokens: options.tokens.clone(),
            clock: clock.clone(),
            metrics: Metrics::new(),
        })
    }

    /// Keeps a change of a connection.
    fn record(&self, connections: &Connections, id: ConnectionId) {
        if let Some(state) = &self.state {
            state.record(connections, id, self.clock.now());
        }
    }

    /// The metrics in OpenMetrics' text format.
    ///
    /// # Errors
    /// [`crate::Code::Internal`] if they cannot be written.
    pub fn metrics(&self) -> Result<String, Problem> {
        self.metrics.text(&self.gauges())
    }

    /// Counts and logs a request that HTTP rejected.
    pub(crate) fn count_http_rejection(&self, status: u16) {
        self.metrics.count_http_rejection(status);
        tracing::info!(status, "rejected by HTTP");
    }

    /// The tokens of those who may use it.
    pub(crate) const fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The limits of state and of requests.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    fn gauges(&self) -> Gauges {
        let (connections, network) = (self.connections(), self.network());
        let (placer, ports) = (connections.placer(), network.fabric().ports.len() as u32);
        Gauges {
            connections: connections.len(),
            subflows: connections.ports().len(),
            busiest_link_flows: (0..ports).map(|port| placer.flows(port)).max().unwrap_or(0),
            links_down: network.down().len(),
        }
    }

    /// The network as it is now.
    fn network(&self) -> Arc<Network> {
        self.network.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The open connections, without those whose leases have ended.
    fn connections(&self) -> MutexGuard<'_, Connections> {
        let mut connections = lock(&self.connections);
        let ended = connections.expire(self.clock.now());
        self.metrics.expired(ended.len());
        connections
    }

    /// Runs an operation, counts it and logs it.
    fn run<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce() -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let start = Instant::now();
        let result = work();
        let duration = start.elapsed();
        let problem = result.as_ref().err();
        self.metrics.count_request(operation, problem, duration);
        let micros = duration.as_micros() as u64;
        match problem {
            None => tracing::debug!(operation, micros, "served"),
            Some(problem) => {
                let Problem { code, detail, .. } = problem;
                tracing::info!(operation, micros, code = code.label(), detail, "rejected");
            }
        }
        result
    }
}

/// Takes a lock, also after a panic: every operation leaves the state whole or untouched.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
