//! Figure 9: goodput of a permutation of long flows, by number of subflows.

use heddle_report::{Axis, Plot, Section, Series, Unit};

use crate::cflb::Cflb;
use crate::cflb::claims::PAYLOAD;
use crate::cflb::points::{Choice, Network, Point};
use heddle_study::metric::goodput;
use heddle_study::paper::Evidence;
use heddle_study::summary::RunSummary;
use heddle_study::view::path_use;
use heddle_study::view::plots::{Curve, over_seeds};

/// A section for each fabric that was simulated.
pub(super) fn sections(evidence: &Evidence<Cflb>) -> Vec<Section> {
    Network::ALL.into_iter().filter_map(|network| section(evidence, network)).collect()
}

fn section(evidence: &Evidence<Cflb>, network: Network) -> Option<Section> {
    let curves: Vec<Curve> = Choice::ALL
        .into_iter()
        .map(|choice| curve(evidence, network, choice))
        .filter(|curve| !curve.points.is_empty())
        .collect();
    if curves.is_empty() {
        return None;
    }
    let id = format!("permutation-{}", network.title().to_lowercase());
    let number = if network == Network::FatTree { " (figure 9)" } else { "" };
    let title = format!("Permutation of long flows: {}{number}", network.title());
    let table = path_use::table_by("subflows", &curves);
    Some(Section::new(id.clone(), title).block(plot(&id, network, &curves)).block(table))
}

fn curve(evidence: &Evidence<Cflb>, network: Network, choice: Choice) -> Curve {
    let results = &evidence.results;
    let belongs = |point: &Point| point.network == network && point.choice == choice;
    let points = results.points().filter(belongs);
    let points = points.map(|point| (f64::from(point.subflows), results.runs(point).to_vec()));
    Curve { name: choice.title().into(), points: points.collect() }
}

fn plot(id: &str, network: Network, curves: &[Curve]) -> Plot {
    let x = Axis::new("Subflows of each connection", Unit::None);
    let y =
        Axis::new("Goodput, of what hosts' links can carry", Unit::plain("%")).within(0.0, 100.0);
    let plot = Plot::new(format!("{id}-goodput"), "Goodput of all hosts", x, y);
    curves.iter().fold(plot, |plot, curve| {
        let share = |run: &RunSummary| Some(100.0 * goodput(run)? / (network.capacity() * PAYLOAD));
        let point = |(subflows, runs): &(f64, Vec<RunSummary>)| over_seeds(*subflows, runs, share);
        plot.series(Series::line(curve.name.clone(), curve.points.iter().filter_map(point)))
    })
}
