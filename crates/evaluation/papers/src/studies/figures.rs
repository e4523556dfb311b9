//! The report of studies.

use heddle_report::{Axis, Block, Plot, Report, Section, Series, Style, Unit};

use super::{
    Broken, FAILS_AT, Hosts, PathSelection, Pods, Point, RECOVERS_AT, Rival, Setup, Study, Table,
    throughput,
};
use heddle_study::metric::{self, Metric};
use heddle_study::point::{Point as _, Results};
use heddle_study::summary::RunSummary;
use heddle_study::view::head;
use heddle_study::view::plots::{FctMetric, over_seeds};

/// The report of some studies.
pub fn report(studies: &[Study], results: &Results<Point>) -> Report {
    let head = head(headline(studies), results.all_runs());
    studies.iter().fold(head, |report, &study| report.section(section(study, results)))
}

/// The title of a report: a study's own, or what several have in common.
fn headline(studies: &[Study]) -> &'static str {
    match studies {
        [study] => study.title(),
        _ if studies.contains(&Study::Rivals) || studies.contains(&Study::Gaps) => {
            "Studies of load balancing"
        }
        _ => "MP-HULA beyond its paper",
    }
}

fn section(study: Study, results: &Results<Point>) -> Section {
    let rows = Table::new(study, results).text(study).into_iter();
    let table = rows.fold(heddle_report::Table::new(Table::header(study)), |t, row| t.row(row));
    let section = Section::new(study.name(), study.title()).block(study.about()).block(table);
    match study {
        Study::Paths => paths(section, results),
        Study::Priorities => priorities(section, results),
        Study::Failures => failures(section, results),
        Study::Rivals => rivals(section, results),
        Study::Gaps => gaps(section, results),
    }
}

/// Over the number of subflows, a curve for each scheme.
fn paths(section: Section, results: &Results<Point>) -> Section {
    let mut loads: Vec<u8> = points(results, Study::Paths).map(|point| point.load()).collect();
    loads.dedup();
    loads.into_iter().fold(section, |section, load| {
        let over_subflows = |id: &str, title: &str, y: Axis, metric: Metric| {
            let x = Axis::new("Subflows (1 is TCP)", Unit::None);
            let plot =
                Plot::new(format!("paths-{load}-{id}"), format!("{title} at {load} %"), x, y);
            curves(plot, results, metric, |point| match point {
                Point::Paths { load: of, routing, subflows } if of == load => {
                    Some((routing.title(), f64::from(subflows)))
                }
                _ => None,
            })
        };
        let seconds = || Axis::new("Flow completion time", Unit::si("s"));
        let percent = Axis::new("Share of samples", Unit::plain("%"));
        let mean = over_subflows("mean", FctMetric::Mean.title(), seconds(), metric::mean_all);
        let p99 = over_subflows("p99", FctMetric::P99.title(), seconds(), metric::p99_all);
        let large = over_subflows("large", FctMetric::Large.title(), seconds(), metric::mean_large);
        let sharing = "Two subflows of a connection share a link";
        let sharing = over_subflows("sharing", sharing, percent, metric::shared_link_percent);
        section.block(Block::pair(mean, p99)).block(Block::pair(large, sharing))
    })
}

/// Over the load, a curve for each setting.
fn priorities(section: Section, results: &Results<Point>) -> Section {
    let over_load = |id: &str, title: &str, metric: Metric| {
        let x = Axis::new("Load", Unit::plain("%"));
        let y = Axis::new("Flow completion time", Unit::si("s"));
        let plot = Plot::new(format!("priorities-{id}"), title, x, y);
        curves(plot, results, metric, |point| {
            let is = point.study() == Study::Priorities;
            is.then(|| (point.setting(), f64::from(point.load())))
        })
    };
    let small = over_load("small", FctMetric::Small.title(), metric::mean_small);
    let tail = "99th percentile FCT, flows under 100 KB";
    let tail = over_load("small-p99", tail, metric::p99_small);
    let large = over_load("large", FctMetric::Large.title(), metric::mean_large);
    section.block(Block::pair(small, tail)).block(large)
}

/// Time over the bound of each path selection, one figure for each fabric, fault and load: for each
/// kind of hosts a plot of switches that select paths, and one of hosts that do, beside ECMP.
fn rivals(section: Section, results: &Results<Point>) -> Section {
    let mut setups: Vec<(Setup, u8)> = Vec::new();
    for point in points(results, Study::Rivals) {
        let Point::Rivals { setup, load, .. } = point else { continue };
        if !setups.contains(&(setup, load)) {
            setups.push((setup, load));
        }
    }
    let legend: Vec<String> = (1..)
        .zip(&setups)
        .map(|(number, (setup, load))| match load {
            0 => format!("{number}: {}", setup.title()),
            load => format!("{number}: {}, {load} %", setup.title()),
        })
        .collect();
    let plots = Hosts::ALL.into_iter().flat_map(|hosts| {
        [false, true].map(|by_hosts| over_bound(&setups, hosts, by_hosts, results))
    });
    plots.flatten().fold(section, |section, plot| section.block(plot.caption(legend.join("; "))))
}

