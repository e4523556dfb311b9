//! `heddle reproduce`: a paper's claims.

use std::process::ExitCode;

use heddle_claims::possessive;
use heddle_driver::{Appendix, write_json};
use heddle_papers::cflb::Cflb;
use heddle_papers::hula::Hula;
use heddle_papers::mp_hula::MpHula;
use heddle_papers::uet::Uet;
use heddle_study::paper::SimulatedPaper;
use heddle_study::provenance::origin;
use heddle_study::sensitivity;
use serde_json::json;

use crate::args::{Common, Paper, Reproduce};
use crate::external;
use crate::failure::Failure;
use crate::files::Made;
use crate::progress::GridBar;
use crate::{files, kept, table};

pub(crate) fn reproduce(args: &Reproduce, common: &Common) -> Result<ExitCode, Failure> {
    if args.pcap.is_some() && !matches!(args.paper, Paper::Cflb) {
        return Err(Failure::usage(
            "only CFLB's evaluation spreads the flows of a capture",
            "heddle reproduce cflb --pcap FILE",
        ));
    }
    match args.paper {
        Paper::Hula => evaluate::<Hula>(args, common),
        Paper::MpHula => evaluate::<MpHula>(args, common),
        Paper::Cflb => evaluate::<Cflb>(args, common),
        Paper::Uet => evaluate::<Uet>(args, common),
        Paper::RomanRoads => return romanroads(args, common),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the balancer's program: it has the evaluation.
fn romanroads(args: &Reproduce, common: &Common) -> Result<ExitCode, Failure> {
    if args.sensitivity {
        return Err(without_sensitivity("RomanRoads"));
    }
    external::ROMANROADS.run(common, &args.options.arguments())
}

fn without_sensitivity(system: &str) -> Failure {
    let message = format!("{} evaluation has no --sensitivity", possessive(system));
    Failure::usage(message, format!("heddle reproduce {} --quick", system.to_lowercase()))
}

fn evaluate<P: SimulatedPaper>(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    if args.sensitivity && P::VARIANTS.is_empty() {
        return Err(without_sensitivity(P::SYSTEM));
    }
    if args.sensitivity {
        return sensitivity::<P>(args, common);
    }
    let (monitor, origin) = (GridBar::new(common), origin());
    let appendix = appendix(args)?;
    heddle_driver::reproduce::<P>(&args.options, common, (&monitor, &origin), appendix.as_deref())
}

/// The spread of the flows of a capture, if one is given.
#[cfg(feature = "captures")]
fn appendix(args: &Reproduce) -> Result<Option<Box<dyn Appendix>>, Failure> {
    let Some(path) = &args.pcap else { return Ok(None) };
    Ok(Some(Box::new(crate::commands::capture::Spreading::of(path)?)))
}

#[cfg(not(feature = "captures"))]
fn appendix(args: &Reproduce) -> Result<Option<Box<dyn Appendix>>, Failure> {
    crate::features::require(args.pcap.is_some(), false, "reader of captures").map(|()| None)
}

/// The headline ratios with one change at a time.
fn sensitivity<P: SimulatedPaper>(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    let (effort, folder) = (args.options.effort(), args.options.folder::<P>());
    let runs = kept::simulate(&folder, &sensitivity::cells::<P>(effort)?, common)?;
    let (origin, shifts) = (origin(), sensitivity::shifts::<P>(effort, &runs));
    let made = Made { origin: &origin, results: json!({ "ratios": shifts }) };
    write_json(&folder.join("sensitivity.json"), &made)?;
    let markdown = sensitivity::markdown::<P>(&shifts) + "\n" + &origin.markdown();
    files::write(&folder.join("sensitivity.md"), &markdown)?;
    if common.json {
        return files::print_json(&made);
    }
    let titles = P::HEADLINES.iter().map(|headline| headline.title);
    let mut table = table::new(&["changed"].into_iter().chain(titles).collect::<Vec<_>>());
    for shift in &shifts {
        let mut row = vec![shift.variant.to_owned()];
        row.extend(shift.ratios.iter().map(|(_, ratio)| table::figure(*ratio, 1.0, "x")));
        table.add_row(row);
    }
    table::print(&table, 1)
}
