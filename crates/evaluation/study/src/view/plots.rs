//! The plots that reports share.

use std::collections::BTreeMap;

use heddle_claims::stats::{self, pooled, quantile};
use heddle_claims::table::OVERLOADED;
use heddle_report::{
    Axis, FabricMap, HeatMap, HeatRow, Link, Mark, Node, Plot, Point, Run, Series, Style, Unit,
};
use heddle_scenario::Graph;

use super::levels::{in_sentence, levels};
use crate::metric::{self, port};
use crate::steady::Steadiness;
use crate::summary::{PortSummary, RunSummary, SizeStep};

/// Ports of one plot.
const MOST_PORTS: usize = 5;

/// A named curve: the runs at each abscissa.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in legends.
    pub name: String,
    /// Abscissas and the runs at each, one a seed.
    pub points: Vec<(f64, Vec<RunSummary>)>,
}

/// A flow completion time that is drawn as a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FctMetric {
    /// Mean of all flows.
    Mean,
    /// Mean of flows under 100 KB.
    Small,
    /// Mean of flows over 10 MB.
    Large,
    /// 99th percentile of all flows.
    P99,
}

impl FctMetric {
    /// All of them.
    pub const ALL: [FctMetric; 4] =
        [FctMetric::Mean, FctMetric::Small, FctMetric::Large, FctMetric::P99];

    /// Its name in titles.
    pub fn title(self) -> &'static str {
        match self {
            FctMetric::Mean => "Mean FCT, all flows",
            FctMetric::Small => "Mean FCT, flows under 100 KB",
            FctMetric::Large => "Mean FCT, flows over 10 MB",
            FctMetric::P99 => "99th percentile FCT, all flows",
        }
    }

    /// Its name in anchors.
    pub fn id(self) -> &'static str {
        match self {
            FctMetric::Mean => "mean",
            FctMetric::Small => "small",
            FctMetric::Large => "large",
            FctMetric::P99 => "p99",
        }
    }

    /// Its value in seconds.
    pub fn of(self, run: &RunSummary) -> Option<f64> {
        match self {
            FctMetric::Mean => metric::mean_all(run),
            FctMetric::Small => metric::mean_small(run),
            FctMetric::Large => metric::mean_large(run),
            FctMetric::P99 => metric::p99_all(run),
        }
    }
}

/// (load, a metric's mean over the seeds on one curve over that on another), where both have it in a
/// steady state.
pub fn ratios(metric: FctMetric, worse: &Curve, better: &Curve) -> Vec<(f64, f64)> {
    let mean = |runs: &[RunSummary]| {
        let figures: Vec<f64> = runs.iter().filter_map(|run| metric.of(run)).collect();
        stats::mean(&figures)
    };
    let ratio = |(load, runs): &(f64, Vec<RunSummary>)| {
        let (_, others) = worse.points.iter().find(|(x, _)| x == load)?;
        let overloaded = [others, runs].map(|runs| Steadiness::of(runs).is_overloaded());
        if overloaded.contains(&true) {
            return None;
        }
        Some((*load, mean(others)? / mean(runs)?))
    };
    better.points.iter().filter_map(ratio).collect()
}

/// A metric over the values of a key, on this axis.
pub fn over(key: &str, x: &Axis, metric: FctMetric, curves: &[Curve]) -> Plot {
    let title = format!("{}, over {}", metric.title(), x.label.to_lowercase());
    curves_of(&format!("{}-by-{key}", metric.id()), &title, x.clone(), metric, curves)
}

/// A metric over the load in percent.
pub fn over_load(id: &str, title: &str, metric: FctMetric, curves: &[Curve]) -> Plot {
    curves_of(id, title, Axis::new("Load", Unit::plain("%")), metric, curves)
}

fn curves_of(id: &str, title: &str, x: Axis, metric: FctMetric, curves: &[Curve]) -> Plot {
    curves_by(id, title, x, &|run| metric.of(run), curves)
}

/// The mean of a figure over the seeds at an abscissa, with the ends of its 95 % interval where there
/// are several; `None` where no run has it.
pub fn over_seeds(
    x: f64,
    runs: &[RunSummary],
    figure: impl Fn(&RunSummary) -> Option<f64>,
) -> Option<Point> {
    let figures: Vec<f64> = runs.iter().filter_map(figure).collect();
    stats::point(x, &figures)
}

