//! Choices that the paper leaves open, and the ratios that show their effect.

use super::claims::{HULA, HULA_UNCOUPLED, MP_HULA, MP_HULA_UNCOUPLED, web};
use super::points::{Point, System};
use heddle_study::headline::{Headline, Variant};

/// Headline ratios; one big switch is no bound.
pub(super) const HEADLINES: &[Headline<Point>] = &[
    Headline {
        key: "coupled_50",
        title: "MPTCP + HULA / MP-HULA, 50 %",
        worse: web(HULA, 50),
        better: web(MP_HULA, 50),
    },
    Headline {
        key: "coupled_90",
        title: "MPTCP + HULA / MP-HULA, 90 %",
        worse: web(HULA, 90),
        better: web(MP_HULA, 90),
    },
    Headline {
        key: "uncoupled_50",
        title: "uncoupled MPTCP + HULA / MP-HULA, 50 %",
        worse: web(HULA_UNCOUPLED, 50),
        better: web(MP_HULA_UNCOUPLED, 50),
    },
    Headline {
        key: "tcp_hula_uncoupled_50",
        title: "TCP + HULA / uncoupled MP-HULA, 50 %",
        worse: web(System::TcpHula, 50),
        better: web(MP_HULA_UNCOUPLED, 50),
    },
    Headline {
        key: "tcp_hula_over_ideal_50",
        title: "TCP + HULA / ideal, 50 %",
        worse: web(System::TcpHula, 50),
        better: web(System::Ideal, 50),
    },
];

/// The scenario as it is, then one change at a time.
pub(super) const VARIANTS: &[Variant] = &[
    Variant::new("as in the scenario file", &[]),
    Variant::new("port buffers halved (187.5 KB)", &[("fabric.port_buffer", "187.5KB")]),
    Variant::new("port buffers doubled (750 KB)", &[("fabric.port_buffer", "750KB")]),
    Variant::new("minimum RTO 1 ms", &[("transport.min_rto", "1ms")]),
    Variant::new("minimum RTO halved (5 ms)", &[("transport.min_rto", "5ms")]),
    Variant::new("minimum RTO doubled (20 ms)", &[("transport.min_rto", "20ms")]),
    Variant::new("minimum RTO 200 ms (ns-2's default)", &[("transport.min_rto", "200ms")]),
    Variant::new("receive window halved (64 KB)", &[("transport.receive_window", "64KB")]),
    Variant::new("receive window doubled (256 KB)", &[("transport.receive_window", "256KB")]),
    Variant::new("receive window quadrupled (512 KB)", &[("transport.receive_window", "512KB")]),
    // Of version 0: a server of version 1 does not know the client's key so early.
    Variant::new(
        "further subflows at once (version 0)",
        &[("transport.join", "at-once"), ("transport.version", "0")],
    ),
    Variant::new("initial window 3 segments", &[("transport.initial_window", "3")]),
    Variant::new("subflows take data in turn", &[("transport.scheduler", "round-robin")]),
    // Not half of it, 50 us: at 90 % MPTCP on HULA then falls ever further behind; its run had not
    // ended after six minutes.
    Variant::new("flowlet gap doubled (200 us)", &[("scheme.flowlet_gap", "200us")]),
    Variant::new("flowlet gap 500 us", &[("scheme.flowlet_gap", "500us")]),
    Variant::new("16 hosts a ToR", &[("fabric.hosts_per_tor", "16")]),
    Variant::new("each client keeps one server", &[("workload.pattern", "cross-pod-pairs")]),
    Variant::new(
        "as HULA's traffic: one server, three persistent connections",
        &[
            ("workload.pattern", "cross-pod-pairs"),
            ("workload.connections", "persistent"),
            ("workload.connections_per_pair", "3"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::super::MpHula;
    use super::*;
    use heddle_claims::Effort;
    use heddle_study::point::Point as _;
    use heddle_study::sensitivity;

    #[test]
    fn every_variant_loads() {
        let cells = sensitivity::cells::<MpHula>(Effort::Quick).unwrap();
        assert_eq!(cells.len(), VARIANTS.len() * 8);
    }

    /// A change that a system does not take leaves its scenario alone; so every variant but the
    /// first changes some.
    #[test]
    fn every_variant_changes_something() {
        for variant in &VARIANTS[1..] {
            let point = web(MP_HULA, 50);
            let changed = point.changed(Effort::Quick, variant.changes).unwrap();
            assert_ne!(changed, point.scenario(Effort::Quick).unwrap(), "{}", variant.label);
        }
        let tcp = web(System::TcpHula, 50);
        let changed = tcp.changed(Effort::Quick, &[("transport.join", "at-once")]).unwrap();
        assert_eq!(changed, tcp.scenario(Effort::Quick).unwrap());
    }
}
