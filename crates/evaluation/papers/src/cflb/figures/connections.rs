//! Figures 10 and 11: one connection over seven paths.

use heddle_report::{Axis, Plot, Section, Series, Style, Unit};

use super::made;
use crate::cflb::Cflb;
use crate::cflb::connections::chance;
use crate::cflb::experiments::{Experiment, Measured};
use crate::cflb::points::Choice;
use heddle_study::paper::Evidence;

/// The figures that were measured.
pub(super) fn sections(evidence: &Evidence<Cflb>) -> Vec<Section> {
    [seven_links(evidence), two_interfaces(evidence)].into_iter().flatten().collect()
}

fn seven_links(evidence: &Evidence<Cflb>) -> Option<Section> {
    let x = Axis::new("Different paths in use", Unit::None);
    let y = Axis::new("Runs", Unit::plain("%")).within(0.0, 100.0);
    let plot = Plot::new("seven-links", "Seven subflows over seven links", x, y);
    let drawn = Choice::COMPARED.into_iter().filter_map(|choice| {
        let used =
            made(evidence, Experiment::SevenLinks(choice)).and_then(Measured::seven_links)?;
        let points = (1..=7u8).map(|paths| (f64::from(paths), used.percent(usize::from(paths))));
        Some(Series::line(choice.title(), points))
    });
    let plot = drawn.fold(plot, Plot::series);
    if plot.series.is_empty() {
        return None;
    }
    let points = (1..=7u8).map(|paths| (f64::from(paths), 100.0 * chance(7, paths.into(), 7)));
    let formula = Series::new("the formula", Style::Dashed, points);
    let section = Section::new("seven-links", "Paths of seven subflows (figure 10)");
    Some(section.block(plot.series(formula)))
}

fn two_interfaces(evidence: &Evidence<Cflb>) -> Option<Section> {
    let x = Axis::new("Subflows", Unit::None);
    let y = Axis::new("Mean goodput", Unit::si("bit/s"));
    let plot = Plot::new("two-interfaces", "Two interfaces of 100 Mbps behind seven paths", x, y);
    let drawn = Choice::COMPARED.into_iter().filter_map(|choice| {
        let made = made(evidence, Experiment::TwoInterfaces(choice))?;
        let points = made.two_interfaces()?.points.iter();
        let points = points.map(|&(subflows, goodput)| (f64::from(subflows), goodput));
        Some(Series::line(choice.title(), points))
    });
    let plot = drawn.fold(plot, Plot::series);
    if plot.series.is_empty() {
        return None;
    }
    let section = Section::new("two-interfaces", "Two interfaces (figure 11)");
    Some(section.block(plot))
}
