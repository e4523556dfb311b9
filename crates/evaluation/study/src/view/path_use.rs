//! Path use of connections of several subflows: shared links, paths, reordering, reinjection.

use heddle_claims::stats;
use heddle_report::{Axis, Plot, Point, Series, Table, Unit};

use super::plots::{Curve, over_seeds};
use crate::metric::{self, Metric};
use crate::summary::RunSummary;

const COLUMNS: [(&str, Metric, &str); 8] = [
    ("shared a link", metric::shared_link_percent, "%"),
    ("shared the first hop", metric::shared_first_hop_percent, "%"),
    ("paths in use", metric::mean_paths, ""),
    ("subflows", metric::mean_subflows, ""),
    ("reordered", metric::reordered_percent, "%"),
    ("retransmitted", metric::retransmitted_percent, "%"),
    ("reinjected", metric::reinjected_percent, "%"),
    ("dropped", metric::dropped, "packets"),
];

/// A row for each system and load: shares of the samples of connections with two subflows or more,
/// of the segments, of the bytes; means over the seeds.
pub fn table(curves: &[Curve]) -> Table {
    table_by("load", curves)
}

/// The same for curves over something else.
pub fn table_by(x: &str, curves: &[Curve]) -> Table {
    let unit = if x == "load" { "%" } else { x };
    let header =
        [format!("system and {x}")].into_iter().chain(COLUMNS.map(|(name, ..)| name.to_owned()));
    let rows = curves.iter().flat_map(|curve| curve.points.iter().map(move |p| (&curve.name, p)));
    let table = rows.fold(Table::new(header), |table, (name, (load, runs))| {
        let cells = COLUMNS.map(|(_, metric, unit)| text(mean(runs, metric), unit));
        table.row([format!("{name} {load:.0} {unit}")].into_iter().chain(cells))
    });
    table.caption(
        "Of the samples of connections of which two subflows or more were sending: those in which two of them had a link \
         between switches in common. Reordered and retransmitted: of the segments sent. Reinjected: bytes given to a second subflow because the \
         first was late with them, of the bytes delivered.",
    )
}

/// Share of samples with a shared link, and of segments reordered, over the load; `None` where no
/// run had several subflows.
pub fn plots(id: &str, curves: &[Curve]) -> Option<(Plot, Plot)> {
    let runs = curves.iter().flat_map(|curve| &curve.points).flat_map(|(_, runs)| runs);
    if !runs.into_iter().any(|run| run.path_use.is_some()) {
        return None;
    }
    let sharing = "Subflows of a connection that share a link";
    let sharing = over_load(&format!("{id}-sharing"), sharing, metric::shared_link_percent, curves);
    let reordering = "Segments that arrive behind a later one";
    let reordering =
        over_load(&format!("{id}-reordering"), reordering, metric::reordered_percent, curves);
    Some((sharing, reordering))
}

fn over_load(id: &str, title: &str, metric: Metric, curves: &[Curve]) -> Plot {
    let plot = Plot::new(id, title, Axis::new("Load", Unit::plain("%")), percent_axis());
    curves.iter().fold(plot, |plot, curve| {
        let point = |(load, runs): &(f64, Vec<RunSummary>)| over_seeds(*load, runs, metric);
        let points: Vec<Point> = curve.points.iter().filter_map(point).collect();
        if points.is_empty() { plot } else { plot.series(Series::line(curve.name.clone(), points)) }
    })
}

fn percent_axis() -> Axis {
    Axis::new("Share", Unit::plain("%"))
}

fn mean(runs: &[RunSummary], metric: Metric) -> Option<f64> {
    stats::mean(&runs.iter().filter_map(metric).collect::<Vec<_>>())
}

fn text(figure: Option<f64>, unit: &str) -> String {
    match figure {
        None => "-".into(),
        Some(figure) if unit.is_empty() => format!("{figure:.2}"),
        Some(figure) if unit == "packets" => format!("{figure:.0}"),
        Some(figure) => format!("{figure:.2} {unit}"),
    }
}
