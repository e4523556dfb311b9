//! The figures of HULA's evaluation, the paper's figures beside.

use heddle_report::{Axis, Plot, Section, Series, Unit};

use crate::hula::Hula;
use crate::hula::experiments::{Experiment, Failover, FailoverTraffic, Measured, Moment};
use crate::hula::points::{Point, Scheme};
use crate::hula::{queue, run_length};
use crate::two_pod::{Shape, Sizes};
use heddle_study::paper::Evidence;
use heddle_study::view::panel::{Panel, PaperRatios, curves};
use heddle_study::view::plots;

const SCHEMES: [Scheme; 3] = [Scheme::Ecmp, Scheme::CongaPrime, Scheme::Hula];

/// The figures that were simulated.
pub(super) fn sections(evidence: &Evidence<Hula>) -> Vec<Section> {
    let figures = [
        (Shape::Symmetric, Sizes::WebSearch, "5a"),
        (Shape::Symmetric, Sizes::DataMining, "5b"),
        (Shape::Asymmetric, Sizes::WebSearch, "6 and 8a"),
        (Shape::Asymmetric, Sizes::DataMining, "7 and 8b"),
    ];
    let figure = |(shape, sizes, number)| figure(evidence, shape, sizes, number);
    let beyond = [queue::section(evidence), run_length::section(evidence), failover(evidence)];
    figures.into_iter().filter_map(figure).chain(beyond.into_iter().flatten()).collect()
}

/// The curves of one fabric and workload; `None` if nothing of it was simulated.
fn figure(evidence: &Evidence<Hula>, shape: Shape, sizes: Sizes, number: &str) -> Option<Section> {
    let belongs = |p: &Point, scheme| p.shape == shape && p.sizes == sizes && p.scheme == scheme;
    let fabric = match shape {
        Shape::Symmetric => "symmetric fabric",
        Shape::Asymmetric => "link S2-A4 down",
    };
    let panel = Panel {
        id: format!("{}-{}", shape.name(), sizes.name()),
        title: format!("{}, {fabric} (figure {number})", sizes.title()),
        curves: curves(&evidence.results, &SCHEMES, Scheme::title, belongs),
        reference: Scheme::Hula.title(),
    };
    let section = panel.section(stated(shape, sizes))?;
    let load = if shape == Shape::Asymmetric { 60.0 } else { panel.last_load()? };
    let sampled = panel.sampled_at(load);
    if sizes == Sizes::DataMining || sampled.is_empty() {
        return Some(section);
    }
    let map = format!("{}-map", panel.id);
    let map = plots::fabric_map(&map, "Link utilisation over time", &evidence.graph, &sampled);
    Some(section.block(map))
}

/// Ratios of mean FCTs that the paper states.
fn stated(shape: Shape, sizes: Sizes) -> PaperRatios {
    match (shape, sizes) {
        (Shape::Symmetric, Sizes::WebSearch) => {
            &[("ECMP", &[(70.0, 3.7)]), ("CONGA'", &[(50.0, 1.6), (70.0, 2.7), (90.0, 3.0)])]
        }
        (Shape::Symmetric, Sizes::DataMining) => &[("ECMP", &[(80.0, 1.35)])],
        (Shape::Asymmetric, Sizes::WebSearch) => &[("ECMP", &[(60.0, 8.0)])],
        (Shape::Asymmetric, Sizes::DataMining) => {
            &[("ECMP", &[(80.0, 1.52)]), ("CONGA'", &[(80.0, 1.17)])]
        }
    }
}

/// Figure 9a and 9b.
fn failover(evidence: &Evidence<Hula>) -> Option<Section> {
    let mut section = Section::new("failover", "A link fails and comes back (figure 9)")
        .block("S2-A4 is down all along; S2-A3 fails and comes back. Utilisation of the links into pod 2, every 100 µs.");
    let mut any = false;
    for (traffic, moment, id, title) in [
        (FailoverTraffic::WebSearch, Moment::Warm, "failover-web", "Web search (9a)"),
        (FailoverTraffic::LongFlows, Moment::Warm, "failover-long", "Long flows (9b)"),
        (
            FailoverTraffic::WebSearch,
            Moment::AtTheBegin,
            "failover-web-begin",
            "Web search (9a), 0.2 ms from the begin",
        ),
        (
            FailoverTraffic::LongFlows,
            Moment::AtTheBegin,
            "failover-long-begin",
            "Long flows (9b), 0.2 ms from the begin",
        ),
    ] {
        let mut made = evidence.outcomes(Experiment::Failover(traffic, moment));
        if let Some(run) = made.next().and_then(Measured::failover) {
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

#[cfg(test)]
mod tests;
