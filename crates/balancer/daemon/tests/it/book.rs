//! The book names everything that an operator may meet in a graph or an answer.

use heddle_balancer_maps::abi::Counter;
use heddled::metrics::names::{ALL, Kind, PREFIX};

const OPERATING: &str = include_str!("../../../../../docs/src/balancer/operating.md");
const PACKET_PATH: &str = include_str!("../../../../../docs/src/balancer/packet-path.md");

#[test]
fn every_metric_is_in_the_book_with_its_labels() {
    for metric in ALL {
        let suffix = match metric.kind {
            Kind::Counter => "_total",
            Kind::Gauge => "",
            Kind::Info => "_info",
        };
        let name = format!("| `{PREFIX}_{}{suffix}` |", metric.name);
        let row = OPERATING.lines().find(|line| line.starts_with(&name));
        let row = row.unwrap_or_else(|| panic!("{name}"));
        for label in metric.labels {
            assert!(row.contains(&format!("`{label}`")), "{name}: {label}");
        }
    }
}

#[test]
fn every_verdict_and_event_is_in_the_book() {
    for counter in Counter::ALL {
        let row = format!("| `{}` |", counter.name());
        assert!(PACKET_PATH.contains(&row), "{row}");
    }
}
