//! Runs a paper's evaluation from a command line. One driver serves every [`Paper`]: it selects
//! claims, runs the experiments, writes `claims.json`, `claims.md`, `measured.json` and
//! `report.html`, and prints the findings. Under several profiles it writes `profiles.md` and
//! `profiles.json` as well: the findings side by side.

mod options;
mod profiles;
#[cfg(test)]
mod tests;

use std::path::Path;

use heddle_claims::files::{make_folder, write_atomically, write_report};
use heddle_claims::{
    Evidence, Finding, Monitor, Origin, Paper, Profile, Request, possessive, report,
    table as findings,
};
use heddle_program::{Common, Failure, output, table};
use heddle_report::Section;
use serde::Serialize;

pub use options::Options;

/// Further results, behind the paper's own.
pub trait Appendix {
    /// Sections of the report.
    fn sections(&self) -> Vec<Section>;

    /// Writes files into the results' folder.
    ///
    /// # Errors
    /// If one cannot be written.
    fn write(&self, folder: &Path) -> Result<(), Failure>;

    /// Prints tables.
    ///
    /// # Errors
    /// If standard output cannot be written.
    fn print(&self) -> Result<(), Failure>;
}

/// The file `claims.json`.
#[derive(Debug, Serialize)]
struct Claims<'a> {
    #[serde(flatten)]
    origin: &'a Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'static Profile>,
    claims: &'a [Finding],
}

/// Judges the claims that the options name, all if none: experiments, files, tables. Every file
/// says its origin.
///
/// # Errors
/// If there is no such claim, an experiment fails or is interrupted, or a file cannot be written.
pub fn reproduce<P: Paper>(
    options: &Options,
    common: &Common,
    (monitor, origin): (&dyn Monitor, &Origin),
    appendix: Option<&dyn Appendix>,
) -> Result<(), Failure> {
    let chosen = options.profiles::<P>().map_err(|error| profiles::refused(&error))?;
    let mut judged = Vec::new();
    for profile in &chosen {
        let folder = options.folder_of::<P>(profile);
        let request = Request::<P>::new(&options.claims, options.effort(), profile, &folder)?;
        let evidence = P::gather(&request, monitor)?;
        let findings = request.findings(&evidence);
        let named = (P::PROFILES.len() > 1).then_some(*profile);
        let claims = Claims { origin, profile: named, claims: &findings };
        write::<P>(&folder, &evidence, &claims, appendix)?;
        if !common.quiet && !common.json {
            eprintln!("wrote {}, claims.md, claims.json", folder.join("report.html").display());
        }
        judged.push((*profile, findings));
    }
    match judged.as_slice() {
        [(profile, findings)] => {
            let named = (P::PROFILES.len() > 1).then_some(*profile);
            show(&Claims { origin, profile: named, claims: findings }, common)?;
        }
        several => profiles::finish(&options.folder::<P>(), several, origin, common)?,
    }
    match appendix {
        Some(appendix) if !common.json => appendix.print(),
        _ => Ok(()),
    }
}

fn show(claims: &Claims<'_>, common: &Common) -> Result<(), Failure> {
    if common.json { output::json(claims) } else { print(claims.claims) }
}

fn write<P: Paper>(
    folder: &Path,
    evidence: &Evidence<P>,
    claims: &Claims<'_>,
    appendix: Option<&dyn Appendix>,
) -> Result<(), Failure> {
    make_folder(folder)?;
    write_json(&folder.join("claims.json"), claims)?;
    let settings = claims.profile.map(profiles::settings_markdown).unwrap_or_default();
    let markdown = findings::markdown(claims.claims) + "\n" + &settings + &claims.origin.markdown();
    write_atomically(&folder.join("claims.md"), markdown.as_bytes())?;
    if let Some(measured) = P::measured(evidence) {
        write_atomically(&folder.join("measured.json"), measured.as_bytes())?;
    }
    appendix.map_or(Ok(()), |appendix| appendix.write(folder))?;
    let title = format!("{} evaluation, reproduced", possessive(P::SYSTEM));
    let sections = appendix.map(Appendix::sections).unwrap_or_default();
    let report = report::<P>(&title, evidence, claims.claims);
    let settings = claims.profile.map(profiles::settings);
    let sections = sections.into_iter().chain(settings).chain([claims.origin.section()]);
    Ok(write_report(folder, &sections.fold(report, heddle_report::Report::section))?)
}

/// Writes a value as JSON.
///
/// # Errors
/// If the value has no JSON form or the file cannot be written.
pub fn write_json(path: &Path, value: &(impl Serialize + ?Sized)) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(value)?;
    Ok(write_atomically(path, json.as_bytes())?)
}

fn print(found: &[Finding]) -> Result<(), Failure> {
    let mut table = table::new(&["", "claim", "where", "paper", "here", "verdict"]);
    for finding in found {
        table.add_row(findings::cells(finding));
    }
    output::line(table)?;
    let remarks = findings::remarks(found);
    remarks.iter().try_for_each(|remark| output::line(format_args!("warning: {remark}")))
}
