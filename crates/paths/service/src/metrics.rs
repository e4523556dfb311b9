//! Metrics for Prometheus, with all their names.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::{Code, Problem};

/// The prefix of every name.
const PREFIX: &str = "heddle_path";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HttpStatus {
    status: u16,
}

/// The values of the gauges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Open connections.
    pub connections: usize,
    /// Their subflows.
    pub subflows: usize,
    /// Subflows on the busiest direction of a link.
    pub busiest_link_flows: u32,
    /// Links that are down.
    pub links_down: usize,
}

/// Counters and gauges.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    durations: Family<Operation, Histogram>,
    http_rejected: Family<HttpStatus, Counter>,
    expired: Counter,
    connections: Gauge,
    subflows: Gauge,
    busiest_link_flows: Gauge,
    links_down: Gauge,
}

impl Metrics {
    /// All at zero.
    pub fn new() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix(PREFIX),
            requests: Family::default(),
            durations: Family::new_with_constructor(histogram),
            http_rejected: Family::default(),
            expired: Counter::default(),
            connections: Gauge::default(),
            subflows: Gauge::default(),
            busiest_link_flows: Gauge::default(),
            links_down: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let to = &mut self.registry;
        to.register("requests", "Requests by operation and outcome", self.requests.clone());
        let help = "Duration of operations, without the transport";
        to.register_with_unit("request_duration", help, Unit::Seconds, self.durations.clone());
        let help =
            "Requests that HTTP rejected, by status: not valid, too large, or not served in time";
        to.register("http_rejected", help, self.http_rejected.clone());
        to.register("leases_expired", "Connections whose leases expired", self.expired.clone());
        to.register("connections", "Open connections", self.connections.clone());
        to.register("subflows", "Subflows of open connections", self.subflows.clone());
        let help = "Subflows on the busiest direction of a link";
        to.register("busiest_link_flows", help, self.busiest_link_flows.clone());
        to.register("links_down", "Links that are down", self.links_down.clone());
    }

    /// Counts a request of an operation.
    pub fn count_request(
        &self,
        operation: &'static str,
        problem: Option<&Problem>,
        duration: Duration,
    ) {
        let outcome = problem.map_or("ok", |problem| problem.code.label());
        self.requests.get_or_create(&Request { operation, outcome }).inc();
        self.durations.get_or_create(&Operation { operation }).observe(duration.as_secs_f64());
    }

    /// Counts a request that HTTP rejected.
    pub fn count_http_rejection(&self, status: u16) {
        self.http_rejected.get_or_create(&HttpStatus { status }).inc();
    }

    /// Counts connections whose leases expired.
    pub fn expired(&self, connections: usize) {
        self.expired.inc_by(connections as u64);
    }

    /// All metrics in OpenMetrics' text format.
    pub fn text(&self, gauges: &Gauges) -> Result<String, Problem> {
        self.connections.set(gauges.connections as i64);
        self.subflows.set(gauges.subflows as i64);
        self.busiest_link_flows.set(gauges.busiest_link_flows.into());
        self.links_down.set(gauges.links_down as i64);
        let mut text = String::new();
        let failed = |_| Problem::new(Code::Internal, "the metrics cannot be written", "try again");
        text::encode(&mut text, &self.registry).map_err(failed)?;
        Ok(text)
    }
}

/// Buckets from 1 us to 0.26 s.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(1e-6, 4.0, 10))
}
