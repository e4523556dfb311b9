//! What Prometheus is told. All names are here.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::{Code, Problem};

/// What every name begins with.
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

/// What is true at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Open connections.
    pub connections: usize,
    /// Their subflows.
    pub subflows: usize,
    /// Subflows on the link, by direction, that has most.
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
    http_refused: Family<HttpStatus, Counter>,
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
            http_refused: Family::default(),
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
        to.register(
            "requests",
            "Requests by operation and outcome; no_free_port is one of these",
            self.requests.clone(),
        );
        let help = "Time to answer, without the transport";
        to.register_with_unit("request_duration", help, Unit::Seconds, self.durations.clone());
        let help = "Requests that HTTP refused or gave up on, by status; no operation counts those refused";
        to.register("http_refused", help, self.http_refused.clone());
        to.register("expired", "Connections whose leases ended", self.expired.clone());
        to.register("connections", "Open connections", self.connections.clone());
        to.register("subflows", "Subflows of open connections", self.subflows.clone());
        let help = "Subflows on the direction of a link that has most";
        to.register("busiest_link_flows", help, self.busiest_link_flows.clone());
        to.register("links_down", "Links that are down", self.links_down.clone());
    }

    /// Counts an answer.
    pub fn answered(&self, operation: &'static str, problem: Option<&Problem>, took: Duration) {
        let outcome = problem.map_or("ok", |problem| problem.code.word());
        self.requests.get_or_create(&Request { operation, outcome }).inc();
        self.durations.get_or_create(&Operation { operation }).observe(took.as_secs_f64());
    }

    /// Counts a request that HTTP refused, or gave up on.
    pub fn refused_by_http(&self, status: u16) {
        self.http_refused.get_or_create(&HttpStatus { status }).inc();
    }

    /// Counts connections whose leases ended.
    pub fn expired(&self, connections: usize) {
        self.expired.inc_by(connections as u64);
    }

    /// All metrics in OpenMetrics' text format.
    pub fn text(&self, levels: &Levels) -> Result<String, Problem> {
        self.connections.set(levels.connections as i64);
        self.subflows.set(levels.subflows as i64);
        self.busiest_link_flows.set(levels.busiest_link_flows.into());
        self.links_down.set(levels.links_down as i64);
        let mut text = String::new();
        let failed = |_| Problem::new(Code::Internal, "the metrics cannot be written", "ask again");
        text::encode(&mut text, &self.registry).map_err(failed)?;
        Ok(text)
    }
}

/// 1 microsecond to a quarter of a second.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(1e-6, 4.0, 10))
}
