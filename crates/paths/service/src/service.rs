//! The one implementation behind both transports.

mod connections;
mod links;
mod paths;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use heddle_path_encoder::{Connections, Network, Placer};

use crate::links::Links;
use crate::metrics::{Levels, Metrics};
use crate::{Clock, Limits, Options, Problem};

/// Answers every operation of `PathService`; each is a method that takes a request and returns the answer or a [`Problem`].
///
/// Questions about paths read a snapshot of the network and wait for nobody. Connections are behind one lock, which is held while
/// paths are chosen and named: some 0.1 us for each path that is looked at, [`heddle_path_encoder::MAX_PATHS`] for each subflow at most. What
/// does so is no work for an asynchronous task. News of a link is worked out beside both, and put in place under that lock.
#[derive(Debug)]
pub struct Service {
    network: RwLock<Arc<Network>>,
    /// One piece of news at a time.
    rerouting: Mutex<()>,
    connections: Mutex<Connections>,
    links: Links,
    limits: Limits,
    clock: Clock,
    metrics: Metrics,
}

impl Service {
    /// A service without connections.
    pub fn new(network: Network, options: &Options) -> Service {
        let Options { scheduler, limits, clock, .. } = options;
        let placer = Placer::new(network.fabric(), *scheduler);
        let connections = Connections::new(placer, limits.lease_seconds().into());
        Service {
            links: Links::new(&network),
            network: RwLock::new(Arc::new(network)),
            rerouting: Mutex::new(()),
            connections: Mutex::new(connections),
            limits: limits.clone(),
            clock: clock.clone(),
            metrics: Metrics::new(),
        }
    }

    /// The metrics in OpenMetrics' text format.
    ///
    /// # Errors
    /// [`crate::Code::Internal`] if they cannot be written.
    pub fn metrics(&self) -> Result<String, Problem> {
        self.metrics.text(&self.levels())
    }

    /// Counts a request that HTTP refused or gave up on, and tells the log.
    pub(crate) fn refused_by_http(&self, status: u16) {
        self.metrics.refused_by_http(status);
        tracing::info!(status, "refused by HTTP");
    }

    /// What callers can make it hold and do.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    fn levels(&self) -> Levels {
        let (connections, network) = (self.connections(), self.network());
        let (placer, ports) = (connections.placer(), network.fabric().ports.len() as u32);
        Levels {
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

    /// Does an operation, counts it and tells the log.
    fn answer<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce() -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let begun = Instant::now();
        let answer = work();
        let took = begun.elapsed();
        let problem = answer.as_ref().err();
        self.metrics.answered(operation, problem, took);
        let micros = took.as_micros() as u64;
        match problem {
            None => tracing::debug!(operation, micros, "answered"),
            Some(problem) => {
                let Problem { code, message, .. } = problem;
                tracing::info!(operation, micros, code = code.word(), message, "refused");
            }
        }
        answer
    }
}

/// A lock whose state stays usable after a panic: every operation leaves it whole or untouched.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
