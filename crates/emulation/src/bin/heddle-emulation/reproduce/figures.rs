//! The report's figures: each experiment on kernels beside the simulator.

use heddle_claims::stats::Estimate;
use heddle_report::{Axis, Plot, Section, Series, Style, Table, Unit};

use super::experiments::{Evidence, Row, Testbed};

pub(super) fn sections(evidence: &Evidence) -> Vec<Section> {
    let rows = evidence.table();
    let beside = Section::new("beside", "Kernels beside the simulator").block(table(&rows));
    [Some(beside), seven_links(&rows)].into_iter().flatten().collect()
}

fn table(rows: &[Row]) -> Table {
    let header = [
        "experiment",
        "runs",
        "goodput, kernels",
        "goodput, simulator",
        "links used, kernels",
        "links used, simulator",
    ];
    let table = rows.iter().fold(Table::new(header), |table, row| {
        table.row([
            row.experiment.title(),
            row.goodputs.len().to_string(),
            rate(row.goodput.kernels),
            rate(row.goodput.simulator),
            used(&row.links_used.kernels),
            used(&row.links_used.simulator),
        ])
    });
    table.caption("Mean over the runs with its 95 % confidence interval. Links used: those out of the sender's switch, with the number of runs.")
}

fn rate(estimate: Option<Estimate>) -> String {
    let Some(Estimate { mean, half_width, .. }) = estimate else { return "-".into() };
    let half = half_width.map_or_else(String::new, |half| format!(" ± {:.2}", half / 1e6));
    format!("{:.2}{half} Mbps", mean / 1e6)
}

/// As in "5 in 3 runs, 7 in 47".
fn used(histogram: &[u32]) -> String {
    let counted = histogram.iter().enumerate().filter(|(_, runs)| **runs > 0);
    counted.map(|(links, runs)| format!("{links} in {runs}")).collect::<Vec<_>>().join(", ")
}

fn seven_links(rows: &[Row]) -> Option<Section> {
    let x = Axis::new("Links in use", Unit::None);
    let y = Axis::new("Runs", Unit::plain("%")).within(0.0, 100.0);
    let plot = Plot::new("seven-links", "Seven subflows over seven links", x, y);
    let drawn =
        rows.iter().filter(|row| row.experiment.testbed == Testbed::SevenLinks).flat_map(|row| {
            let title = row.experiment.title();
            let shares = |histogram: &[u32]| {
                let all: u32 = histogram.iter().sum();
                let share = |links: usize| {
                    let runs = histogram.get(links).copied().unwrap_or(0);
                    (links as f64, 100.0 * f64::from(runs) / f64::from(all.max(1)))
                };
                (1..=7).map(share).collect::<Vec<_>>()
            };
            let simulator = Series::new(
                format!("{title} (simulator)"),
                Style::Dashed,
                shares(&row.links_used.simulator),
            );
            [
                Series::line(title.clone(), shares(&row.links_used.kernels)),
                simulator.coloured_as(title),
            ]
        });
    let plot = drawn.fold(plot, Plot::series);
    let section = Section::new("seven-links", "Links of seven subflows (figure 10)");
    (!plot.series.is_empty()).then(|| section.block(plot))
}
