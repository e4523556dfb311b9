//! The paper's figures, drawn from measured results: means over the seeds, with their 95 %
//! intervals.

use heddle_claims::stats::{Estimate, point};
use heddle_report::{Axis, Block, Plot, Point, Section, Series, Style, Table, Unit};

use crate::churn::Sample;
use crate::failure;
use crate::joins::Point as Joins;
use crate::measurements::Measurements;
use crate::system::System;

/// A section for each experiment that was made.
pub(crate) fn sections(seeds: &[Measurements]) -> Vec<Section> {
    let sections = [joins(seeds), capacity(seeds), failures(seeds), churn(seeds)];
    sections.into_iter().flatten().collect()
}

/// The points of a curve, of which each seed has the same abscissas.
fn over_seeds(
    seeds: &[Measurements],
    curve: impl Fn(&Measurements) -> Vec<(f64, f64)>,
) -> Vec<Point> {
    let curves: Vec<_> = seeds.iter().map(curve).collect();
    let at = |(index, &(x, _)): (usize, &(f64, f64))| {
        let of_seeds = curves.iter().filter_map(|curve| curve.get(index));
        point(x, &of_seeds.map(|&(_, y)| y).collect::<Vec<_>>())
    };
    curves.first().into_iter().flatten().enumerate().filter_map(at).collect()
}

/// A cell of a table: the mean over the seeds with its 95 % interval.
fn share(values: impl Iterator<Item = f64>) -> String {
    let estimate = Estimate::of(&values.collect::<Vec<_>>()).unwrap_or_default();
    let half = estimate.half_width.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!("{:.2} %{half}", estimate.mean)
}

fn percent(label: &str) -> Axis {
    Axis::new(label, Unit::plain("%")).within(0.0, 100.0)
}

fn joins(seeds: &[Measurements]) -> Option<Section> {
    if seeds.first()?.joins.is_empty() {
        return None;
    }
    let plot = |balancers: usize, title: &str| {
        let axis = Axis::new("Backends", Unit::None);
        let plot =
            Plot::new(format!("joins-{balancers}"), title, axis, percent("Joins at their backend"));
        [System::Tcp, System::Alone, System::Published, System::Learn].iter().fold(
            plot,
            |plot, &system| {
                let points = over_seeds(seeds, |one| {
                    let is = |p: &&Joins| (p.system, p.balancers) == (system, balancers);
                    one.joins.iter().filter(is).map(|p| (p.backends as f64, p.right)).collect()
                });
                if points.is_empty() {
                    plot
                } else {
                    plot.series(Series::line(system.title(), points))
                }
            },
        )
    };
    let pair = Block::pair(
        plot(1, "One balancer (figure 6a)"),
        plot(2, "Opened at one balancer, joined at another"),
    );
    Some(Section::new("joins", "Joins").block(pair))
}

fn capacity(seeds: &[Measurements]) -> Option<Section> {
    let rows = &seeds.first()?.capacity;
    let empty = Table::new(["Table", "Entries that are not kept"]);
    let table = rows.iter().enumerate().fold(empty, |table, (index, row)| {
        let failed = seeds.iter().filter_map(|one| Some(one.capacity.get(index)?.failed));
        table.row([row.table.clone(), share(failed)])
    });
    let section = Section::new("room", "As many flows as places (figure 6b)");
    (!rows.is_empty()).then(|| section.block(table))
}

/// A part of figure 6c: ours of a point, and the paper's order for n balancers.
struct Part {
    id: &'static str,
    title: &'static str,
    figure: fn(&failure::Point) -> f64,
    paper: fn(f64) -> f64,
}

const PARTS: [Part; 3] = [
    Part {
        id: "failure-secondaries",
        title: "Second subflows broken",
        figure: |point| point.secondaries,
        paper: |n| 200.0 * (n - 1.0) / (n * n),
    },
    Part {
        id: "failure-affected",
        title: "Connections that take no new subflow",
        figure: |point| point.affected,
        paper: |n| 100.0 / n,
    },
    Part {
        id: "failure-connections",
        title: "Connections broken",
        figure: |point| point.connections,
        paper: |_| 0.0,
    },
];

fn failures(seeds: &[Measurements]) -> Option<Section> {
    if seeds.first()?.failure.is_empty() {
        return None;
    }
    let section = Section::new("failure", "One balancer of several dies (figure 6c)");
    Some(PARTS.iter().map(|part| part.plot(seeds)).fold(section, Section::block))
}

impl Part {
    fn plot(&self, seeds: &[Measurements]) -> Plot {
        let (x, y) = (Axis::new("Balancers", Unit::None), Axis::new(self.title, Unit::plain("%")));
        let paper = (2..=8).map(|n| (f64::from(n), (self.paper)(f64::from(n))));
        let plot = Plot::new(self.id, self.title, x, y);
        let plot = plot.series(Series::new("The paper's order", Style::Dashed, paper));
        [System::Published, System::Learn].iter().fold(plot, |plot, &system| {
            let ours = over_seeds(seeds, |one| {
                let measured = one.failure.iter().filter(|point| point.system == system);
                measured.map(|point| (point.balancers as f64, (self.figure)(point))).collect()
            });
            plot.series(Series::line(system.title(), ours))
        })
    }
}

fn churn(seeds: &[Measurements]) -> Option<Section> {
    let curves = &seeds.first()?.churn;
    if curves.is_empty() {
        return None;
    }
    let plot = |id: &str, title: &str, systems: &[System], figure: fn(&Sample) -> f64| {
        let axis = Axis::new("Time", Unit::plain("s"));
        let plot = Plot::new(id, title, axis, Axis::new(title, Unit::plain("%")));
        marked(
            systems.iter().fold(plot, |plot, &system| plot.series(series(seeds, system, figure))),
        )
    };
    let both = [System::Published, System::Learn];
    let all = [System::Tcp, System::Published, System::Learn];
    let detours = Table::new(["System", "Segments that passed two balancers"]);
    let detours = curves.iter().enumerate().fold(detours, |table, (index, curve)| {
        let shares = seeds.iter().filter_map(|one| Some(one.churn.get(index)?.detours));
        table.row([curve.system.title().to_owned(), share(shares)])
    });
    let section = Section::new("churn", "Balancers leave and come back (figure 6d)")
        .block(plot("churn-secondaries", "Second subflows broken", &both, |s| s.secondaries))
        .block(plot("churn-affected", "Connections that take no new subflow", &both, |s| {
            s.affected
        }))
        .block(plot("churn-connections", "Connections broken", &all, |s| s.connections))
        .block("Learning sends a segment by way of an owner at each refresh and each change; as published, every segment of a subflow that its token's owner keeps goes that way. With a segment every ten seconds, as here, the two look alike; the first share falls as more is sent, the second does not.")
        .block(detours);
    Some(section)
}

fn series(seeds: &[Measurements], system: System, figure: fn(&Sample) -> f64) -> Series {
    let points = over_seeds(seeds, |one| {
        let samples = one.churn.iter().filter(|curve| curve.system == system);
        let samples = samples.flat_map(|curve| &curve.samples);
        samples.map(|sample| (f64::from(sample.time), figure(sample))).collect()
    });
    Series::line(system.title(), points)
}

fn marked(plot: Plot) -> Plot {
    plot.vertical(120.0, "one leaves")
        .vertical(240.0, "returns")
        .vertical(320.0, "backends added")
        .vertical(360.0, "one leaves")
        .vertical(480.0, "returns")
}
