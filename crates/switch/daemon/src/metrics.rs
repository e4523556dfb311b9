//! `/metrics` over HTTP/1.1, in OpenMetrics' text format.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use heddle_listener::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::admin::{self, Answer, Message, Request};
use crate::status::{PortStatus, Status};

/// The longest time for a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The most connections at once.
const MOST_CONNECTIONS: usize = 16;
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, to: mpsc::Sender<Message>) {
    let incoming = Incoming::new(listener, MOST_CONNECTIONS);
    let handler = |stream| attend(stream, to.clone());
    heddle_listener::serve(incoming, std::future::pending(), handler).await;
}

async fn attend(stream: TcpStream, to: mpsc::Sender<Message>) {
    let service = service_fn(|request: hyper::Request<_>| {
        let (to, is_metrics) = (to.clone(), request.uri().path() == "/metrics");
        async move { Ok::<_, Infallible>(respond(is_metrics, &to).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection for metrics was closed");
    }
}

async fn respond(is_metrics: bool, to: &mpsc::Sender<Message>) -> Response<String> {
    let plain = |status: StatusCode, text: &str| {
        let mut response = Response::new(text.to_owned());
        *response.status_mut() = status;
        response
    };
    if !is_metrics {
        return plain(StatusCode::NOT_FOUND, "see /metrics\n");
    }
    let Answer::Status(status) = admin::ask(to, Request::Status).await else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "the daemon is stopping\n");
    };
    let Ok(text) = encode(*status) else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics have no text\n");
    };
    let mut response = plain(StatusCode::OK, &text);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
    response
}

/// The state in OpenMetrics' text format.
///
/// # Errors
/// None that is known: writing into a string does not fail.
pub fn encode(status: Status) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("heddle_switch");
    registry.register_collector(Box::new(Metrics(status)));
    let mut to = String::new();
    text::encode(&mut to, &registry)?;
    Ok(to)
}

#[derive(Debug)]
struct Metrics(Status);

/// A label and a number.
type Sample<'a, N> = (Vec<(&'static str, &'a str)>, N);

fn counters<'a>(
    to: &mut DescriptorEncoder<'_>,
    (name, help): (&str, &str),
    samples: impl IntoIterator<Item = Sample<'a, u64>>,
) -> fmt::Result {
    let mut samples = samples.into_iter().peekable();
    let kind = ConstCounter::new(0_u64).metric_type();
    let mut metric = to.encode_descriptor(name, help, None, kind)?;
    samples.try_for_each(|(labels, value)| {
        ConstCounter::new(value).encode(metric.encode_family(&labels)?)
    })
}

fn gauges<'a>(
    to: &mut DescriptorEncoder<'_>,
    (name, help): (&str, &str),
    samples: impl IntoIterator<Item = Sample<'a, f64>>,
) -> fmt::Result {
    let kind = ConstGauge::new(0.0).metric_type();
    let mut metric = to.encode_descriptor(name, help, None, kind)?;
    samples.into_iter().try_for_each(|(labels, value)| {
        ConstGauge::new(value).encode(metric.encode_family(&labels)?)
    })
}

fn of_port<N>(port: &PortStatus, value: N) -> Sample<'_, N> {
    (vec![("device", port.device.as_str()), ("peer", port.peer.as_str())], value)
}

impl Collector for Metrics {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        let Metrics(status) = self;
        let (to, ports) = (&mut to, &status.ports);
        let frames = status
            .counters
            .iter()
            .map(|(name, count)| (vec![("counter", name.as_str())], count.packets));
        counters(to, ("frames", "Frames by verdict, and events"), frames)?;
        let scheme = status
            .scheme_counters
            .iter()
            .map(|(name, count)| (vec![("counter", name.as_str())], *count));
        counters(to, ("scheme", "The scheme's own counters"), scheme)?;
        counters(
            to,
            ("received_packets", "Frames that a port has received"),
            ports.iter().map(|port| of_port(port, port.received.packets)),
        )?;
        counters(
            to,
            ("received_bytes", "Bytes that a port has received"),
            ports.iter().map(|port| of_port(port, port.received.bytes)),
        )?;
        counters(
            to,
            ("sent_packets", "Frames that a port has sent"),
            ports.iter().map(|port| of_port(port, port.sent.packets)),
        )?;
        counters(
            to,
            ("sent_bytes", "Bytes that a port has sent"),
            ports.iter().map(|port| of_port(port, port.sent.bytes)),
        )?;
        gauges(
            to,
            ("port_up", "1 if a port has a carrier"),
            ports.iter().map(|port| of_port(port, f64::from(u8::from(port.up)))),
        )?;
        gauges(
            to,
            ("utilisation", "Utilisation of a port's outgoing side, 0 to 1"),
            ports.iter().map(|port| of_port(port, port.utilisation)),
        )?;
        gauges(
            to,
            ("flowlets", "Flowlets that have not ended"),
            [(vec![], status.flowlets as f64)],
        )?;
        gauges(
            to,
            ("subflows", "Subflows that the ToR knows"),
            [(vec![], status.subflows as f64)],
        )?;
        counters(
            to,
            ("probe_rounds", "Rounds of probes that the daemon has sent"),
            [
                (vec![("outcome", "sent")], status.probes_sent),
                (vec![("outcome", "failed")], status.probes_failed),
            ],
        )
    }
}
