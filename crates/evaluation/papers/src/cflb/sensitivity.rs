//! Choices that the paper leaves open, and the ratios that show their effect.

use super::claims::bar;
use super::points::{Choice, Point};
use heddle_study::headline::{Headline, Variant};

/// Headline ratios.
pub(super) const HEADLINES: &[Headline<Point>] = &[
    Headline {
        key: "one_subflow",
        title: "CFLB / ECMP, 1 subflow",
        worse: bar(Choice::Hash, 1),
        better: bar(Choice::Scheduler, 1),
    },
    Headline {
        key: "two_subflows",
        title: "CFLB / ECMP, 2 subflows",
        worse: bar(Choice::Hash, 2),
        better: bar(Choice::Scheduler, 2),
    },
    Headline {
        key: "two_over_eight",
        title: "CFLB, 2 subflows / ECMP, 8 subflows",
        worse: bar(Choice::Hash, 8),
        better: bar(Choice::Scheduler, 2),
    },
];

/// The scenario as it is, then one change at a time.
pub(super) const VARIANTS: &[Variant] = &[
    Variant::new("as in the scenario file", &[]),
    Variant::new("port buffers halved (50 packets)", &[("fabric.port_packets", "50")]),
    Variant::new("port buffers doubled (200 packets)", &[("fabric.port_packets", "200")]),
    Variant::new("link delay halved (5 us)", &[("fabric.link_delay", "5us")]),
    Variant::new("link delay doubled (20 us)", &[("fabric.link_delay", "20us")]),
    Variant::new("uncoupled windows", &[("transport.coupling", "uncoupled")]),
    Variant::new("OLIA", &[("transport.coupling", "olia")]),
    Variant::new("minimum RTO 200 ms", &[("transport.min_rto", "200ms")]),
    Variant::new("Hedera's first fit", &[("scheme.placing", "first-fit")]),
    Variant::new("source port alone", &[("scheme.field", "source-port")]),
];
