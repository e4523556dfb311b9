//! Metrics for Prometheus: their names as a table, their samples, and both text formats.

use std::fmt;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, text as format};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::http::plain;

/// The formats that Prometheus reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' text-based exposition format 0.0.4, which promtool and older scrapers read.
    Prometheus,
}

impl Format {
    /// OpenMetrics for those that name it, as Prometheus does; Prometheus' format for all others.
    pub fn accepted(headers: &HeaderMap) -> Format {
        let mut values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        match values.any(|value| value.contains("application/openmetrics-text")) {
            true => Format::OpenMetrics,
            false => Format::Prometheus,
        }
    }

    /// Its media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// The kind of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They only grow.
    Counter,
    /// They go both ways.
    Gauge,
    /// Always 1: the labels tell.
    Info,
}

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// Without prefix and suffix. Units are base units and end the name; the text format adds
    /// `_total` to counters and `_info` to facts.
    pub name: &'static str,
    /// Its meaning, in a phrase.
    pub help: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// The labels of each value.
    pub labels: &'static [&'static str],
}

/// A counter.
pub const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Name {
    Name { name, help, kind: Kind::Counter, labels }
}

/// A gauge.
pub const fn gauge(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Name {
    Name { name, help, kind: Kind::Gauge, labels }
}

/// All names of a daemon.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The beginning of every name.
    pub prefix: &'static str,
    /// In the order of the text.
    pub all: &'static [Name],
}

impl Names {
    /// The samples of a collector in a text format.
    ///
    /// # Errors
    /// None that is known: writing into a string does not fail.
    pub fn text(self, samples: impl Collector, format: Format) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix(self.prefix);
        registry.register_collector(Box::new(samples));
        let mut text = String::new();
        format::encode(&mut text, &registry)?;
        Ok(match format {
            Format::OpenMetrics => text,
            Format::Prometheus => self.prometheus(&text),
        })
    }

    /// The same as a response.
    pub fn response(self, samples: impl Collector, format: Format) -> Response<String> {
        match self.text(samples, format) {
            Ok(text) => {
                let mut response = Response::new(text);
                let media_type = HeaderValue::from_static(format.media_type());
                response.headers_mut().insert(CONTENT_TYPE, media_type);
                response
            }
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics have no text\n"),
        }
    }

    /// The differences between the formats: a family is named as its samples are, facts are gauges,
    /// and nothing marks the end.
    fn prometheus(self, open_metrics: &str) -> String {
        let mut text = String::with_capacity(open_metrics.len());
        for line in open_metrics.lines().filter(|line| *line != "# EOF") {
            let meta = line.strip_prefix("# ").and_then(|meta| {
                let mut words = meta.splitn(3, ' ');
                Some((words.next()?, words.next()?, words.next()?))
            });
            match meta {
                Some((word, name, rest)) => {
                    let (suffix, kind) = self.in_samples(name);
                    let rest = if word == "TYPE" { kind } else { rest };
                    text.push_str(&format!("# {word} {name}{suffix} {rest}\n"));
                }
                None => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }

    /// The suffix of a family's samples, and its type in Prometheus' format.
    fn in_samples(self, family: &str) -> (&'static str, &'static str) {
        let rest = family.strip_prefix(self.prefix).and_then(|rest| rest.strip_prefix('_'));
        let found = self.all.iter().find(|name| rest == Some(name.name));
        match found.map(|name| name.kind) {
            Some(Kind::Counter) => ("_total", "counter"),
            Some(Kind::Info) => ("_info", "gauge"),
            _ => ("", "gauge"),
        }
    }
}

/// A metric whose help and type have been written; its samples follow, each with the values of the
/// name's labels.
pub struct Metric<'a> {
    to: MetricEncoder<'a>,
    labels: &'static [&'static str],
}

impl<'a> Metric<'a> {
    /// Writes help and type.
    ///
    /// # Errors
    /// Those of the writer, here and below.
    pub fn begin(to: &'a mut DescriptorEncoder<'_>, name: Name) -> Result<Metric<'a>, fmt::Error> {
        let kind = match name.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Info => MetricType::Info,
        };
        let to = to.encode_descriptor(name.name, name.help, None, kind)?;
        Ok(Metric { to, labels: name.labels })
    }

    /// A value of a counter.
    ///
    /// # Errors
    /// See [`Metric::begin`].
    pub fn count<N>(&mut self, values: &[&str], value: N) -> fmt::Result
    where
        ConstCounter<N>: EncodeMetric,
    {
        self.sample(values, &ConstCounter::new(value))
    }

    /// A value of a gauge.
    ///
    /// # Errors
    /// See [`Metric::begin`].
    pub fn level<N>(&mut self, values: &[&str], value: N) -> fmt::Result
    where
        ConstGauge<N>: EncodeMetric,
    {
        self.sample(values, &ConstGauge::new(value))
    }

    fn sample(&mut self, values: &[&str], sample: &impl EncodeMetric) -> fmt::Result {
        let labels = self.labels(values);
        sample.encode(self.to.encode_family(&labels)?)
    }

    /// The only sample of a metric without labels.
    ///
    /// # Errors
    /// See [`Metric::begin`].
    pub fn alone(self, sample: &impl EncodeMetric) -> fmt::Result {
        sample.encode(self.to)
    }

    /// A fact.
    ///
    /// # Errors
    /// See [`Metric::begin`].
    pub fn fact(&mut self, values: &[&str]) -> fmt::Result {
        let labels = self.labels(values);
        self.to.encode_info(&labels)
    }

    fn labels<'v>(&self, values: &[&'v str]) -> Vec<(&'static str, &'v str)> {
        self.labels.iter().copied().zip(values.iter().copied()).collect()
    }
}
