//! The section above HULA's claims: figures of a steady state, and where ECMP is overloaded.

use heddle_claims::stats::{self, Estimate};
use heddle_claims::table::OVERLOADED;
use heddle_report::{Cell, Section, Table};
use heddle_study::metric::mean_all;
use heddle_study::paper::Evidence;
use heddle_study::steady::Steadiness;
use heddle_study::summary::RunSummary;

use super::Hula;
use super::points::{Point, Scheme};
use crate::two_pod::{Shape, Sizes};

const ABOUT: &str = "Mean flow completion time under web search, over the seeds above. The state is measured: a row in which a scheme's slowdowns grow \
     from the first half of the measured flows to the second, or fill a link, has no ratio, since that would depend on the length of the run.";

const COLUMNS: usize = 8;
const HEADER: [&str; COLUMNS] =
    ["fabric", "load", "ECMP's busiest link", "ECMP", "CONGA'", "HULA", "ECMP / HULA", "state"];
/// The column of CONGA'.
const CONGA_PRIME: usize = 4;
/// The cell of what did not run.
const NONE: &str = "-";

/// Web search on both fabrics, a row for each load at which ECMP and HULA ran; `None` if there is
/// none.
pub(super) fn section(evidence: &Evidence<Hula>) -> Option<Section> {
    let rows: Vec<[String; COLUMNS]> =
        evidence.results.points().filter_map(|point| row(evidence, point)).collect();
    if rows.is_empty() {
        return None;
    }
    let section = Section::new("steady", "ECMP and HULA, in a steady state and beyond");
    Some(section.block(ABOUT).block(table(&rows)))
}

/// Without CONGA' where it did not run, as in the demonstration.
fn table(rows: &[[String; COLUMNS]]) -> Table {
    let ran = rows.iter().any(|row| row[CONGA_PRIME] != NONE);
    let kept = |column: &usize| ran || *column != CONGA_PRIME;
    let table = Table::new((0..COLUMNS).filter(kept).map(|column| HEADER[column]));
    rows.iter().fold(table, |table, row| {
        table.row((0..COLUMNS).filter(kept).map(|column| Cell::from(row[column].clone())))
    })
}

/// The row of one of ECMP's points.
fn row(evidence: &Evidence<Hula>, ecmp: Point) -> Option<[String; COLUMNS]> {
    if ecmp.scheme != Scheme::Ecmp || ecmp.sizes != Sizes::WebSearch {
        return None;
    }
    let runs = |scheme: Scheme| evidence.results.runs(Point { scheme, ..ecmp });
    let mean = |scheme: Scheme| {
        stats::mean(&runs(scheme).iter().filter_map(mean_all).collect::<Vec<f64>>())
    };
    let millis =
        |seconds: Option<f64>| seconds.map_or(NONE.into(), |s| format!("{:.2} ms", s * 1e3));
    let (slow, fast) = (mean(Scheme::Ecmp)?, mean(Scheme::Hula)?);
    let states = [Scheme::Ecmp, Scheme::CongaPrime, Scheme::Hula]
        .map(|scheme| (scheme, Steadiness::of(runs(scheme))));
    let overloaded: Vec<&str> = states
        .iter()
        .filter(|(_, state)| state.is_overloaded())
        .map(|(scheme, _)| scheme.title())
        .collect();
    let is_compared = |state: &Steadiness| !state.is_overloaded();
    let shown = match is_compared(&states[0].1) && is_compared(&states[2].1) {
        true => ratio(runs(Scheme::Ecmp), runs(Scheme::Hula)),
        false => OVERLOADED.to_owned(),
    };
    let state = match overloaded.is_empty() {
        true => states[0].1.text().to_owned(),
        false => format!("{OVERLOADED}: {}", overloaded.join(", ")),
    };
    let busiest = states[0].1.busiest_link;
    let fabric = match ecmp.shape {
        Shape::Symmetric => "all links up",
        Shape::Asymmetric => "link S2-A4 down",
    };
    Some([
        fabric.to_owned(),
        format!("{} %", ecmp.load),
        busiest.map_or(NONE.into(), |share| format!("{:.1} %", 100.0 * share)),
        millis(Some(slow)),
        millis(mean(Scheme::CongaPrime)),
        millis(Some(fast)),
        shown,
        state,
    ])
}

/// The ratio of the mean completion times of two schemes: the seeds' median and range.
fn ratio(slow: &[RunSummary], fast: &[RunSummary]) -> String {
    let ratio = |(slow, fast)| Some(mean_all(slow)? / mean_all(fast)?);
    let ratios: Vec<f64> = slow.iter().zip(fast).filter_map(ratio).collect();
    match Estimate::of(&ratios) {
        Some(Estimate { median, min, max, seeds: 2.., .. }) => {
            format!("{median:.2}x ({min:.2} to {max:.2})")
        }
        Some(one) => format!("{:.2}x", one.mean),
        None => NONE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use heddle_claims::Effort;
    use heddle_study::point::Results;
    use heddle_study::testing::{cell, grow, run};

    use super::*;
    use crate::hula::points::{asym, sym};

    /// ECMP takes 6 ms and HULA 3 ms; at 60 % with the link down ECMP's slowdowns grow.
    #[test]
    fn what_grows_has_no_ratio() {
        let points = [asym(Scheme::Ecmp, 40), asym(Scheme::Ecmp, 60), sym(Scheme::Ecmp, 60)];
        let points = points.map(|ecmp| [ecmp, Point { scheme: Scheme::Hula, ..ecmp }]).concat();
        let took = |point: &Point| {
            let mut run = run(&cell(1, &[("measure.flows", "100")]));
            let seconds = if point.scheme == Scheme::Ecmp { 6e-3 } else { 3e-3 };
            run.batches = vec![1.0; 20];
            if *point == asym(Scheme::Ecmp, 60) {
                grow(&mut run);
            }
            run.fct.all.as_mut().unwrap().seconds.mean = seconds;
            run
        };
        let results = Results::new(&points, Effort::Quick, points.iter().map(took).collect());
        let evidence = Evidence::<Hula> { results, ..Evidence::default() };
        let states: Vec<String> = evidence
            .results
            .points()
            .filter_map(|point| row(&evidence, point))
            .map(|row| [&row[0], &row[1], &row[6], &row[7]].map(String::as_str).join(" | "))
            .collect();
        assert_eq!(
            states,
            [
                "all links up | 60 % | 2.00x | steady",
                "link S2-A4 down | 40 % | 2.00x | steady",
                "link S2-A4 down | 60 % | overloaded, not judged | overloaded, not judged: ECMP"
            ]
        );
    }

    #[test]
    fn a_scheme_that_did_not_run_has_no_column() {
        let row = |conga: &str| {
            let mut row: [String; COLUMNS] = Default::default();
            row[CONGA_PRIME] = conga.to_owned();
            row
        };
        assert_eq!(table(&[row(NONE)]).columns.len(), COLUMNS - 1);
        assert_eq!(table(&[row(NONE), row("4.00 ms")]).columns.len(), COLUMNS);
    }
}