/// A value in seconds: the mean over the seeds, with its confidence interval.
fn curves_by(
    id: &str,
    title: &str,
    x: Axis,
    value: &dyn Fn(&RunSummary) -> Option<f64>,
    curves: &[Curve],
) -> Plot {
    let y = Axis::new("Flow completion time", Unit::si("s"));
    let seeds = curves.iter().flat_map(|curve| &curve.points).map(|(_, runs)| runs.len()).max();
    let caption = seeds.filter(|&seeds| seeds > 1).map_or_else(String::new, |seeds| {
        format!("Means over {seeds} seeds; bands and bars are their 95 % confidence intervals.")
    });
    let plot = Plot::new(id, title, x, y).caption(caption);
    curves.iter().fold(plot, |plot, curve| {
        let point = |(x, runs): &(f64, Vec<RunSummary>)| over_seeds(*x, runs, value);
        let is_overloaded =
            |(_, runs): &&(f64, Vec<RunSummary>)| Steadiness::of(runs).is_overloaded();
        let (over, steady): (Vec<_>, Vec<_>) = curve.points.iter().partition(is_overloaded);
        let plot =
            plot.series(Series::line(curve.name.clone(), steady.into_iter().filter_map(point)));
        if over.is_empty() {
            return plot;
        }
        let name = format!("{}: {OVERLOADED}", curve.name);
        let over = Series::new(name, Style::Markers, over.into_iter().filter_map(point));
        plot.series(over.coloured_as(curve.name.clone()))
    })
}

/// Distribution functions of flow completion times, of all seeds' samples together.
pub fn fct_cdf(id: &str, title: &str, runs: &[(&str, &[RunSummary])]) -> Plot {
    let x = Axis::new("Flow completion time", Unit::si("s")).log();
    let y = Axis::new("Share of flows", Unit::None).within(0.0, 1.0);
    runs.iter().fold(Plot::new(id, title, x, y), |plot, (name, runs)| {
        let shapes: Vec<&[f64]> = runs.iter().map(|run| run.fct.quantiles.as_slice()).collect();
        plot.series(Series::line(*name, cdf(&shapes)))
    })
}

/// The 99th percentile of the completion times of a class of sizes over the values of a key, on this
/// axis.
pub fn of_class(key: &str, x: &Axis, (name, title): (&str, &str), curves: &[Curve]) -> Plot {
    let p99 = |run: &RunSummary| run.fct.class(name).map(|class| class.seconds.p99);
    let (over, flows) = (x.label.to_lowercase(), in_words(title));
    let title = format!("99th percentile FCT, flows {flows}, over {over}");
    curves_by(&format!("p99-{name}-by-{key}"), &title, x.clone(), &p99, curves)
}

/// A class of sizes behind "flows": "under 100 KB", "of 100 KB to 10 MB", "over 10 MB".
fn in_words(class: &str) -> String {
    for (sign, word) in [("< ", "under "), ("> ", "over "), (">= ", "from ")] {
        if let Some(size) = class.strip_prefix(sign) {
            return format!("{word}{size}");
        }
    }
    format!("of {}", class.replace('-', " to "))
}

/// Distribution functions of slowdowns, of all seeds' samples together.
pub fn slowdown_cdf(id: &str, runs: &[(&str, &[RunSummary])]) -> Plot {
    let x = Axis::new("Slowdown: FCT over that in an empty fabric", Unit::None).log();
    let y = Axis::new("Share of flows", Unit::None).within(0.0, 1.0);
    runs.iter().fold(Plot::new(id, "Distribution of slowdowns", x, y), |plot, (name, runs)| {
        let shapes = runs.iter().map(|run| run.fct.slowdown_quantiles.as_slice());
        plot.series(Series::line(*name, cdf(&shapes.collect::<Vec<_>>())))
    })
}

/// The 99th percentile of slowdowns over size, and the median where one set of runs is drawn, in
/// the first seed's run; `None` where flows have one size. As figure 10 of HPCC (SIGCOMM 2019).
pub fn slowdown_by_size(id: &str, runs: &[(&str, &[RunSummary])]) -> Option<Plot> {
    let first = |runs: &[RunSummary]| runs.first().map(|run| run.fct.by_size.clone());
    let steps: Vec<(&str, Vec<SizeStep>)> =
        runs.iter().filter_map(|(name, runs)| Some((*name, first(runs)?))).collect();
    if steps.iter().all(|(_, steps)| steps.len() < 2) {
        return None;
    }
    let x = Axis::new("Flow size, a twentieth of the flows each", Unit::si("B")).log();
    let y = Axis::new("Slowdown", Unit::None).log();
    let plot = Plot::new(id, "Slowdown over flow size: 99th percentile", x, y);
    let points = |steps: &[SizeStep], value: fn(&SizeStep) -> f64| -> Vec<(f64, f64)> {
        steps.iter().map(|step| (step.bytes as f64, value(step))).collect()
    };
    let plot = steps.iter().fold(plot, |plot, (name, steps)| {
        plot.series(Series::line(*name, points(steps, |step| step.p99)))
    });
    let [(name, steps)] = &steps[..] else { return Some(plot) };
    let median =
        Series::new(format!("{name}, median"), Style::Dashed, points(steps, |step| step.p50));
    Some(plot.series(median.coloured_as(*name)))
}

