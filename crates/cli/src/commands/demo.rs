//! `heddle demo`: HULA against ECMP on the paper's fabric, in seconds.

use heddle_claims::{Effort, report};
use heddle_papers::hula::Hula;
use heddle_papers::hula::points::{Point, Scheme, demo_points};
use heddle_papers::two_pod::Shape;
use heddle_study::gather::loads;
use heddle_study::paper::Evidence;
use heddle_study::point::{Results, cells};
use heddle_study::provenance::origin;
use heddle_study::results::OverSeeds;
use serde_json::json;

use crate::args::{Common, Demo};
use crate::failure::Failure;
use crate::files::Made;
use crate::{files, kept, output, table};

pub(crate) fn demo(args: &Demo, common: &Common) -> Result<(), Failure> {
    let points = demo_points();
    let cells = cells(&points, Effort::Demo)?;
    let runs = kept::simulate(&args.out, &cells, common)?;
    let results = Results::new(&points, Effort::Demo, runs);
    let graph = cells[0].scenario.fabric.graph.clone();
    let loads = loads(&points, Effort::Demo).map_err(anyhow::Error::from)?;
    let evidence = Evidence::<Hula> { results, experiments: Vec::new(), loads, graph };
    let title = "HULA against ECMP on HULA's fabric: a demonstration";
    let origin = origin();
    let report = report::<Hula>(title, &evidence, &[]).section(origin.section());
    files::write_report(&args.out, &report)?;
    if common.json {
        let runs: Vec<_> = points.iter().flat_map(|&p| evidence.results.runs(p)).collect();
        let results = json!({ "runs": runs });
        return files::print_json(&Made { origin: &origin, results });
    }
    print(&points, &evidence)?;
    output::line(format_args!(
        "\nThe report, with plots: {}\nNext: heddle reproduce hula --quick",
        args.out.join("report.html").display()
    ))
}

fn print(points: &[Point], evidence: &Evidence<Hula>) -> Result<(), Failure> {
    let results = &evidence.results;
    output::line(
        "Web search flows between the pods of HULA's fabric (SOSR 2016, figure 4): mean flow completion time\n",
    )?;
    let header = [
        "fabric",
        "load",
        "ECMP",
        "HULA",
        "ECMP / HULA",
        "under 100 KB",
        "over 10 MB",
        "ECMP's busiest link",
    ];
    let mut table = table::new(&header);
    for &hula in points.iter().filter(|point| point.scheme == Scheme::Hula) {
        let ecmp = Point { scheme: Scheme::Ecmp, ..hula };
        let (e, h) = (OverSeeds::new(results.runs(ecmp)), OverSeeds::new(results.runs(hula)));
        let fabric = if hula.shape == Shape::Symmetric { "whole" } else { "one core link down" };
        table.add_row([
            fabric.to_owned(),
            format!("{} %", hula.load),
            table::millis(e.fct_mean),
            table::millis(h.fct_mean),
            times(&e, &h, |o| o.fct_mean),
            times(&e, &h, |o| o.classes.named("small")?.fct_mean),
            times(&e, &h, |o| o.classes.named("large")?.fct_mean),
            evidence
                .loads
                .get(&ecmp)
                .map_or_else(|| "-".into(), |load| format!("{:.0} %", 100.0 * load.busiest)),
        ]);
    }
    table::print(&table, 2)?;
    output::line(
        "\nThe last column is what ECMP's equal split offers to its busiest link. Above 100 % queues grow for as long as the run lasts, and \
         so does the ratio; all rows here are below.",
    )
}

/// The ratio of a figure with ECMP to the same with HULA.
fn times(
    ecmp: &OverSeeds,
    hula: &OverSeeds,
    figure: fn(&OverSeeds) -> Option<heddle_claims::stats::Estimate>,
) -> String {
    match (figure(ecmp), figure(hula)) {
        (Some(e), Some(h)) if h.mean > 0.0 => format!("{:.2}x", e.mean / h.mean),
        _ => "-".into(),
    }
}
