//! Choices that the paper leaves open, and the ratios that show their effect.

use super::points::{Point, Scheme, asym, sym};
use heddle_study::headline::{Headline, Variant};

/// Headline ratios.
pub(super) const HEADLINES: &[Headline<Point>] = &[
    Headline {
        key: "symmetric_70",
        title: "ECMP / HULA, symmetric, 70 %",
        worse: sym(Scheme::Ecmp, 70),
        better: sym(Scheme::Hula, 70),
    },
    Headline {
        key: "conga_symmetric_70",
        title: "CONGA' / HULA, symmetric, 70 %",
        worse: sym(Scheme::CongaPrime, 70),
        better: sym(Scheme::Hula, 70),
    },
    Headline {
        key: "asymmetric_40",
        title: "ECMP / HULA, link down, 40 %",
        worse: asym(Scheme::Ecmp, 40),
        better: asym(Scheme::Hula, 40),
    },
    Headline {
        key: "conga_asymmetric_40",
        title: "CONGA' / HULA, link down, 40 %",
        worse: asym(Scheme::CongaPrime, 40),
        better: asym(Scheme::Hula, 40),
    },
    Headline {
        key: "asymmetric_60",
        title: "ECMP / HULA, link down, 60 %",
        worse: asym(Scheme::Ecmp, 60),
        better: asym(Scheme::Hula, 60),
    },
    Headline {
        key: "conga_asymmetric_60",
        title: "CONGA' / HULA, link down, 60 %",
        worse: asym(Scheme::CongaPrime, 60),
        better: asym(Scheme::Hula, 60),
    },
];

/// The default profile as it is, then one change at a time.
pub(super) const VARIANTS: &[Variant] = &[
    Variant::new("as in the default profile", &[]),
    Variant::new("port buffers halved (187.5 KB)", &[("fabric.port_buffer", "187.5KB")]),
    Variant::new("port buffers doubled (750 KB)", &[("fabric.port_buffer", "750KB")]),
    Variant::new("link delays halved (0.5 us)", &[("fabric.link_delay", "500ns")]),
    Variant::new("link delays doubled (2 us)", &[("fabric.link_delay", "2us")]),
    Variant::new("minimum RTO halved (5 ms)", &[("transport.min_rto", "5ms")]),
    Variant::new("minimum RTO doubled (20 ms)", &[("transport.min_rto", "20ms")]),
    Variant::new("minimum RTO 200 ms (ns-2's default)", &[("transport.min_rto", "200ms")]),
    Variant::new("receive window halved (15 KB)", &[("transport.receive_window", "15KB")]),
    Variant::new("receive window doubled (60 KB)", &[("transport.receive_window", "60KB")]),
    Variant::new("receive window 128 KB (the files')", &[("transport.receive_window", "128KB")]),
    Variant::new("one hash for CONGA'", &[("scheme.detection", "source-tor")]),
    Variant::new("hosts' buffers as the ports' (375 KB)", &[("fabric.host_buffer", "375KB")]),
    Variant::new("initial window 3 segments", &[("transport.initial_window", "3")]),
    Variant::new("the printed listing's update rule", &[("scheme.update", "listing")]),
    Variant::new("a server drawn for each flow", &[("workload.pattern", "cross-pod")]),
    Variant::new("a connection for each flow", &[("workload", PER_FLOW)]),
];

const PER_FLOW: &str = r#"{ kind = "flows", sizes = "websearch", pattern = "cross-pod", connections = "per-flow", load = @ }"#;

#[cfg(test)]
mod tests {
    use heddle_claims::Effort;
    use heddle_study::paper::SimulatedPaper as _;
    use heddle_study::sensitivity::{self, markdown, shifts};
    use heddle_study::summary::RunSummary;
    use heddle_study::testing::{cell, run};

    use super::super::Hula;
    use super::*;

    #[test]
    fn every_variant_loads() {
        assert_eq!(sensitivity::cells::<Hula>(Effort::Quick).unwrap().len(), VARIANTS.len() * 9);
    }

    /// HULA's nine points in order: ECMP, CONGA' and HULA on the whole fabric; with a link down each at
    /// both loads.
    #[test]
    fn each_variant_has_its_ratios() {
        let took = |seconds: f64| {
            let mut run = run(&cell(1, &[]));
            run.fct.all.as_mut().unwrap().seconds.mean = seconds;
            run
        };
        let first = [6.0, 9.0, 3.0, 9.0, 8.0, 12.0, 6.0, 3.0, 4.0];
        let others = [1.0; 9].repeat(Hula::VARIANTS.len() - 1);
        let runs: Vec<RunSummary> = first.into_iter().chain(others).map(took).collect();
        let shifts = shifts::<Hula>(Effort::Quick, &runs);
        assert_eq!(shifts.len(), Hula::VARIANTS.len());
        let json = serde_json::to_value(&shifts[0]).unwrap();
        assert_eq!(json["variant"], "as in the default profile");
        let figures = [
            "symmetric_70",
            "conga_symmetric_70",
            "asymmetric_40",
            "conga_asymmetric_40",
            "asymmetric_60",
            "conga_asymmetric_60",
        ];
        assert_eq!(
            figures.map(|key| json[key]["mean"].as_f64()),
            [Some(2.0), Some(3.0), Some(3.0), Some(4.0), Some(2.0), Some(1.5)]
        );
        let table = markdown::<Hula>(&shifts);
        assert!(
            table.contains(
                "| as in the default profile | 2.00x | 3.00x | 3.00x | 4.00x | 2.00x | 1.50x |"
            ),
            "{table}"
        );
        assert_eq!(table.lines().count(), 2 + Hula::VARIANTS.len());
    }
}
