//! `/metrics` over HTTP/1.1, in OpenMetrics' text format.

use std::fmt;
use std::sync::Arc;

use heddle_daemon::http::{plain, serve_texts};
use heddle_daemon::metrics::{Format, Metric, Name, Names, counter, gauge};
use hyper::{Response, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

use crate::admin::{self, Answer, Message, Request};
use crate::status::{PortStatus, Status};

const COUNTER: &[&str] = &["counter"];
const PORT: &[&str] = &["device", "peer"];

const FRAMES: Name = counter("frames", COUNTER, "Frames by verdict, and events");
const SCHEME: Name = counter("scheme", COUNTER, "The scheme's own counters");
const FLOWLETS: Name = gauge("flowlets", &[], "Flowlets that have not ended");
const SUBFLOWS: Name = gauge("subflows", &[], "Subflows that the ToR knows");
const PROBE_ROUNDS: Name =
    counter("probe_rounds", &["outcome"], "Rounds of probes that the daemon has sent");

/// One of a port's numbers.
type Read<N> = fn(&PortStatus) -> N;

const PORT_COUNTERS: [(Name, Read<u64>); 4] = [
    (counter("received_packets", PORT, "Frames that a port has received"), |port| {
        port.received.packets
    }),
    (counter("received_bytes", PORT, "Bytes that a port has received"), |port| port.received.bytes),
    (counter("sent_packets", PORT, "Frames that a port has sent"), |port| port.sent.packets),
    (counter("sent_bytes", PORT, "Bytes that a port has sent"), |port| port.sent.bytes),
];
const PORT_GAUGES: [(Name, Read<f64>); 2] = [
    (gauge("port_up", PORT, "1 if a port has a carrier"), |port| f64::from(u8::from(port.up))),
    (gauge("utilisation", PORT, "Utilisation of a port's outgoing side, 0 to 1"), |port| {
        port.utilisation
    }),
];

/// Served in OpenMetrics' format alone, which writes kinds by itself.
const NAMES: Names = Names { prefix: "heddle_switch", all: &[] };

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, to: mpsc::Sender<Message>) {
    let scraped = Arc::new(Mutex::new(()));
    serve_texts(listener, move |head| {
        let (to, scraped) = (to.clone(), scraped.clone());
        async move {
            match head.uri.path() {
                "/metrics" => {
                    // One at a time: the daemon's task has other work.
                    let _one = scraped.lock().await;
                    respond(&to).await
                }
                _ => plain(StatusCode::NOT_FOUND, "see /metrics\n"),
            }
        }
    })
    .await;
}

async fn respond(to: &mpsc::Sender<Message>) -> Response<String> {
    match admin::ask(to, Request::Status).await {
        Answer::Status(status) => NAMES.response(Metrics(*status), Format::OpenMetrics),
        _ => plain(StatusCode::SERVICE_UNAVAILABLE, "the daemon is stopping\n"),
    }
}

#[derive(Debug)]
struct Metrics(Status);

impl Collector for Metrics {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        let Metrics(status) = self;
        let mut frames = Metric::begin(&mut to, FRAMES)?;
        for (name, count) in &status.counters {
            frames.count(&[name], count.packets)?;
        }
        let mut scheme = Metric::begin(&mut to, SCHEME)?;
        for (name, count) in &status.scheme_counters {
            scheme.count(&[name], *count)?;
        }
        for (name, value) in PORT_COUNTERS {
            let mut metric = Metric::begin(&mut to, name)?;
            for port in &status.ports {
                metric.count(&[&port.device, &port.peer], value(port))?;
            }
        }
        for (name, value) in PORT_GAUGES {
            let mut metric = Metric::begin(&mut to, name)?;
            for port in &status.ports {
                metric.level(&[&port.device, &port.peer], value(port))?;
            }
        }
        Metric::begin(&mut to, FLOWLETS)?.level(&[], status.flowlets as f64)?;
        Metric::begin(&mut to, SUBFLOWS)?.level(&[], status.subflows as f64)?;
        let mut rounds = Metric::begin(&mut to, PROBE_ROUNDS)?;
        rounds.count(&["sent"], status.probes_sent)?;
        rounds.count(&["failed"], status.probes_failed)
    }
}
