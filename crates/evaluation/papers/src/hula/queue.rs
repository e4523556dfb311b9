//! The queue at S2-A3, the bottleneck of the asymmetric fabric (figure 8c): its whole distribution
//! under each scheme, at three loads, since the paper names none.

use heddle_claims::table::AT_BUFFER;
use heddle_report::{Block, Cell, Section, Table};
use heddle_study::metric::{Quantile, port};
use heddle_study::paper::Evidence;
use heddle_study::summary::{PortSummary, RunSummary};
use heddle_study::view::plots;

use super::Hula;
use super::points::{Scheme, asym};

/// Loads at which the queue is compared, in percent.
pub(super) const LOADS: [u8; 3] = [40, 50, 60];

const SCHEMES: [Scheme; 3] = [Scheme::Ecmp, Scheme::CongaPrime, Scheme::Hula];

/// Quantiles of the table, in percent.
const QUANTILES: [u8; 5] = [50, 75, 90, 95, 99];

/// A packet in transmission is no queue: up to one frame counts as empty.
const FRAME: f64 = 1518.0;

const PORT: (&str, &str) = ("core-2", "agg-3");

const ABOUT: &str = "Waiting bytes at S2-A3 every 100 us, S2-A4 down, of the samples of all seeds together. The paper names no load. A quantile is at the buffer above 95 % of the longest queue of runs that drop packets there: what it says is the buffer, of which the paper says nothing.";

fn bottleneck(run: &RunSummary) -> Option<&PortSummary> {
    port(run, PORT.0, PORT.1)
}

fn shape(run: &RunSummary) -> Option<&[f64]> {
    bottleneck(run).map(|port| &port.queue[..])
}

/// The buffer, where packets were dropped.
fn buffer(run: &RunSummary) -> Option<f64> {
    bottleneck(run).filter(|port| port.dropped > 0)?.queue.last().copied()
}

const fn quantile(percent: u8) -> Quantile {
    Quantile { shape, at: percent as f64 / 100.0, limit: buffer }
}

/// The 95th percentile, in bytes.
pub(super) const P95: Quantile = quantile(95);

/// Share of the samples with more than one frame, in percent. Nearly all of any share agrees within
/// a third: the paper's 90 % empty is judged by the other 10 %.
pub(super) fn busy_share(run: &RunSummary) -> Option<f64> {
    let queue = shape(run)?;
    let busy = queue.iter().filter(|&&bytes| bytes > FRAME).count();
    Some(100.0 * busy as f64 / queue.len().max(1) as f64)
}

/// Packets dropped.
pub(super) fn drops(run: &RunSummary) -> Option<f64> {
    Some(bottleneck(run)?.dropped as f64)
}

/// Share of the distribution function, in percent, at which the queue of one run is no longer than
/// that of another, to a frame.
pub(super) fn share_no_longer(one: &RunSummary, other: &RunSummary) -> Option<f64> {
    let (one, other) = (shape(one)?, shape(other)?);
    let no_longer = one.iter().zip(other).filter(|(one, other)| **one <= **other + FRAME).count();
    Some(100.0 * no_longer as f64 / one.len().max(1) as f64)
}

/// A distribution function for each load, and a table of quantiles; `None` if nothing of it was
/// simulated.
pub(super) fn section(evidence: &Evidence<Hula>) -> Option<Section> {
    let plot = |load: u8| {
        let runs = |scheme: Scheme| (scheme.title(), evidence.results.runs(asym(scheme, load)));
        let runs: Vec<_> = SCHEMES.map(runs).into_iter().filter(|(_, r)| !r.is_empty()).collect();
        let title = format!("S2 to A3 at {load} %");
        (!runs.is_empty()).then(|| plots::queue_cdf(&format!("queue-{load}"), &title, PORT, &runs))
    };
    let plots: Vec<Block> = LOADS.into_iter().filter_map(plot).map(Block::from).collect();
    if plots.is_empty() {
        return None;
    }
    let header = ["load", "scheme", "empty", "p50", "p75", "p90", "p95", "p99", "dropped"];
    let rows = LOADS.into_iter().flat_map(|load| SCHEMES.map(|scheme| (load, scheme)));
    let rows = rows.filter_map(|(load, scheme)| row(evidence, load, scheme));
    let table = rows.fold(Table::new(header), |table, row| table.row(row.map(Cell::from)));
    let section = Section::new("queue", "The queue at S2-A3 (figure 8c)").block(ABOUT).block(table);
    Some(plots.into_iter().fold(section, Section::block))
}

