//! How the headline ratios move when what the paper does not say is chosen otherwise.

use heddle_scenario::ScenarioError;
use serde::Serialize;

use super::plan::{Effort, Point, Scheme, Shape, Sizes};
use crate::grid::Cell;
use crate::stats::Estimate;
use crate::summary::RunSummary;

/// One choice changed.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// What is changed.
    pub label: &'static str,
    overrides: &'static [(&'static str, &'static str)],
}

/// The scenario as it is, then one change at a time.
pub const VARIANTS: &[Variant] = &[
    Variant { label: "as in the scenario file", overrides: &[] },
    Variant {
        label: "port buffers halved (187.5 KB)",
        overrides: &[("fabric.port_buffer", "187.5KB")],
    },
    Variant {
        label: "port buffers doubled (750 KB)",
        overrides: &[("fabric.port_buffer", "750KB")],
    },
    Variant { label: "link delays halved (0.5 us)", overrides: &[("fabric.link_delay", "500ns")] },
    Variant { label: "link delays doubled (2 us)", overrides: &[("fabric.link_delay", "2us")] },
    Variant { label: "minimum RTO halved (5 ms)", overrides: &[("transport.min_rto", "5ms")] },
    Variant { label: "minimum RTO doubled (20 ms)", overrides: &[("transport.min_rto", "20ms")] },
    Variant {
        label: "minimum RTO 200 ms (ns-2's default)",
        overrides: &[("transport.min_rto", "200ms")],
    },
    Variant {
        label: "receive window halved (64 KB)",
        overrides: &[("transport.receive_window", "64KB")],
    },
    Variant {
        label: "receive window doubled (256 KB)",
        overrides: &[("transport.receive_window", "256KB")],
    },
    Variant {
        label: "hosts' buffers as the ports' (375 KB)",
        overrides: &[("fabric.host_buffer", "375KB")],
    },
    Variant { label: "initial window 3 segments", overrides: &[("transport.initial_window", "3")] },
    Variant {
        label: "the printed listing's update rule",
        overrides: &[("scheme.update", "listing")],
    },
    Variant {
        label: "a server drawn for each flow",
        overrides: &[("workload.pattern", "cross-pod")],
    },
    Variant { label: "a connection for each flow", overrides: &[("workload", PER_FLOW)] },
];

const PER_FLOW: &str = r#"{ kind = "flows", sizes = "websearch", pattern = "cross-pod", connections = "per-flow", load = @ }"#;

/// What a variant gives.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// What is changed.
    pub variant: &'static str,
    /// ECMP's mean FCT over HULA's on the symmetric fabric at 70 % load.
    pub symmetric_70: Option<Estimate>,
    /// The same with link S2-A4 down at 60 %.
    pub asymmetric_60: Option<Estimate>,
    /// ECMP's mean FCT over that of one big switch, symmetric, 70 %: more than that no scheme can gain.
    pub ecmp_over_ideal_70: Option<Estimate>,
}

/// The points of each variant, in this order.
const POINTS: [Point; 5] = [
    point(Shape::Symmetric, Scheme::Ecmp, 70),
    point(Shape::Symmetric, Scheme::Hula, 70),
    point(Shape::Symmetric, Scheme::Ideal, 70),
    point(Shape::Asymmetric, Scheme::Ecmp, 60),
    point(Shape::Asymmetric, Scheme::Hula, 60),
];

const fn point(shape: Shape, scheme: Scheme, load: u8) -> Point {
    Point { shape, sizes: Sizes::WebSearch, scheme, load }
}

/// Every run of every variant.
///
/// # Errors
/// If a built-in scenario does not load (a test sees that they do).
pub fn cells(effort: Effort) -> Result<Vec<Cell>, ScenarioError> {
    let mut cells = Vec::new();
    for variant in VARIANTS {
        for point in POINTS {
            let overrides: Vec<(String, String)> = variant
                .overrides
                .iter()
                .filter(|(key, _)| !key.starts_with("scheme.") || point.scheme == Scheme::Hula)
                .map(|(key, value)| ((*key).to_owned(), value.replace('@', &point.load_text())))
                .collect();
            let scenario = point.scenario_with(effort, &overrides)?;
            cells.extend(effort.seeds().iter().map(|&seed| Cell {
                label: format!("{}: {} seed {seed}", variant.label, point.label()),
                scenario: scenario.clone(),
                seed,
            }));
        }
    }
    Ok(cells)
}

/// Ratios from runs in the order of [`cells`].
pub fn shifts(effort: Effort, runs: &[RunSummary]) -> Vec<Shift> {
    let seeds = effort.seeds().len();
    let per_variant = runs.chunks(seeds * POINTS.len());
    let shift = |(variant, runs): (&Variant, &[RunSummary])| {
        let of = |point: usize| &runs[point * seeds..(point + 1) * seeds];
        Shift {
            variant: variant.label,
            symmetric_70: ratio(of(0), of(1)),
            asymmetric_60: ratio(of(3), of(4)),
            ecmp_over_ideal_70: ratio(of(0), of(2)),
        }
    };
    VARIANTS.iter().zip(per_variant).map(shift).collect()
}

fn ratio(worse: &[RunSummary], better: &[RunSummary]) -> Option<Estimate> {
    let mean = |run: &RunSummary| run.fct.all.as_ref().map(|class| class.seconds.mean);
    let ratios: Option<Vec<f64>> =
        worse.iter().zip(better).map(|(w, b)| Some(mean(w)? / mean(b)?)).collect();
    Estimate::of(&ratios?)
}

/// The shifts as a Markdown table.
pub fn markdown(shifts: &[Shift]) -> String {
    let figure = |estimate: Option<Estimate>| {
        estimate.map_or_else(|| "-".to_owned(), |estimate| format!("{:.2}x", estimate.mean))
    };
    let head = "| Changed | ECMP / HULA, symmetric, 70 % | ECMP / ideal, symmetric, 70 % | ECMP / HULA, link down, 60 % |\n| --- | --- | --- | --- |\n";
    let row = |shift: &Shift| {
        let figures = [shift.symmetric_70, shift.ecmp_over_ideal_70, shift.asymmetric_60];
        format!("| {} | {} |\n", shift.variant, figures.map(figure).join(" | "))
    };
    head.to_owned() + &shifts.iter().map(row).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_loads() {
        assert_eq!(cells(Effort::Quick).unwrap().len(), VARIANTS.len() * POINTS.len());
    }
}
