//! `heddle reproduce`: a paper's claims.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use heddle_report::Report;
use heddle_sim::Next;
use heddle_study::cflb::Cflb;
use heddle_study::evaluation::{
    Claim, Effort, Evidence, Experiment as _, Finding, Made, Paper, Point as _, Results, cells,
    in_order, sensitivity,
};
use heddle_study::hula::Hula;
use heddle_study::mp_hula::MpHula;
use heddle_study::report::{claims_markdown, finding_cells, of_paper};

use crate::args::{self, Common, Reproduce};
use crate::commands::capture::Spreading;
use crate::commands::romanroads;
use crate::failure::Failure;
use crate::{files, kept, output, progress, table};

pub(crate) fn reproduce(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    match args.paper {
        args::Paper::Hula => evaluate::<Hula>(args, common),
        args::Paper::MpHula => evaluate::<MpHula>(args, common),
        args::Paper::Cflb => evaluate::<Cflb>(args, common),
        args::Paper::RomanRoads => romanroads::reproduce(args, common),
    }
}

/// What the functions below share.
struct Task<'a> {
    effort: Effort,
    out: PathBuf,
    common: &'a Common,
    capture: Option<&'a Path>,
}

fn evaluate<P: Paper>(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    let out = args.out.clone().unwrap_or_else(|| default_folder::<P>());
    if args.pcap.is_some() && !matches!(args.paper, args::Paper::Cflb) {
        return Err(Failure::usage(
            "only CFLB's evaluation spreads the flows of a capture",
            "heddle reproduce cflb --pcap FILE",
        ));
    }
    let task = Task { effort, out, common, capture: args.pcap.as_deref() };
    if args.sensitivity { task.sensitivity::<P>() } else { task.claims::<P>(&args.claims) }
}

fn default_folder<P: Paper>() -> PathBuf {
    Path::new("results").join(P::SYSTEM.to_lowercase())
}

impl Task<'_> {
    /// The claims that the user names, all if none.
    fn claims<P: Paper>(&self, names: &[String]) -> Result<(), Failure> {
        let claims = chosen::<P>(names)?;
        let curves = if names.is_empty() { P::curves(self.effort) } else { Vec::new() };
        let capture = self.capture.map(Spreading::of).transpose()?;
        let evidence = self.gather(&claims, curves)?;
        let findings: Vec<Finding> = claims.iter().map(|claim| claim.find(&evidence)).collect();
        self.write(&evidence, &findings, capture.as_ref())?;
        if self.common.json {
            return files::print_json(&findings);
        }
        print(&findings)?;
        capture.map_or(Ok(()), |capture| capture.print())?;
        if !self.common.quiet {
            eprintln!("wrote {}, claims.md, claims.json", self.out.join("report.html").display());
        }
        Ok(())
    }

    /// One change at a time.
    fn sensitivity<P: Paper>(&self) -> Result<(), Failure> {
        let runs = kept::simulate(&self.out, &sensitivity::cells::<P>(self.effort)?, self.common)?;
        let shifts = sensitivity::shifts::<P>(self.effort, &runs);
        let json = serde_json::to_string_pretty(&shifts).map_err(anyhow::Error::from)?;
        files::write(&self.out.join("sensitivity.json"), &json)?;
        files::write(&self.out.join("sensitivity.md"), &sensitivity::markdown::<P>(&shifts))?;
        if self.common.json {
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

    /// Runs what the claims need, and some curves.
    fn gather<P: Paper>(
        &self,
        claims: &[&Claim<P>],
        curves: Vec<P::Point>,
    ) -> Result<Evidence<P>, Failure> {
        let points = in_order(claims.iter().flat_map(|claim| claim.points()).chain(curves));
        let runs = kept::simulate(&self.out, &cells(&points, self.effort)?, self.common)?;
        let results = Results::new(&points, self.effort, runs);
        Ok(Evidence { results, experiments: self.experiments(claims)? })
    }

    /// Makes each experiment that the claims need.
    fn experiments<P: Paper>(&self, claims: &[&Claim<P>]) -> Result<Made<P::Experiment>, Failure> {
        let mut made: Made<P::Experiment> = Vec::new();
        for experiment in claims.iter().filter_map(|claim| claim.experiment()) {
            if made.iter().any(|(done, _)| *done == experiment) {
                continue;
            }
            for &seed in experiment.seeds(self.effort) {
                if progress::next() == Next::Stop {
                    let said = "interrupted; finished runs are kept";
                    return Err(Failure::interrupted(said));
                }
                made.push((experiment, experiment.run(seed)?));
            }
        }
        Ok(made)
    }

    fn write<P: Paper>(
        &self,
        evidence: &Evidence<P>,
        findings: &[Finding],
        capture: Option<&Spreading>,
    ) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(findings).map_err(anyhow::Error::from)?;
        files::write(&self.out.join("claims.json"), &json)?;
        files::write(&self.out.join("claims.md"), &claims_markdown(findings))?;
        if let Some(measured) = P::measured(evidence) {
            files::write(&self.out.join("measured.json"), &format!("{measured:#}"))?;
        }
        let scenario = P::whole_fabric().scenario(self.effort)?;
        let title = format!("{}'s evaluation, reproduced", P::SYSTEM);
        let report = of_paper(&title, evidence, findings, &scenario.fabric.graph);
        let Some(capture) = capture else { return files::write_report(&self.out, &report) };
        let json = serde_json::to_string_pretty(capture).map_err(anyhow::Error::from)?;
        files::write(&self.out.join("capture.json"), &json)?;
        files::write_report(&self.out, &capture.sections().fold(report, Report::section))
    }
}

/// The claims that the user names, in the paper's order.
fn chosen<P: Paper>(names: &[String]) -> Result<Vec<&'static Claim<P>>, Failure> {
    let is = |claim: &Claim<P>, name: &String| claim.id.eq_ignore_ascii_case(name);
    let unknown = |name: &&String| !P::CLAIMS.iter().any(|claim| is(claim, name));
    if let Some(unknown) = names.iter().find(unknown) {
        let ids = || P::CLAIMS.iter().map(|claim| claim.id);
        let (first, last) = (ids().next().unwrap_or("-"), ids().next_back().unwrap_or("-"));
        let system = P::SYSTEM;
        let said = anyhow!("there is no claim {unknown}; {system}'s are {first} to {last}");
        return Err(said.into());
    }
    let wanted = |claim: &&Claim<P>| names.is_empty() || names.iter().any(|name| is(claim, name));
    Ok(P::CLAIMS.iter().filter(wanted).collect())
}

pub(super) fn print(findings: &[Finding]) -> Result<(), Failure> {
    let mut table = table::new(&["", "claim", "where", "paper", "here", "verdict"]);
    for finding in findings {
        table.add_row(finding_cells(finding));
    }
    output::line(table)
}