/// Distribution functions of the queue at the port that waited longest in any run.
pub fn busiest_queue(id: &str, runs: &[(&str, &RunSummary)]) -> Plot {
    let p95 = |port: &PortSummary| quantile(&port.queue, 0.95).unwrap_or(0.0);
    let all = runs.iter().flat_map(|(_, run)| &run.ports);
    let busiest = all.max_by(|a, b| p95(a).total_cmp(&p95(b)));
    let (from, to) = busiest.map_or(("-", "-"), |port| (port.from.as_str(), port.to.as_str()));
    let runs: Vec<_> = runs.iter().map(|(name, run)| (*name, std::slice::from_ref(*run))).collect();
    let title = format!("Distribution of the queue from {from} to {to}, the busiest");
    queue_cdf(id, &title, (from, to), &runs)
}

/// The longest queues over time of the ports that waited longest in a run, the first of some.
pub fn queues_over_time(id: &str, run: &RunSummary) -> Plot {
    let peak = |port: &PortSummary| port.queue_peaks.iter().copied().max().unwrap_or(0);
    let mut ports: Vec<&PortSummary> = run.ports.iter().filter(|port| peak(port) > 0).collect();
    ports.sort_by_key(|port| std::cmp::Reverse(peak(port)));
    let x = Axis::new("Time", Unit::si("s"));
    let y = Axis::new("Most bytes waiting", Unit::si("B"));
    let title = format!("The longest queues over time, seed {}", run.seed);
    let plot = Plot::new(id, title, x, y);
    ports.iter().take(MOST_PORTS).fold(plot, |plot, port| {
        let points = run.frames.iter().copied().zip(port.queue_peaks.iter().map(|&b| f64::from(b)));
        plot.series(Series::line(port.name(), points))
    })
}

/// Mean slowdowns over time in a run, by the starts of flows.
pub fn slowdowns_over_time(id: &str, run: &RunSummary) -> Plot {
    let x = Axis::new("Time", Unit::si("s"));
    let y = Axis::new("Mean slowdown", Unit::None);
    let points =
        run.frames.iter().zip(&run.slowdowns).filter_map(|(&at, mean)| Some((at, (*mean)?)));
    let title = format!("Slowdown by the time at which flows start, seed {}", run.seed);
    Plot::new(id, title, x, y).series(Series::line(run.scheme.clone(), points))
}

/// Distribution functions of the queue at one port, each of some runs together.
pub fn queue_cdf(
    id: &str,
    title: &str,
    (from, to): (&str, &str),
    runs: &[(&str, &[RunSummary])],
) -> Plot {
    let x = Axis::new("Bytes waiting", Unit::si("B"));
    let y = Axis::new("Share of samples", Unit::None).within(0.0, 1.0);
    runs.iter().fold(Plot::new(id, title, x, y), |plot, (name, runs)| {
        let queues = runs.iter().filter_map(|run| Some(port(run, from, to)?.queue.as_slice()));
        plot.series(Series::step(*name, cdf(&queues.collect::<Vec<_>>())))
    })
}

/// A distribution function from quantiles at even steps, of the samples of several runs together.
fn cdf(shapes: &[&[f64]]) -> Vec<(f64, f64)> {
    let steps = shapes.iter().map(|shape| shape.len()).min().unwrap_or(0);
    if steps < 2 {
        return Vec::new();
    }
    let shape = pooled(shapes, steps - 1);
    shape.into_iter().enumerate().map(|(i, value)| (value, i as f64 / (steps - 1) as f64)).collect()
}

/// The rate of a link, or those of its directions.
fn rates_of(link: &heddle_scenario::Link) -> String {
    match link.reverse_rate {
        Some(reverse) => format!("{} / {reverse}", link.rate),
        None => link.rate.to_string(),
    }
}

