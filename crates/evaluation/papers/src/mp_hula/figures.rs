//! The figures of MP-HULA's evaluation, the paper's figures beside.

use heddle_report::{Axis, Cell, Plot, Section, Series, Style, Table, Unit};

use crate::mp_hula::MpHula;
use crate::mp_hula::claims::{forward_links, mean_utilisation, unevenness};
use crate::mp_hula::points::{Coupling, FIGURES, Figure, Point, System};
use crate::two_pod::{Shape, Sizes};
use heddle_study::paper::Evidence;
use heddle_study::summary::RunSummary;
use heddle_study::view::panel::{Panel, PaperRatios, curves};
use heddle_study::view::path_use;
use heddle_study::view::plots::{self, FctMetric};

const REFERENCE: &str = "MPTCP + MP-HULA";

/// The figures that were simulated.
pub(super) fn sections(evidence: &Evidence<MpHula>) -> Vec<Section> {
    let sections = FIGURES.into_iter().filter_map(|figure| section(evidence, figure));
    sections.chain(link_utilisation(evidence)).collect()
}

/// The curves of one figure; `None` if nothing of it was simulated.
fn section(evidence: &Evidence<MpHula>, figure: Figure) -> Option<Section> {
    let panel = panel(evidence, figure);
    let last = panel.last_load()?;
    let mut section = panel.section(stated(figure))?;
    if figure == FIGURES[0] {
        section = section.block(panel.speedup(FctMetric::Small, STATED_SMALL));
    }
    section = section.block(path_use::table(&panel.curves));
    if let Some((sharing, reordering)) = path_use::plots(&panel.id, &panel.curves) {
        section = section.block(heddle_report::Block::pair(sharing, reordering));
    }
    let sampled = panel.sampled_at(last);
    if figure.sizes == Sizes::DataMining || sampled.is_empty() {
        return Some(section);
    }
    let map = format!("{}-map", panel.id);
    Some(section.block(plots::fabric_map(
        &map,
        "Link utilisation over time",
        &evidence.graph,
        &sampled,
    )))
}

fn panel(evidence: &Evidence<MpHula>, figure: Figure) -> Panel {
    let Figure { number, shape, sizes, coupling, .. } = figure;
    let (fabric, coupled) = (
        if shape == Shape::Symmetric { "symmetric fabric" } else { "link S2-A4 down" },
        if coupling == Coupling::Coupled { "coupled" } else { "uncoupled" },
    );
    let belongs = |p: &Point, system| p.shape == shape && p.sizes == sizes && p.system == system;
    Panel {
        id: format!("{}-{}-{coupled}", shape.name(), sizes.name()),
        title: format!("{}, {coupled}, {fabric} (figure {number})", sizes.title()),
        curves: curves(&evidence.results, &System::all(coupling), System::title, belongs),
        reference: REFERENCE,
    }
}

/// Ratios of mean FCTs that the paper or its slides state; figure 8's loads are not said.
fn stated(figure: Figure) -> PaperRatios {
    match (figure.shape, figure.sizes, figure.coupling) {
        (Shape::Symmetric, Sizes::WebSearch, Coupling::Coupled) => {
            &[("MPTCP + HULA", &[(50.0, 1.27), (90.0, 1.5)])]
        }
        (Shape::Symmetric, Sizes::WebSearch, Coupling::Uncoupled) => &[
            ("MPTCP + HULA", &[(50.0, 2.1), (80.0, 1.7)]),
            ("TCP + HULA", &[(50.0, 3.4), (80.0, 2.9)]),
        ],
        (Shape::Asymmetric, Sizes::WebSearch, Coupling::Coupled) => {
            &[("MPTCP + HULA", &[(50.0, 1.0 / (1.0 - 0.13)), (60.0, 1.0 / (1.0 - 0.32))])]
        }
        _ => &[],
    }
}

/// Figure 6.
const STATED_SMALL: PaperRatios =
    &[("MPTCP + HULA", &[(50.0, 1.0 / (1.0 - 0.24)), (90.0, 1.0 / (1.0 - 0.45))])];

/// Figure 9: each link from pod 1 to pod 2, at the highest load of figure 7.
fn link_utilisation(evidence: &Evidence<MpHula>) -> Option<Section> {
    let figure = FIGURES.into_iter().find(|figure| figure.coupling == Coupling::Uncoupled)?;
    let panel = panel(evidence, figure);
    let load = panel.last_load()?;
    let runs = panel.sampled_at(load);
    let (_, first) = runs.first()?;
    let links: Vec<String> = forward_links(first).into_iter().map(|(name, _)| name).collect();
    let text = format!(
        "Mean utilisation of each link that leads from pod 1 to pod 2 at {load:.0} %, MPTCP uncoupled, in the first seed's run. \
         Every system is offered the same bytes: a higher mean is more bytes on the wire in the same time. \
         Unevenness is the standard deviation over the links as a share of their mean."
    );
    let section = Section::new("links", "Utilisation of each link (figure 9)").block(text.as_str());
    Some(section.block(utilisation_plot(&runs)).block(utilisation_table(&links, &runs)))
}

fn utilisation_plot(runs: &[(&str, &RunSummary)]) -> Plot {
    let x = Axis::new("Link, in the order of the table", Unit::None);
    let y = Axis::new("Mean utilisation", Unit::None).within(0.0, 1.0);
    let plot = Plot::new("link-utilisation", "Mean utilisation of each link", x, y);
    runs.iter().fold(plot, |plot, (name, run)| {
        let links = forward_links(run).into_iter();
        let points = (1..).zip(links).map(|(i, (_, utilisation))| (f64::from(i), utilisation));
        plot.series(Series::new(*name, Style::Markers, points))
    })
}

fn utilisation_table(links: &[String], runs: &[(&str, &RunSummary)]) -> Table {
    let header = ["", "link"].into_iter().chain(runs.iter().map(|(name, _)| *name));
    let columns: Vec<Vec<f64>> = runs
        .iter()
        .map(|(_, run)| forward_links(run).into_iter().map(|(_, share)| share).collect())
        .collect();
    let percent = |share: Option<f64>| share.map_or("-".into(), |x| format!("{:.1} %", 100.0 * x));
    let summary = |name: &str, figure: fn(&RunSummary) -> Option<f64>| {
        let figures = runs.iter().map(|(_, run)| Cell::from(percent(figure(run))));
        [Cell::from(""), Cell::from(name)].into_iter().chain(figures).collect::<Vec<_>>()
    };
    let table = links.iter().enumerate().fold(Table::new(header), |table, (i, link)| {
        let figures = columns.iter().map(|column| percent(column.get(i).copied()));
        table.row([(i + 1).to_string(), link.clone()].into_iter().chain(figures))
    });
    table.row(summary("mean", mean_utilisation)).row(summary("unevenness", unevenness))
}

#[cfg(test)]
mod tests;