fn row(evidence: &Evidence<Hula>, load: u8, scheme: Scheme) -> Option<[String; 9]> {
    let runs = evidence.results.runs(asym(scheme, load));
    let busy: Option<Vec<f64>> = runs.iter().map(busy_share).collect();
    let empty = 100.0 - heddle_claims::stats::mean(&busy?)?;
    let at = QUANTILES.map(|percent| {
        let quantile = quantile(percent);
        match quantile.pooled(runs) {
            _ if quantile.is_at_limit(runs) => AT_BUFFER.split(',').next().unwrap_or("").to_owned(),
            Some(bytes) => format!("{:.1} KB", bytes / 1e3),
            None => "-".to_owned(),
        }
    });
    let dropped: f64 = runs.iter().filter_map(drops).sum();
    let [p50, p75, p90, p95, p99] = at;
    let (load, empty) = (format!("{load} %"), format!("{empty:.1} %"));
    let scheme = scheme.title().to_owned();
    Some([load, scheme, empty, p50, p75, p90, p95, p99, format!("{dropped:.0}")])
}

#[cfg(test)]
mod tests {
    use heddle_claims::Effort;
    use heddle_claims::Verdict::{AtBuffer, DirectionOnly};
    use heddle_claims::{Bound, Claim, stated};
    use heddle_study::paper::Measure;
    use heddle_study::point::Results;
    use heddle_study::testing::{cell, run};

    use super::*;

    /// A run whose quantiles of the bottleneck's queue are these 201.
    fn queueing(seed: u64, dropped: u64, queue: impl Fn(u32) -> f64) -> RunSummary {
        let mut run = run(&cell(seed, &[]));
        run.ports = vec![PortSummary {
            from: PORT.0.to_owned(),
            to: PORT.1.to_owned(),
            parallel: None,
            utilisation: 0.5,
            queue: (0..=200).map(queue).collect(),
            dropped,
            series: Vec::new(),
            queue_peaks: Vec::new(),
        }];
        run
    }

    /// 181 of 201 quantiles of at most one frame, then a rise. The 95th percentile is quantile 190.
    #[test]
    fn the_bottlenecks_queue() {
        let bare = run(&cell(1, &[]));
        assert_eq!((busy_share(&bare), P95.of(&bare), drops(&bare)), (None, None, None));
        let run = queueing(1, 4, |i| if i <= 180 { FRAME } else { f64::from(i) * 1e3 });
        assert!((busy_share(&run).unwrap() - 100.0 * 20.0 / 201.0).abs() < 1e-9);
        assert_eq!((P95.of(&run), drops(&run)), (Some(190_000.0), Some(4.0)));
    }

    /// At the lower 151 quantiles the first is no longer, at the upper 50 it is.
    #[test]
    fn the_whole_distribution_is_compared() {
        let long_tail = queueing(1, 0, |i| if i <= 150 { 0.0 } else { 3e5 });
        let even = queueing(1, 0, |_| 1e5);
        let share = share_no_longer(&long_tail, &even).unwrap();
        assert!((share - 100.0 * 151.0 / 201.0).abs() < 1e-9);
        assert_eq!(share_no_longer(&even, &even), Some(100.0));
    }

    /// 95th percentiles of 190 and 95 KB, of which the first stands at 190 of the 200 KB that were
    /// seen at most: with drops that is the buffer, and the ratio says nothing.
    #[test]
    fn a_ratio_of_a_full_buffer_is_not_judged() {
        let points = [asym(Scheme::CongaPrime, 60), asym(Scheme::Hula, 60)];
        let find = |dropped: u64| {
            let long = |i: u32| f64::from(i) * 1e3;
            let mut runs: Vec<RunSummary> = (1..=5).map(|seed| queueing(seed, 0, long)).collect();
            runs[2] = queueing(3, dropped, long);
            runs.extend((1..=5).map(|seed| queueing(seed, 0, |i| long(i) / 2.0)));
            let results = Results::new(&points, Effort::Medium, runs);
            let evidence = Evidence::<Hula> { results, ..Evidence::default() };
            let measure = Measure::Quantiles(P95, points[0], points[1]);
            let claim = Claim::new("H8", "", "", stated(Bound::About, 8.0, "x"), measure);
            let finding = claim.find(&evidence);
            let html = heddle_report::Report::new("t").section(section(&evidence).unwrap());
            (finding.verdict, finding.here.unwrap().pooled, html.to_html())
        };
        let (verdict, pooled, _) = find(0);
        assert_eq!(verdict, DirectionOnly);
        assert!((pooled.unwrap() - 2.0).abs() < 0.01, "{pooled:?}");
        let (verdict, _, html) = find(3);
        assert_eq!(verdict, AtBuffer);
        assert!(html.contains("at the buffer"), "{html}");
    }
}
