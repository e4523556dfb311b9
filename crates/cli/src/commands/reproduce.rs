//! `heddle reproduce`: a paper's claims.

use std::path::{Path, PathBuf};

use heddle_claims::{Effort, Finding, Paper, Request, report, table as findings};
use heddle_harness::evaluation::RomanRoads;
use heddle_papers::cflb::Cflb;
use heddle_papers::hula::Hula;
use heddle_papers::mp_hula::MpHula;
use heddle_report::Section;
use heddle_study::paper::SimulatedPaper;
use heddle_study::sensitivity;

use crate::args::{self, Common, Reproduce};
use crate::commands::capture::Spreading;
use crate::failure::Failure;
use crate::progress::GridBar;
use crate::{files, kept, output, table};

pub(crate) fn reproduce(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    if args.pcap.is_some() && !matches!(args.paper, args::Paper::Cflb) {
        return Err(Failure::usage(
            "only CFLB's evaluation spreads the flows of a capture",
            "heddle reproduce cflb --pcap FILE",
        ));
    }
    match args.paper {
        args::Paper::Hula => simulated::<Hula>(args, common),
        args::Paper::MpHula => simulated::<MpHula>(args, common),
        args::Paper::Cflb => simulated::<Cflb>(args, common),
        args::Paper::RomanRoads if args.sensitivity => Err(Failure::usage(
            "RomanRoads' evaluation has no --sensitivity",
            "heddle reproduce romanroads --quick",
        )),
        args::Paper::RomanRoads => claims::<RomanRoads>(args, common),
    }
}

fn effort(args: &Reproduce) -> Effort {
    if args.full { Effort::Full } else { Effort::Quick }
}

fn folder<P: Paper>(args: &Reproduce) -> PathBuf {
    let default = || Path::new("results").join(P::SYSTEM.to_lowercase());
    args.out.clone().unwrap_or_else(default)
}

fn simulated<P: SimulatedPaper>(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    if args.sensitivity { sensitivity::<P>(args, common) } else { claims::<P>(args, common) }
}

/// The claims that the user names, all if none.
fn claims<P: Paper>(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    let out = folder::<P>(args);
    let request = Request::<P>::new(&args.claims, effort(args), &out)?;
    let capture = args.pcap.as_deref().map(Spreading::of).transpose()?;
    let evidence = P::gather(&request, &GridBar::new(common))?;
    let found = request.findings(&evidence);
    write::<P>(&out, &evidence, &found, capture.as_ref())?;
    if common.json {
        return files::print_json(&found);
    }
    print(&found)?;
    capture.map_or(Ok(()), |capture| capture.print())?;
    if !common.quiet {
        eprintln!("wrote {}, claims.md, claims.json", out.join("report.html").display());
    }
    Ok(())
}

fn write<P: Paper>(
    out: &Path,
    evidence: &heddle_claims::Evidence<P>,
    found: &[Finding],
    capture: Option<&Spreading>,
) -> Result<(), Failure> {
    files::make_folder(out)?;
    let json = serde_json::to_string_pretty(found)?;
    files::write(&out.join("claims.json"), &json)?;
    files::write(&out.join("claims.md"), &findings::markdown(found))?;
    if let Some(measured) = P::measured(evidence) {
        files::write(&out.join("measured.json"), &measured)?;
    }
    let title = format!("{}'s evaluation, reproduced", P::SYSTEM);
    let page = report::<P>(&title, evidence, found);
    let Some(capture) = capture else { return files::write_report(out, &page) };
    let json = serde_json::to_string_pretty(capture)?;
    files::write(&out.join("capture.json"), &json)?;
    files::write_report(out, &capture.sections().fold(page, |page, s: Section| page.section(s)))
}

fn print(found: &[Finding]) -> Result<(), Failure> {
    let mut table = table::new(&["", "claim", "where", "paper", "here", "verdict"]);
    for finding in found {
        table.add_row(findings::cells(finding));
    }
    output::line(table)
}

/// The headline ratios with one change at a time.
fn sensitivity<P: SimulatedPaper>(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    let (effort, out) = (effort(args), folder::<P>(args));
    let runs = kept::simulate(&out, &sensitivity::cells::<P>(effort)?, common)?;
    let shifts = sensitivity::shifts::<P>(effort, &runs);
    let json = serde_json::to_string_pretty(&shifts)?;
    files::write(&out.join("sensitivity.json"), &json)?;
    files::write(&out.join("sensitivity.md"), &sensitivity::markdown::<P>(&shifts))?;
    if common.json {
        return files::print_json(&shifts);
    }
    let titles = P::HEADLINES.iter().map(|headline| headline.title);
    let mut table = table::new(&["changed"].into_iter().chain(titles).collect::<Vec<_>>());
    for shift in &shifts {
        let mut row = vec![shift.variant.to_owned()];
        row.extend(shift.ratios.iter().map(|(_, ratio)| table::figure(*ratio, 1.0, "x")));
        table.add_row(row);
    }
    output::line(table)
}
