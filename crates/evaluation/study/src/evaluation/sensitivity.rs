//! How headline ratios move when what a paper does not say is chosen otherwise.

use heddle_scenario::ScenarioError;
use serde::{Serialize, Serializer};

use super::point::seeded;
use super::{Effort, Paper, Point as _};
use crate::figure::Figure;
use crate::grid::Cell;
use crate::stats::Estimate;
use crate::summary::RunSummary;

/// One choice changed.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// What is changed.
    pub label: &'static str,
    /// Dotted keys and their values.
    pub changes: &'static [(&'static str, &'static str)],
}

impl Variant {
    pub(crate) const fn new(
        label: &'static str,
        changes: &'static [(&'static str, &'static str)],
    ) -> Variant {
        Variant { label, changes }
    }
}

/// [`Paper::HEADLINE_FIGURE`] at one point over the same at another.
#[derive(Clone, Copy, Debug)]
pub struct Headline<P> {
    /// Its key in JSON.
    pub key: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// The slower point.
    pub worse: P,
    /// The faster point.
    pub better: P,
}

/// What a variant gives.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// What is changed.
    pub variant: &'static str,
    /// The headline ratios by their keys, in the headlines' order.
    #[serde(flatten, serialize_with = "by_key")]
    pub ratios: Vec<(&'static str, Option<Estimate>)>,
}

/// Writes named figures as an object, in their order.
pub(crate) fn by_key<S: Serializer>(
    figures: &[(&'static str, Option<Estimate>)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(figures.iter().map(|(key, figure)| (key, figure)))
}

/// The points that the headlines need, each once.
fn points<P: Paper>() -> Vec<P::Point> {
    super::in_order(P::HEADLINES.iter().flat_map(|headline| [headline.worse, headline.better]))
}

/// Every run of every variant of a paper.
///
/// # Errors
/// If a built-in scenario does not load (tests see that they do).
pub fn cells<P: Paper>(effort: Effort) -> Result<Vec<Cell>, ScenarioError> {
    let mut cells = Vec::new();
    for variant in P::VARIANTS {
        for point in points::<P>() {
            let scenario = point.changed(effort, variant.changes)?;
            let label = format!("{}: {}", variant.label, point.label());
            cells.extend(seeded(&label, &scenario, effort));
        }
    }
    Ok(cells)
}

/// Ratios from runs in the order of [`cells`].
pub fn shifts<P: Paper>(effort: Effort, runs: &[RunSummary]) -> Vec<Shift> {
    let points = points::<P>();
    let seeds = effort.seeds().len();
    let shift = |(variant, runs): (&Variant, &[RunSummary])| {
        let of = |point: &P::Point| {
            let index = points.iter().position(|p| p == point).unwrap_or(0);
            &runs[index * seeds..(index + 1) * seeds]
        };
        let ratio = |h: &Headline<P::Point>| {
            (h.key, ratio(P::HEADLINE_FIGURE, of(&h.worse), of(&h.better)))
        };
        Shift { variant: variant.label, ratios: P::HEADLINES.iter().map(ratio).collect() }
    };
    P::VARIANTS.iter().zip(runs.chunks_exact(seeds * points.len())).map(shift).collect()
}

fn ratio(figure: Figure, worse: &[RunSummary], better: &[RunSummary]) -> Option<Estimate> {
    let ratio = |(w, b)| Some(figure(w)? / figure(b)?);
    let ratios: Option<Vec<f64>> = worse.iter().zip(better).map(ratio).collect();
    Estimate::of(&ratios?)
}

/// The shifts as a Markdown table.
pub fn markdown<P: Paper>(shifts: &[Shift]) -> String {
    let titles: Vec<&str> = P::HEADLINES.iter().map(|headline| headline.title).collect();
    let rule = " --- |".repeat(titles.len());
    let head = format!("| Changed | {} |\n| --- |{rule}\n", titles.join(" | "));
    let text = |ratio: Option<Estimate>| ratio.map_or("-".into(), |r| format!("{:.2}x", r.mean));
    let row = |shift: &Shift| {
        let ratios: Vec<String> = shift.ratios.iter().map(|(_, ratio)| text(*ratio)).collect();
        format!("| {} | {} |\n", shift.variant, ratios.join(" | "))
    };
    head + &shifts.iter().map(row).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hula::Hula;
    use crate::testing::{cell, run};

    /// HULA's five points in order: ECMP, HULA and the ideal on the whole fabric, ECMP and HULA with a link down.
    #[test]
    fn each_variant_has_its_ratios() {
        let took = |seconds: f64| {
            let mut run = run(&cell(1, &[]));
            run.fct.all.as_mut().unwrap().seconds.mean = seconds;
            run
        };
        let first = [6.0, 3.0, 1.0, 8.0, 4.0];
        let others = [1.0; 5].repeat(Hula::VARIANTS.len() - 1);
        let runs: Vec<RunSummary> = first.into_iter().chain(others).map(took).collect();
        let shifts = shifts::<Hula>(Effort::Quick, &runs);
        assert_eq!(shifts.len(), Hula::VARIANTS.len());
        let json = serde_json::to_value(&shifts[0]).unwrap();
        assert_eq!(json["variant"], "as in the scenario file");
        let figures = ["symmetric_70", "ecmp_over_ideal_70", "asymmetric_60"];
        assert_eq!(
            figures.map(|key| json[key]["mean"].as_f64()),
            [Some(2.0), Some(6.0), Some(2.0)]
        );
        let table = markdown::<Hula>(&shifts);
        assert!(table.contains("| as in the scenario file | 2.00x | 6.00x | 2.00x |"), "{table}");
        assert_eq!(table.lines().count(), 2 + Hula::VARIANTS.len());
    }
}
