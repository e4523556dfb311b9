//! Sensitivity of headline ratios to choices that a paper leaves open.

use heddle_claims::Effort;
use heddle_claims::stats::Estimate;
use heddle_claims::table::OVERLOADED;
use heddle_scenario::ScenarioError;
use serde::{Serialize, Serializer};

use crate::cell::{Cell, seeded};
use crate::headline::{Headline, Variant};
use crate::metric::Metric;
use crate::paper::SimulatedPaper;
use crate::point::{Point as _, in_order};
use crate::steady::Steadiness;
use crate::summary::RunSummary;

/// The headline ratios under one variant.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// The change in words.
    pub variant: &'static str,
    /// The headline ratios by their keys, in the headlines' order.
    #[serde(flatten, serialize_with = "by_key")]
    pub ratios: Vec<(&'static str, Option<Estimate>)>,
    /// Keys of the ratios of which a run is in no steady state: tables do not show them.
    pub overloaded: Vec<&'static str>,
}

/// Writes named values as an object, in their order.
///
/// # Errors
/// Those of the serializer.
pub fn by_key<S: Serializer>(
    values: &[(&'static str, Option<Estimate>)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(values.iter().map(|(key, value)| (key, value)))
}

/// The points that the headlines need, each once.
fn points<P: SimulatedPaper>() -> Vec<P::Point> {
    in_order(P::HEADLINES.iter().flat_map(|headline| [headline.worse, headline.better]))
}

/// Every run of every variant of a paper, each a change of the default profile.
///
/// # Errors
/// If a built-in scenario does not load (tests see that they do).
pub fn cells<P: SimulatedPaper>(effort: Effort) -> Result<Vec<Cell>, ScenarioError> {
    let default = P::PROFILES[0].changes();
    let mut cells = Vec::new();
    for variant in P::VARIANTS {
        let changes = [&default, variant.changes].concat();
        for point in points::<P>() {
            let scenario = point.changed(effort, &changes)?;
            let label = format!("{}: {}", variant.label, point.label());
            cells.extend(seeded(&label, &scenario, effort.seeds()));
        }
    }
    Ok(cells)
}

/// Ratios from runs in the order of [`cells`].
pub fn shifts<P: SimulatedPaper>(effort: Effort, runs: &[RunSummary]) -> Vec<Shift> {
    let points = points::<P>();
    let seeds = effort.seeds().len();
    let shift = |(variant, runs): (&Variant, &[RunSummary])| {
        let runs_of = |point: &P::Point| {
            let index = points.iter().position(|p| p == point).unwrap_or(0);
            &runs[index * seeds..(index + 1) * seeds]
        };
        let ratio = |h: &Headline<P::Point>| {
            (h.key, ratio(P::HEADLINE_METRIC, runs_of(&h.worse), runs_of(&h.better)))
        };
        let is_overloaded = |h: &&Headline<P::Point>| {
            [h.worse, h.better].iter().any(|point| Steadiness::of(runs_of(point)).is_overloaded())
        };
        Shift {
            variant: variant.label,
            ratios: P::HEADLINES.iter().map(ratio).collect(),
            overloaded: P::HEADLINES.iter().filter(is_overloaded).map(|h| h.key).collect(),
        }
    };
    P::VARIANTS.iter().zip(runs.chunks_exact(seeds * points.len())).map(shift).collect()
}

fn ratio(metric: Metric, worse: &[RunSummary], better: &[RunSummary]) -> Option<Estimate> {
    let ratio = |(w, b)| Some(metric(w)? / metric(b)?);
    let ratios: Option<Vec<f64>> = worse.iter().zip(better).map(ratio).collect();
    Estimate::of(&ratios?)
}

/// The shifts as a Markdown table.
pub fn markdown<P: SimulatedPaper>(shifts: &[Shift]) -> String {
    let titles: Vec<&str> = P::HEADLINES.iter().map(|headline| headline.title).collect();
    let rule = " --- |".repeat(titles.len());
    let head = format!("| Changed | {} |\n| --- |{rule}\n", titles.join(" | "));
    let text = |ratio: Option<Estimate>| match ratio {
        Some(Estimate { median, min, max, seeds: 2.., .. }) => {
            format!("{median:.2}x ({min:.2} to {max:.2})")
        }
        Some(one) => format!("{:.2}x", one.mean),
        None => "-".to_owned(),
    };
    let row = |shift: &Shift| {
        let ratios: Vec<String> = shift
            .ratios
            .iter()
            .map(|(key, ratio)| match shift.overloaded.contains(key) {
                true => OVERLOADED.to_owned(),
                false => text(*ratio),
            })
            .collect();
        format!("| {} | {} |\n", shift.variant, ratios.join(" | "))
    };
    head + &shifts.iter().map(row).collect::<String>()
}
