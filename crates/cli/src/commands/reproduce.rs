//! `heddle reproduce`: a paper's claims.

use std::path::Path;

use anyhow::anyhow;
use heddle_sim::Next;
use heddle_study::grid::{self, Cell};
use heddle_study::hula::claims::{CLAIMS, Claim, Evidence, Finding, Measure};
use heddle_study::hula::extra::{Failover, FailoverTraffic, Overhead};
use heddle_study::hula::plan::{Effort, Point, Results, Scheme, Shape, Sizes, all_points, cells};
use heddle_study::hula::sensitivity;
use heddle_study::report::{ReportInput, claims_markdown, of_hula};
use heddle_study::store::Store;
use heddle_study::summary::RunSummary;

use crate::args::{Common, Reproduce};
use crate::failure::Failure;
use crate::progress::{self, GridBar};
use crate::{files, output, table};

pub(crate) fn reproduce(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    if args.sensitivity {
        return sensitivity(args, effort, common);
    }
    let claims = chosen(&args.claims)?;
    let evidence = gather(args, &claims, effort, common)?;
    let findings: Vec<Finding> = claims.iter().map(|claim| claim.find(&evidence)).collect();
    write(&args.out, effort, &evidence, &findings)?;
    if common.json {
        return files::print_json(&findings);
    }
    print(&findings)?;
    if !common.quiet {
        eprintln!("wrote {}, claims.md, claims.json", args.out.join("report.html").display());
    }
    Ok(())
}

/// One change at a time.
fn sensitivity(args: &Reproduce, effort: Effort, common: &Common) -> Result<(), Failure> {
    let shifts =
        sensitivity::shifts(effort, &simulate(args, &sensitivity::cells(effort)?, common)?);
    let json = serde_json::to_string_pretty(&shifts).map_err(anyhow::Error::from)?;
    files::write(&args.out.join("sensitivity.json"), &json)?;
    files::write(&args.out.join("sensitivity.md"), &sensitivity::markdown(&shifts))?;
    if common.json {
        return files::print_json(&shifts);
    }
    let header = [
        "changed",
        "ECMP / HULA, whole, 70 %",
        "ECMP / ideal, whole, 70 %",
        "ECMP / HULA, link down, 60 %",
    ];
    let mut table = table::new(&header);
    for shift in &shifts {
        let figures = [shift.symmetric_70, shift.ecmp_over_ideal_70, shift.asymmetric_60];
        let mut row = vec![shift.variant.to_owned()];
        row.extend(figures.map(|figure| table::figure(figure, 1.0, "x")));
        table.add_row(row);
    }
    output::line(table)
}

/// Runs cells that are not kept yet, with a bar.
fn simulate(args: &Reproduce, cells: &[Cell], common: &Common) -> Result<Vec<RunSummary>, Failure> {
    let store = Store::open(&args.out.join("runs")).map_err(anyhow::Error::from)?;
    let bar = GridBar::new(common, cells.len());
    let runs = grid::run(cells, &store, &|progress| bar.update(progress));
    bar.finish();
    Ok(runs?)
}

/// The claims that the user names, in the paper's order.
fn chosen(names: &[String]) -> Result<Vec<&'static Claim>, Failure> {
    if let Some(unknown) = names.iter().find(|name| !CLAIMS.iter().any(|c| is(c, name))) {
        return Err(anyhow!("there is no claim {unknown}; HULA's are H1 to H12").into());
    }
    let wanted = |claim: &&Claim| names.is_empty() || names.iter().any(|name| is(claim, name));
    Ok(CLAIMS.iter().filter(wanted).collect())
}

fn is(claim: &Claim, name: &str) -> bool {
    claim.id.eq_ignore_ascii_case(name)
}

/// Runs what the claims need; with all claims, the whole curves too.
fn gather(
    args: &Reproduce,
    claims: &[&Claim],
    effort: Effort,
    common: &Common,
) -> Result<Evidence, Failure> {
    let claimed = claims.iter().flat_map(|claim| claim.points());
    let points: Vec<Point> = if args.claims.is_empty() {
        all_points(effort, claimed)
    } else {
        let mut points: Vec<Point> = claimed.collect();
        points.sort_unstable();
        points.dedup();
        points
    };
    let runs = simulate(args, &cells(&points, effort)?, common)?;
    let results = Results::new(&points, effort, runs);
    let wants = |which: fn(&Measure) -> bool| claims.iter().any(|claim| which(&claim.measure));
    let failovers =
        if wants(|m| matches!(m, Measure::Failover(..))) { failovers(effort)? } else { Vec::new() };
    let overhead = wants(|m| matches!(m, Measure::Overhead(_))).then(Overhead::run).transpose()?;
    Ok(Evidence { results, failovers, overhead })
}

fn failovers(effort: Effort) -> Result<Vec<(FailoverTraffic, Failover)>, Failure> {
    let mut runs = Vec::new();
    for traffic in [FailoverTraffic::WebSearch, FailoverTraffic::LongFlows] {
        for &seed in effort.seeds() {
            if progress::next() == Next::Stop {
                return Err(Failure::Interrupted("interrupted; finished runs are kept".into()));
            }
            runs.push((traffic, Failover::run(traffic, seed)?));
        }
    }
    Ok(runs)
}

fn write(
    folder: &Path,
    effort: Effort,
    evidence: &Evidence,
    findings: &[Finding],
) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(findings).map_err(anyhow::Error::from)?;
    files::write(&folder.join("claims.json"), &json)?;
    files::write(&folder.join("claims.md"), &claims_markdown(findings))?;
    let (shape, sizes, scheme, load) = (Shape::Symmetric, Sizes::WebSearch, Scheme::Hula, 50);
    let scenario = Point { shape, sizes, scheme, load }.scenario(effort)?;
    let title = "HULA's evaluation, reproduced";
    let graph = &scenario.fabric.graph;
    let report = of_hula(&ReportInput { title, evidence, findings, graph });
    files::write_report(folder, &report)
}

fn print(findings: &[Finding]) -> Result<(), Failure> {
    let mut table = table::new(&["", "claim", "where", "paper", "here", "verdict"]);
    for finding in findings {
        let cells = heddle_study::report::finding_cells(finding);
        table.add_row(cells);
    }
    output::line(table)
}
