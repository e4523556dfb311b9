//! Profiles of a paper: their settings, and the findings under several of them side by side.

use std::path::Path;

use heddle_claims::files::{make_folder, write_atomically};
use heddle_claims::{Finding, Origin, Profile, UnknownProfile, table as findings};
use heddle_program::{Common, Failure, output, table};
use heddle_report::{Section, Table};
use serde::Serialize;

/// The findings under one profile.
pub(crate) type Judged = (&'static Profile, Vec<Finding>);

/// The file `profiles.json`.
#[derive(Serialize)]
struct Profiles<'a> {
    #[serde(flatten)]
    origin: &'a Origin,
    profiles: Vec<One<'a>>,
}

#[derive(Serialize)]
struct One<'a> {
    #[serde(flatten)]
    profile: &'static Profile,
    claims: &'a [Finding],
}

/// The failure of a profile that does not exist.
pub(crate) fn refused(error: &UnknownProfile) -> Failure {
    let help = format!("--profile {}, or --profile all", error.example);
    Failure::usage(error.to_string(), help)
}

/// The section of a report on a profile's settings.
pub(crate) fn settings(profile: &'static Profile) -> Section {
    let section = Section::new("profile", "Profile").block(sentence(profile).as_str());
    if profile.settings.is_empty() {
        return section;
    }
    let table = profile
        .settings
        .iter()
        .fold(Table::new(["Setting", "Value", "Source"]), |table, setting| {
            table.row([setting.key, setting.value, setting.source])
        });
    section.block(table)
}

/// A profile's settings as Markdown.
pub(crate) fn settings_markdown(profile: &Profile) -> String {
    let rows = profile.settings.iter();
    let rows = rows.map(|s| format!("- `{} = {}`: {}\n", s.key, s.value, s.source));
    format!("{}\n\n{}", sentence(profile), rows.collect::<String>())
        + if profile.settings.is_empty() { "" } else { "\n" }
}

fn sentence(profile: &Profile) -> String {
    format!("Profile {} ({}): {}.", profile.name, profile.basis.name(), profile.title)
}

/// Writes and prints the findings under several profiles.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn finish(
    folder: &Path,
    judged: &[Judged],
    origin: &Origin,
    common: &Common,
) -> Result<(), Failure> {
    let profiles = judged.iter().map(|(profile, claims)| One { profile, claims }).collect();
    let file = Profiles { origin, profiles };
    make_folder(folder)?;
    crate::write_json(&folder.join("profiles.json"), &file)?;
    let markdown = markdown(judged) + "\n" + &origin.markdown();
    write_atomically(&folder.join("profiles.md"), markdown.as_bytes())?;
    if common.json {
        return output::json(&file);
    }
    let header = header(judged);
    let mut table = table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for row in rows(judged) {
        table.add_row(row);
    }
    output::line(table)?;
    if !common.quiet {
        eprintln!("wrote {}, profiles.json", folder.join("profiles.md").display());
    }
    Ok(())
}

fn header(judged: &[Judged]) -> Vec<String> {
    let fixed = ["", "claim", "where", "paper"].map(String::from);
    let named = judged.iter().map(|(profile, _)| profile.name.to_owned());
    fixed.into_iter().chain(named).collect()
}

/// A row for each claim: id, claim, place, paper, and the value with its verdict under each
/// profile.
fn rows(judged: &[Judged]) -> Vec<Vec<String>> {
    let Some((_, first)) = judged.first() else { return Vec::new() };
    let row = |(index, finding): (usize, &Finding)| {
        let [id, claim, place, paper, ..] = findings::cells(finding);
        let under = judged.iter().filter_map(|(_, claims)| claims.get(index)).map(|finding| {
            let [.., here, verdict] = findings::cells(finding);
            format!("{here}, {verdict}")
        });
        [id, claim, place, paper].into_iter().chain(under).collect()
    };
    first.iter().enumerate().map(row).collect()
}

fn markdown(judged: &[Judged]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header = header(judged);
    let rule = format!("|{}\n", " --- |".repeat(header.len()));
    let rows: String = rows(judged).iter().map(|row| line(row)).collect();
    let settings: String =
        judged.iter().map(|(profile, _)| settings_markdown(profile) + "\n").collect();
    line(&header) + &rule + &rows + "\n" + &settings
}

#[cfg(test)]
mod tests;
