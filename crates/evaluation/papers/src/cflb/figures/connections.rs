//! Figures 10 and 11: one connection over seven paths.

use heddle_report::{Axis, Plot, Section, Series, Style, Unit};

use crate::cflb::Cflb;
use crate::cflb::connections::chance;
use crate::cflb::experiments::{Experiment, Measured};
use crate::cflb::points::{Choice, SUBFLOWS};
use heddle_claims::stats::point;
use heddle_study::paper::Evidence;

/// The figures that were measured.
pub(super) fn sections(evidence: &Evidence<Cflb>) -> Vec<Section> {
    [seven_links(evidence), two_interfaces(evidence)].into_iter().flatten().collect()
}

fn seven_links(evidence: &Evidence<Cflb>) -> Option<Section> {
    let x = Axis::new("Different paths in use", Unit::None);
    let y = Axis::new("Runs", Unit::plain("%")).within(0.0, 100.0);
    let plot = Plot::new("seven-links", "Seven subflows over seven links", x, y);
    let drawn = Choice::COMPARED.map(|choice| {
        let over_seeds = |paths: u8| {
            let outcomes = evidence.outcomes(Experiment::SevenLinks(choice));
            let used = outcomes.filter_map(Measured::seven_links);
            let shares: Vec<f64> = used.map(|used| used.percent(usize::from(paths))).collect();
            point(f64::from(paths), &shares)
        };
        Series::line(choice.title(), (1..=7).filter_map(over_seeds))
    });
    let plot = with_curves(plot, drawn)?;
    let points = (1..=7u8).map(|paths| (f64::from(paths), 100.0 * chance(7, paths.into(), 7)));
    let formula = Series::new("the formula", Style::Dashed, points);
    let section = Section::new("seven-links", "Paths of seven subflows (figure 10)");
    Some(section.block(plot.series(formula)))
}

fn two_interfaces(evidence: &Evidence<Cflb>) -> Option<Section> {
    let x = Axis::new("Subflows", Unit::None);
    let y = Axis::new("Mean goodput", Unit::si("bit/s"));
    let plot = Plot::new("two-interfaces", "Two interfaces of 100 Mbps behind seven paths", x, y);
    let drawn = Choice::COMPARED.map(|choice| {
        let over_seeds = |subflows: u8| {
            let outcomes = evidence.outcomes(Experiment::TwoInterfaces(choice));
            let made = outcomes.filter_map(Measured::two_interfaces);
            let goodput: Vec<f64> = made.filter_map(|made| made.with(subflows)).collect();
            point(f64::from(subflows), &goodput)
        };
        Series::line(choice.title(), SUBFLOWS.into_iter().filter_map(over_seeds))
    });
    let section = Section::new("two-interfaces", "Two interfaces (figure 11)");
    Some(section.block(with_curves(plot, drawn)?))
}

/// The plot with the curves that have points; `None` if none has.
fn with_curves(plot: Plot, drawn: [Series; 2]) -> Option<Plot> {
    let plot = drawn.into_iter().filter(|curve| !curve.points.is_empty()).fold(plot, Plot::series);
    (!plot.series.is_empty()).then_some(plot)
}
