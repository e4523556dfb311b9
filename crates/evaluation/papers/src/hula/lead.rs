//! The section above HULA's claims: figures of a steady state, and where ECMP is overloaded.

use heddle_claims::stats;
use heddle_report::{Cell, Section, Table};
use heddle_study::metric::mean_all;
use heddle_study::paper::Evidence;

use super::Hula;
use super::points::{Point, Scheme};
use crate::two_pod::{Shape, Sizes};

const ABOUT: &str = "Mean flow completion time under web search. A row in which ECMP's equal split offers a link more than it carries has no \
     steady state under ECMP: queues, completion times and the ratio grow with the length of the run, and only the direction of the ratio says \
     something of the schemes.";

/// Web search on both fabrics, a row for each load at which ECMP and HULA ran; `None` if there is
/// none.
pub(super) fn section(evidence: &Evidence<Hula>) -> Option<Section> {
    let header =
        ["fabric", "load", "ECMP's busiest link", "ECMP", "CONGA'", "HULA", "ECMP / HULA", "ECMP"];
    let rows: Vec<[String; 8]> =
        evidence.results.points().filter_map(|point| row(evidence, point)).collect();
    if rows.is_empty() {
        return None;
    }
    let table =
        rows.into_iter().fold(Table::new(header), |table, row| table.row(row.map(Cell::from)));
    Some(
        Section::new("steady", "ECMP beside HULA, in a steady state and beyond")
            .block(ABOUT)
            .block(table),
    )
}

/// The row of one of ECMP's points.
fn row(evidence: &Evidence<Hula>, ecmp: Point) -> Option<[String; 8]> {
    if ecmp.scheme != Scheme::Ecmp || ecmp.sizes != Sizes::WebSearch {
        return None;
    }
    let mean = |scheme: Scheme| {
        let runs = evidence.results.runs(Point { scheme, ..ecmp });
        stats::mean(&runs.iter().filter_map(mean_all).collect::<Vec<f64>>())
    };
    let millis =
        |seconds: Option<f64>| seconds.map_or("-".into(), |s| format!("{:.2} ms", s * 1e3));
    let (slow, fast) = (mean(Scheme::Ecmp)?, mean(Scheme::Hula)?);
    let load = evidence.loads.get(&ecmp)?;
    let state = if load.is_overloaded { "overloaded" } else { "steady" };
    let fabric = match ecmp.shape {
        Shape::Symmetric => "whole",
        Shape::Asymmetric => "link S2-A4 down",
    };
    Some([
        fabric.to_owned(),
        format!("{} %", ecmp.load),
        format!("{:.0} %", 100.0 * load.busiest),
        millis(Some(slow)),
        millis(mean(Scheme::CongaPrime)),
        millis(Some(fast)),
        format!("{:.2}x", slow / fast),
        state.to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use heddle_claims::Effort;
    use heddle_study::gather::loads;
    use heddle_study::point::Results;
    use heddle_study::testing::{cell, run};

    use super::*;
    use crate::hula::claims::{asym, sym};

    /// ECMP takes 6 ms and HULA 3 ms; with the link down ECMP's busiest link carries all up to 48
    /// %.
    #[test]
    fn a_row_says_whether_ecmp_is_overloaded() {
        let points = [asym(Scheme::Ecmp, 40), asym(Scheme::Ecmp, 60), sym(Scheme::Ecmp, 60)];
        let points = points.map(|ecmp| [ecmp, Point { scheme: Scheme::Hula, ..ecmp }]).concat();
        let took = |point: &Point| {
            let mut run = run(&cell(1, &[]));
            let seconds = if point.scheme == Scheme::Ecmp { 6e-3 } else { 3e-3 };
            run.fct.all.as_mut().unwrap().seconds.mean = seconds;
            run
        };
        let results = Results::new(&points, Effort::Quick, points.iter().map(took).collect());
        let loads = loads(&points, Effort::Quick).unwrap();
        let evidence = Evidence::<Hula> { results, loads, ..Evidence::default() };
        let states: Vec<String> = evidence
            .results
            .points()
            .filter_map(|point| row(&evidence, point))
            .map(|row| [&row[0], &row[1], &row[6], &row[7]].map(String::as_str).join(" "))
            .collect();
        assert_eq!(
            states,
            [
                "whole 60 % 2.00x steady",
                "link S2-A4 down 40 % 2.00x steady",
                "link S2-A4 down 60 % 2.00x overloaded"
            ]
        );
        let from = evidence.overload_from(|p| p.shape == Shape::Asymmetric).unwrap();
        assert!((47.0..49.0).contains(&from), "{from}");
        let whole = evidence.overload_from(|p| p.shape == Shape::Symmetric).unwrap();
        assert!((93.0..98.0).contains(&whole), "headers: {whole}");
    }
}
