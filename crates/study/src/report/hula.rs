//! The report of HULA's evaluation: its figures, the paper's figures beside, its claims.

use heddle_report::{Axis, Block, Cell, Plot, Report, Section, Series, Status, Table, Unit};
use heddle_scenario::Graph;

use super::plots::{self, Curve, Metric};
use super::{fct_table, head};
use crate::hula::claims::{Bound, Evidence, Finding, Verdict};
use crate::hula::extra::{Failover, FailoverTraffic};
use crate::hula::plan::{Point, Results, Scheme, Shape, Sizes};
use crate::results::OverSeeds;
use crate::summary::RunSummary;

/// What the report is made of.
pub struct ReportInput<'a> {
    /// The title.
    pub title: &'a str,
    /// The runs.
    pub evidence: &'a Evidence,
    /// The claims, judged. May be empty.
    pub findings: &'a [Finding],
    /// The paper's fabric.
    pub graph: &'a Graph,
}

const SCHEMES: [Scheme; 4] = [Scheme::Ecmp, Scheme::CongaPrime, Scheme::Hula, Scheme::Ideal];

/// The report of HULA's evaluation, or of a part of it.
pub fn of_hula(input: &ReportInput) -> Report {
    let results = &input.evidence.results;
    let runs: Vec<RunSummary> = results.points().flat_map(|p| results.runs(p).to_vec()).collect();
    let mut report = head(input.title, &runs);
    if !input.findings.is_empty() {
        report = report.section(claims(input.findings));
    }
    for (shape, sizes, figure) in [
        (Shape::Symmetric, Sizes::WebSearch, "5a"),
        (Shape::Symmetric, Sizes::DataMining, "5b"),
        (Shape::Asymmetric, Sizes::WebSearch, "6 and 8a"),
        (Shape::Asymmetric, Sizes::DataMining, "7 and 8b"),
    ] {
        let section = figures(input, shape, sizes, figure);
        report = section.into_iter().fold(report, Report::section);
    }
    failover(input.evidence).into_iter().fold(report, Report::section)
}

/// A finding as text: id, claim, where, paper, here, verdict.
pub fn finding_cells(finding: &Finding) -> [String; 6] {
    [
        finding.id.into(),
        finding.claim.into(),
        finding.source.into(),
        paper_figure(finding),
        here_figure(finding),
        verdict_text(finding.verdict).into(),
    ]
}

/// The findings as a Markdown table.
pub fn claims_markdown(findings: &[Finding]) -> String {
    let head =
        "| | Claim | Where | Paper | Here | Verdict |\n| --- | --- | --- | --- | --- | --- |\n";
    let rows = findings.iter().map(|f| format!("| {} |\n", finding_cells(f).join(" | ")));
    head.to_owned() + &rows.collect::<String>()
}

/// Claim, paper, here, verdict.
fn claims(findings: &[Finding]) -> Section {
    let header = ["", "Claim", "Where", "Paper", "Here", "Verdict"];
    let table = findings.iter().fold(Table::new(header), |table, finding| {
        table.row([
            Cell::from(finding.id),
            Cell::from(finding.claim),
            Cell::from(finding.source),
            Cell::from(paper_figure(finding)),
            Cell::from(here_figure(finding)),
            verdict(finding.verdict),
        ])
    });
    Section::new("claims", "The paper's claims")
        .block("A ratio **agrees** if its excess over 1 is between half and twice the paper's; **direction only** has the sign right and the size not. Nothing was tuned to a figure: the scenario file states every choice.")
        .block(table)
}

/// The paper's figure with its unit.
fn paper_figure(finding: &Finding) -> String {
    let bound = if finding.bound == Bound::AtMost { "at most " } else { "" };
    format!("{bound}{}", with_unit(finding.paper, finding.unit))
}

fn here_figure(finding: &Finding) -> String {
    let Some(here) = finding.here else { return "-".into() };
    let half = here.half_width.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!("{}{half}", with_unit(here.mean, finding.unit))
}

fn with_unit(figure: f64, unit: &str) -> String {
    let digits =
        if figure.fract() == 0.0 { format!("{figure:.0}") } else { format!("{figure:.2}") };
    if unit == "x" { format!("{digits}x") } else { format!("{digits} {unit}") }
}

