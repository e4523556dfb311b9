//! `heddle study`: questions that a paper leaves to future work.

use heddle_claims::Effort;
use heddle_papers::studies::{Point, Study, Table, markdown, report};
use heddle_study::point::{Results, cells};

use crate::args::{self, Common};
use crate::failure::Failure;
use crate::{files, kept, output, table};

pub(crate) fn study(args: &args::Study, common: &Common) -> Result<(), Failure> {
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    let studies = chosen(&args.studies);
    let points: Vec<Point> = studies.iter().flat_map(|study| study.points(effort)).collect();
    let runs = kept::simulate(&args.out, &cells(&points, effort)?, common)?;
    let results = Results::new(&points, effort, runs);
    let tables: Vec<Table> = studies.iter().map(|&study| Table::new(study, &results)).collect();
    let json = serde_json::to_string_pretty(&tables).map_err(anyhow::Error::from)?;
    files::write(&args.out.join("study.json"), &json)?;
    let texts: Vec<String> = studies.iter().map(|&study| markdown(study, &results)).collect();
    files::write(&args.out.join("study.md"), &texts.join("\n"))?;
    files::write_report(&args.out, &report(&studies, &results))?;
    if common.json {
        return files::print_json(&tables);
    }
    studies.iter().zip(&tables).try_for_each(|(&study, table)| print(study, table))?;
    if !common.quiet {
        eprintln!("wrote {}, study.md, study.json", args.out.join("report.html").display());
    }
    Ok(())
}

/// The studies that the user names, each once, in their order.
fn chosen(names: &[args::StudyName]) -> Vec<Study> {
    let named = |study: &Study| names.iter().any(|&name| Study::from(name) == *study);
    Study::ALL.into_iter().filter(|study| names.is_empty() || named(study)).collect()
}

fn print(study: Study, found: &Table) -> Result<(), Failure> {
    let mut table = table::new(&Table::header(study));
    for row in found.text(study) {
        table.add_row(row);
    }
    output::line(format_args!("{}\n{}\n{table}\n", study.title(), study.about()))
}