/// A plot of [`rivals`]; `None` if nobody selects paths so.
fn over_bound(
    setups: &[(Setup, u8)],
    hosts: Hosts,
    by_hosts: bool,
    results: &Results<Point>,
) -> Option<Plot> {
    let is_of = |rival: Rival| {
        rival.hosts == hosts
            && (rival.selection.is_by_hosts() == by_hosts || rival.selection == PathSelection::Ecmp)
    };
    let is_there = |point| matches!(point, Point::Rivals { rival, .. } if is_of(rival) && rival.selection.is_by_hosts() == by_hosts);
    if !points(results, Study::Rivals).any(is_there) {
        return None;
    }
    let named = means(results, super::rivals::over_bound, |point| match point {
        Point::Rivals { setup, load, rival } if is_of(rival) => {
            let index = setups.iter().position(|&at| at == (setup, load))?;
            Some((rival.selection.title().to_owned(), (index + 1) as f64))
        }
        _ => None,
    });
    let (id, who) = if by_hosts {
        ("hosts", "hosts select paths")
    } else {
        ("switches", "switches select paths")
    };
    let x = Axis::new("Fabric, fault and traffic", Unit::None);
    let y = Axis::new("Completion time over the bound", Unit::plain("x")).log();
    let title = format!("{}: {who}", hosts.title());
    let plot = Plot::new(format!("rivals-{}-{id}", hosts.name()), title, x, y);
    let draw = |plot: Plot, (name, points)| plot.series(Series::new(name, Style::Markers, points));
    Some(named.into_iter().fold(plot, draw))
}

/// Over the flowlet gap, a curve for each scheme and kind of hosts.
fn gaps(section: Section, results: &Results<Point>) -> Section {
    let over_gap = |of: Pods, id: &str, metric: Metric| {
        let x = Axis::new("Flowlet gap", Unit::si("s")).log();
        let y = Axis::new("Flow completion time", Unit::si("s"));
        let title = format!("{}, {}", FctMetric::Mean.title(), of.title());
        let plot = Plot::new(format!("gaps-{id}"), title, x, y);
        curves(plot, results, metric, |point| match point {
            Point::Gaps { pods, rival, micros, .. } if pods == of => {
                let name = format!("{}, {}", rival.hosts.title(), rival.selection.title());
                Some((name, f64::from(micros) * 1e-6))
            }
            _ => None,
        })
    };
    let whole = over_gap(Pods::Whole, "whole", metric::mean_all);
    let down = over_gap(Pods::LinkDown, "link-down", metric::mean_all);
    section.block(Block::pair(whole, down))
}

/// Over time, a curve for each system.
fn failures(section: Section, results: &Results<Point>) -> Section {
    [Broken::CoreLink, Broken::Aggregation].into_iter().fold(section, |section, broken| {
        let is_drawn =
            |point: &Point| matches!(*point, Point::Failures { broken: b, .. } if b == broken);
        let points: Vec<Point> = results.points().filter(is_drawn).collect();
        if points.is_empty() {
            return section;
        }
        let bps = Axis::new("Throughput into pod 2", Unit::si("bps"));
        let slowdown = Axis::new("Slowdown", Unit::plain("x"));
        let throughput = over_time("throughput", broken, bps, &points, results, |run| {
            throughput(run).into_iter().map(Some).collect()
        });
        let slowdown =
            over_time("slowdown", broken, slowdown, &points, results, |run| run.slowdowns.clone());
        section.block(Block::pair(throughput, slowdown))
    })
}

/// A series over the frames of the first seed's run of each point.
fn over_time(
    id: &str,
    broken: Broken,
    y: Axis,
    points: &[Point],
    results: &Results<Point>,
    series: fn(&RunSummary) -> Vec<Option<f64>>,
) -> Plot {
    let name = match broken {
        Broken::CoreLink => "link",
        Broken::Aggregation => "switch",
    };
    let title = format!("{} fails and comes back", broken.title());
    let plot =
        Plot::new(format!("failures-{name}-{id}"), title, Axis::new("Time", Unit::si("s")), y)
            .vertical(FAILS_AT, "fails")
            .vertical(RECOVERS_AT, "is back");
    let runs = points.iter().filter_map(|&point| Some((point, results.runs(point).first()?)));
    runs.fold(plot, |plot, (point, run)| {
        let Point::Failures { system, .. } = point else { return plot };
        let figures = run.frames.iter().zip(series(run));
        let drawn = figures.filter_map(|(&end, figure)| Some((end, figure?)));
        plot.series(Series::line(system.title(), drawn))
    })
}

fn points(results: &Results<Point>, study: Study) -> impl Iterator<Item = Point> {
    results.points().filter(move |point| point.study() == study)
}

/// Named points in the order of their first appearance.
type Named = Vec<(String, Vec<heddle_report::Point>)>;

/// Means over the seeds and their intervals, by the names and at the abscissas that `place` gives.
fn means(
    results: &Results<Point>,
    metric: Metric,
    place: impl Fn(Point) -> Option<(String, f64)>,
) -> Named {
    let mut named = Named::new();
    for point in results.points() {
        let Some((name, x)) = place(point) else { continue };
        let Some(mean) = over_seeds(x, results.runs(point), metric) else { continue };
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(mean),
            None => named.push((name, vec![mean])),
        }
    }
    named
}

/// A curve through each of [`means`].
fn curves(
    plot: Plot,
    results: &Results<Point>,
    metric: Metric,
    place: impl Fn(Point) -> Option<(String, f64)>,
) -> Plot {
    let named = means(results, metric, place).into_iter();
    named.fold(plot, |plot, (name, points)| plot.series(Series::line(name, points)))
}

#[cfg(test)]
mod tests;