fn verdict(verdict: Verdict) -> Cell {
    let status = match verdict {
        Verdict::Agrees => Status::Good,
        Verdict::DirectionOnly => Status::Warn,
        Verdict::Differs => Status::Bad,
        Verdict::NotRun => Status::Neutral,
    };
    Cell::badge(verdict_text(verdict), status)
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::DirectionOnly => "direction only",
        Verdict::Differs => "differs",
        Verdict::NotRun => "not run",
    }
}

/// The curves of one fabric and workload; `None` if nothing of it was simulated.
fn figures(input: &ReportInput, shape: Shape, sizes: Sizes, figure: &str) -> Option<Section> {
    let results = &input.evidence.results;
    let curves = curves(results, shape, sizes);
    let last = *curves.first()?.points.last().map(|(load, _)| load)?;
    let (fabric, id) = match shape {
        Shape::Symmetric => ("symmetric fabric", "symmetric"),
        Shape::Asymmetric => ("link S2-A4 down", "asymmetric"),
    };
    let (workload, kind) = match sizes {
        Sizes::WebSearch => ("Web search", "websearch"),
        Sizes::DataMining => ("Data mining", "datamining"),
    };
    let id = format!("{id}-{kind}");
    let plot = |metric: Metric| {
        plots::over_load(&format!("{id}-{}", metric.id()), metric.title(), metric, &curves)
    };
    let mut section = Section::new(id.clone(), format!("{workload}, {fabric} (figure {figure})"))
        .block(by_load_table(&curves))
        .block(Block::pair(speedup(results, shape, sizes, &id), plot(Metric::Mean)))
        .block(Block::pair(plot(Metric::Small), plot(Metric::Large)))
        .block(Block::pair(plot(Metric::P99), cdf_at(&curves, last, &id)));
    let sampled = first_runs(&curves, if shape == Shape::Asymmetric { 60.0 } else { last });
    if sizes == Sizes::WebSearch && !sampled.is_empty() {
        let map = format!("{id}-map");
        section = section.block(plots::fabric_map(
            &map,
            "Link utilisation over time",
            input.graph,
            &sampled,
        ));
        if shape == Shape::Asymmetric {
            section = section.block(plots::queue_cdf(
                &format!("{id}-queue"),
                "core-2",
                "agg-3",
                &sampled,
            ));
        }
    }
    Some(section)
}

fn curves(results: &Results, shape: Shape, sizes: Sizes) -> Vec<Curve> {
    let curve = |scheme: Scheme| {
        let points: Vec<(f64, Vec<RunSummary>)> = results
            .points()
            .filter(|p| p.shape == shape && p.sizes == sizes && p.scheme == scheme)
            .map(|p| (f64::from(p.load), results.runs(p).to_vec()))
            .collect();
        (!points.is_empty()).then(|| Curve { name: scheme.title().into(), points })
    };
    SCHEMES.into_iter().filter_map(curve).collect()
}

fn by_load_table(curves: &[Curve]) -> Table {
    let row = |curve: &Curve, (load, runs): &(f64, Vec<RunSummary>)| {
        (format!("{} {load:.0} %", curve.name), OverSeeds::new(runs))
    };
    let rows: Vec<_> =
        curves.iter().flat_map(|c| c.points.iter().map(move |point| row(c, point))).collect();
    fct_table("scheme and load", &rows)
}

fn cdf_at(curves: &[Curve], load: f64, id: &str) -> Plot {
    let at = |curve: &Curve| {
        let runs = curve.points.iter().find(|(x, _)| *x == load)?;
        Some((curve.name.clone(), runs.1.clone()))
    };
    let runs: Vec<(String, Vec<RunSummary>)> = curves.iter().filter_map(at).collect();
    let runs: Vec<(&str, &[RunSummary])> =
        runs.iter().map(|(n, r)| (n.as_str(), r.as_slice())).collect();
    plots::fct_cdf(&format!("{id}-cdf"), &format!("Distribution of FCT at {load:.0} %"), &runs)
}

fn first_runs(curves: &[Curve], load: f64) -> Vec<(&str, &RunSummary)> {
    let at = |curve: &'_ Curve| curve.points.iter().position(|(x, _)| *x == load);
    curves
        .iter()
        .filter(|curve| curve.name != Scheme::Ideal.title())
        .filter_map(|curve| Some((curve.name.as_str(), curve.points[at(curve)?].1.first()?)))
        .filter(|(_, run)| !run.ports.is_empty())
        .collect()
}