/// Utilisation drawn on the fabric, one map a scheme.
pub fn fabric_map(id: &str, title: &str, graph: &Graph, runs: &[(&str, &RunSummary)]) -> FabricMap {
    let first_switch = graph.nodes.iter().take_while(|node| node.tier == 0).count();
    let node = |node: &heddle_scenario::Node| Node {
        name: node.name.clone(),
        tier: usize::from(node.tier) - 1,
        x: None,
    };
    let between_switches =
        |link: &&heddle_scenario::Link| link.ends.0.min(link.ends.1) as usize >= first_switch;
    let links: Vec<Link> = graph
        .links
        .iter()
        .filter(between_switches)
        .map(|link| Link {
            a: link.ends.0 as usize - first_switch,
            b: link.ends.1 as usize - first_switch,
            name: String::new(),
            rate: rates_of(link),
        })
        .collect();
    let nodes: Vec<Node> = graph.nodes[first_switch..].iter().map(node).collect();
    let top = nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    FabricMap {
        id: id.into(),
        title: title.into(),
        caption: String::new(),
        tiers: levels(graph).into_iter().skip(1).take(top + 1).collect(),
        times: runs.first().map_or_else(Vec::new, |(_, run)| run.frames.clone()),
        marks: Vec::new(),
        runs: runs.iter().map(|(name, run)| map_run(name, run, &nodes, &links)).collect(),
        nodes,
        links,
    }
}

fn map_run(name: &str, run: &RunSummary, nodes: &[Node], links: &[Link]) -> Run {
    let port = |index: usize, from: usize, to: usize| {
        let number = parallel_number(links, index);
        let is_it = |port: &&PortSummary| {
            let is_between = port.from == nodes[from].name && port.to == nodes[to].name;
            is_between && port.parallel.is_none_or(|parallel| parallel == number)
        };
        run.ports.iter().find(is_it)
    };
    let ports =
        |(index, link): (usize, &Link)| [port(index, link.a, link.b), port(index, link.b, link.a)];
    let both: Vec<_> = links.iter().enumerate().map(ports).collect();
    let load = |port: Option<&PortSummary>, frame: usize| {
        let share = port.and_then(|port| port.series.get(frame));
        share.map_or(f32::NAN, |&thousandths| f32::from(thousandths) / 1000.0)
    };
    let frame =
        |frame: usize| both.iter().map(|ports| ports.map(|port| load(port, frame))).collect();
    Run { name: name.into(), frames: (0..run.frames.len()).map(frame).collect() }
}

/// The number of a link among those between the same nodes, from 1.
fn parallel_number(links: &[Link], index: usize) -> u32 {
    let ends = |link: &Link| (link.a.min(link.b), link.a.max(link.b));
    let before = links[..index].iter().filter(|link| ends(link) == ends(&links[index]));
    before.count() as u32 + 1
}

/// Rows of a heat map.
const MOST_ROWS: usize = 256;

/// The utilisation of each sampled direction of a link over time, those from one level to another
/// together.
pub fn heat_map(id: &str, graph: &Graph, run: &RunSummary, marks: &[Mark]) -> HeatMap {
    let levels = levels(graph);
    let tiers: BTreeMap<&str, usize> =
        graph.nodes.iter().map(|node| (node.name.as_str(), usize::from(node.tier))).collect();
    let tier = |name: &str| tiers.get(name).copied().unwrap_or(0);
    let ends = |port: &PortSummary| (tier(&port.from), tier(&port.to));
    let mut ports: Vec<&PortSummary> = run.ports.iter().collect();
    if ports.len() > MOST_ROWS {
        let mut shares: Vec<f64> = ports.iter().map(|port| port.utilisation).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let least = shares[MOST_ROWS - 1];
        ports.retain(|port| port.utilisation >= least);
        ports.truncate(MOST_ROWS);
    }
    ports.sort_by_key(|port| ends(port));
    let row = |port: &PortSummary| {
        let (from, to) = ends(port);
        let share = |&thousandths: &u16| f32::from(thousandths) / 1000.0;
        HeatRow {
            group: format!("{} to {}", levels[from], in_sentence(&levels[to])),
            name: port.name(),
            shares: port.series.iter().map(share).collect(),
        }
    };
    let all = match run.ports.len() {
        more if more > MOST_ROWS => format!("The {MOST_ROWS} busiest of {more} directions. "),
        _ => String::new(),
    };
    let end = run.frames.last().copied().unwrap_or(0.0);
    HeatMap {
        id: id.into(),
        title: format!("Utilisation of each direction of a link, seed {}", run.seed),
        caption: format!("{all}A row each; point at one for its name, mean and maximum."),
        times: run.frames.clone(),
        marks: marks.iter().filter(|mark| mark.at <= end).cloned().collect(),
        rows: ports.into_iter().map(row).collect(),
    }
}
