//! `heddle demo`: HULA against ECMP on the paper's fabric, in seconds.

use heddle_claims::stats::Estimate;
use heddle_claims::table::OVERLOADED;
use heddle_claims::{Effort, report};
use heddle_papers::hula::Hula;
use heddle_papers::hula::points::{Point, Scheme, demo_points};
use heddle_papers::two_pod::Shape;
use heddle_study::metric::{Metric, mean_all, mean_large, mean_small};
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
    let evidence = Evidence::<Hula> { results, experiments: Vec::new(), graph };
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
    let header =
        ["fabric", "load", "ECMP", "HULA", "ECMP / HULA", "under 100 KB", "over 10 MB", "state"];
    let mut table = table::new(&header);
    for &hula in points.iter().filter(|point| point.scheme == Scheme::Hula) {
        let ecmp = Point { scheme: Scheme::Ecmp, ..hula };
        let (e, h) = (OverSeeds::new(results.runs(ecmp)), OverSeeds::new(results.runs(hula)));
        let fabric =
            if hula.shape == Shape::Symmetric { "all links up" } else { "one core link down" };
        let overloaded = [&e, &h].into_iter().find(|o| o.steadiness.is_overloaded());
        let times = |metric| match overloaded {
            Some(_) => OVERLOADED.to_owned(),
            None => times(results, ecmp, hula, metric),
        };
        table.add_row([
            fabric.to_owned(),
            format!("{} %", hula.load),
            table::millis(e.fct_mean),
            table::millis(h.fct_mean),
            times(mean_all),
            times(mean_small),
            times(mean_large),
            overloaded.unwrap_or(&h).steadiness.text().to_owned(),
        ]);
    }
    table::print(&table, 2)?;
    output::line(format_args!(
        "\nRatios are taken seed by seed, of seeds {}, with 95 % intervals. The state is measured: a row in which a scheme's slowdowns grow \
         from the first half of the flows to the second, or which fills a link, has no ratio.",
        Effort::Demo.seeds().iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    ))
}

/// The ratio of a figure with ECMP to the same with HULA, seed by seed.
fn times(results: &Results<Point>, ecmp: Point, hula: Point, metric: Metric) -> String {
    let pairs = results.runs(ecmp).iter().zip(results.runs(hula));
    let ratios: Vec<f64> = pairs.filter_map(|(e, h)| Some(metric(e)? / metric(h)?)).collect();
    table::figure(Estimate::of(&ratios), 1.0, "x")
}
