//! The paper's figures, drawn from measured results.

use heddle_report::{Axis, Block, Plot, Section, Series, Style, Table, Unit};

use crate::churn::{Curve, Sample};
use crate::failure;
use crate::measurements::Measurements;
use crate::system::System;

/// A section for each experiment that was made.
pub(crate) fn sections(measurements: &Measurements) -> Vec<Section> {
    let sections =
        [joins(measurements), capacity(measurements), failures(measurements), churn(measurements)];
    sections.into_iter().flatten().collect()
}

fn percent(label: &str) -> Axis {
    Axis::new(label, Unit::plain("%")).within(0.0, 100.0)
}

fn joins(measurements: &Measurements) -> Option<Section> {
    if measurements.joins.is_empty() {
        return None;
    }
    let plot = |balancers: usize, title: &str| {
        let axis = Axis::new("Backends", Unit::None);
        let plot =
            Plot::new(format!("joins-{balancers}"), title, axis, percent("Joins at their backend"));
        [System::Tcp, System::Alone, System::Published, System::Learn].iter().fold(
            plot,
            |plot, &system| {
                let measured = measurements
                    .joins
                    .iter()
                    .filter(|p| (p.system, p.balancers) == (system, balancers));
                let points: Vec<_> = measured.map(|p| (p.backends as f64, p.right)).collect();
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

fn capacity(measurements: &Measurements) -> Option<Section> {
    let empty = Table::new(["Table", "Entries that are not kept"]);
    let table = measurements
        .capacity
        .iter()
        .fold(empty, |table, row| table.row([row.table.clone(), format!("{:.2} %", row.failed)]));
    let section = Section::new("room", "As many flows as places (figure 6b)");
    (!measurements.capacity.is_empty()).then(|| section.block(table))
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

fn failures(measurements: &Measurements) -> Option<Section> {
    let section = Section::new("failure", "One balancer of several dies (figure 6c)");
    let plots = PARTS.iter().map(|part| part.plot(&measurements.failure));
    (!measurements.failure.is_empty()).then(|| plots.fold(section, Section::block))
}

impl Part {
    fn plot(&self, points: &[failure::Point]) -> Plot {
        let (x, y) = (Axis::new("Balancers", Unit::None), Axis::new(self.title, Unit::plain("%")));
        let paper = (2..=8).map(|n| (f64::from(n), (self.paper)(f64::from(n))));
        let plot = Plot::new(self.id, self.title, x, y);
        let plot = plot.series(Series::new("The paper's order", Style::Dashed, paper));
        [System::Published, System::Learn].iter().fold(plot, |plot, &system| {
            let measured = points.iter().filter(|point| point.system == system);
            let ours = measured.map(|point| (point.balancers as f64, (self.figure)(point)));
            plot.series(Series::line(system.title(), ours))
        })
    }
}

fn churn(measurements: &Measurements) -> Option<Section> {
    if measurements.churn.is_empty() {
        return None;
    }
    let plot = |id: &str, title: &str, systems: &[System], figure: fn(&Sample) -> f64| {
        let axis = Axis::new("Time", Unit::plain("s"));
        let plot = Plot::new(id, title, axis, Axis::new(title, Unit::plain("%")));
        let curves = measurements.churn.iter().filter(|curve| systems.contains(&curve.system));
        marked(curves.fold(plot, |plot, curve| plot.series(series(curve, figure))))
    };
    let both = [System::Published, System::Learn];
    let all = [System::Tcp, System::Published, System::Learn];
    let detours = Table::new(["System", "Segments that passed two balancers"]);
    let detours = measurements.churn.iter().fold(detours, |table, curve| {
        table.row([curve.system.title().to_owned(), format!("{:.2} %", curve.detours)])
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

fn series(curve: &Curve, figure: fn(&Sample) -> f64) -> Series {
    let points = curve.samples.iter().map(|sample| (f64::from(sample.time), figure(sample)));
    Series::line(curve.system.title(), points)
}

fn marked(plot: Plot) -> Plot {
    plot.vertical(120.0, "one leaves")
        .vertical(240.0, "returns")
        .vertical(320.0, "backends added")
        .vertical(360.0, "one leaves")
        .vertical(480.0, "returns")
}