/// How many times faster HULA is than the others, with the ratios that the paper states as separate points: it prints no
/// other numbers, and its curves cannot be read off its text.
fn speedup(results: &Results, shape: Shape, sizes: Sizes, id: &str) -> Plot {
    let x = Axis::new("Load", Unit::plain("%"));
    let y = Axis::new("Mean FCT over HULA's", Unit::plain("x"));
    let mut plot = Plot::new(
        format!("{id}-speedup"),
        "The paper's figure beside ours: how much faster HULA is",
        x,
        y,
    )
    .horizontal(1.0, "as HULA");
    for scheme in [Scheme::Ecmp, Scheme::CongaPrime] {
        let ratio = |hula: Point| {
            let other = results.runs(Point { scheme, ..hula });
            let means =
                |runs: &[RunSummary]| OverSeeds::new(runs).fct_mean.map(|estimate| estimate.mean);
            Some((f64::from(hula.load), means(other)? / means(results.runs(hula))?))
        };
        let here = |p: &Point| p.shape == shape && p.sizes == sizes && p.scheme == Scheme::Hula;
        let ratios: Vec<(f64, f64)> = results.points().filter(here).filter_map(ratio).collect();
        if ratios.is_empty() {
            continue;
        }
        plot = plot.series(Series::line(scheme.title(), ratios));
        let stated = stated(shape, sizes, scheme);
        if !stated.is_empty() {
            let name = format!("{} (paper)", scheme.title());
            let series = Series::new(name, heddle_report::Style::Markers, stated.iter().copied());
            plot = plot.series(series.coloured_as(scheme.title()));
        }
    }
    plot
}

/// Ratios of mean FCTs that the paper states, as (load in percent, ratio).
fn stated(shape: Shape, sizes: Sizes, scheme: Scheme) -> &'static [(f64, f64)] {
    match (shape, sizes, scheme) {
        (Shape::Symmetric, Sizes::WebSearch, Scheme::Ecmp) => &[(70.0, 3.7)],
        (Shape::Symmetric, Sizes::WebSearch, Scheme::CongaPrime) => {
            &[(50.0, 1.6), (70.0, 2.7), (90.0, 3.0)]
        }
        (Shape::Symmetric, Sizes::DataMining, Scheme::Ecmp) => &[(80.0, 1.35)],
        (Shape::Asymmetric, Sizes::WebSearch, Scheme::Ecmp) => &[(60.0, 8.0)],
        (Shape::Asymmetric, Sizes::DataMining, Scheme::Ecmp) => &[(80.0, 1.52)],
        (Shape::Asymmetric, Sizes::DataMining, Scheme::CongaPrime) => &[(80.0, 1.17)],
        _ => &[],
    }
}

/// Figure 9a and 9b.
fn failover(evidence: &Evidence) -> Option<Section> {
    let mut section = Section::new("failover", "A link fails and comes back (figure 9)")
        .block("S2-A4 is down all along; S2-A3 fails and comes back. Utilisation of the links into pod 2, every 100 µs.");
    let mut any = false;
    for (traffic, id, title) in [
        (FailoverTraffic::WebSearch, "failover-web", "Web search (9a)"),
        (FailoverTraffic::LongFlows, "failover-long", "Long flows (9b)"),
    ] {
        if let Some(run) = evidence.failovers(traffic).first() {
            section = section.block(failover_plot(id, title, run));
            any = true;
        }
    }
    any.then_some(section)
}

fn failover_plot(id: &str, title: &str, run: &Failover) -> Plot {
    let x = Axis::new("Time", Unit::si("s"));
    let y = Axis::new("Utilisation", Unit::None).within(0.0, 1.05);
    let plot = Plot::new(id, title, x, y)
        .vertical(run.fails_at, "S2-A3 fails")
        .vertical(run.recovers_at, "S2-A3 is back");
    run.links.iter().fold(plot, |plot, (name, series)| {
        let points = run.seconds.iter().copied().zip(series.iter().copied());
        plot.series(Series::step(name.clone(), points))
    })
}
