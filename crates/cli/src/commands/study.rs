//! `heddle study`: questions that a paper leaves to future work.

use heddle_claims::Effort;
use heddle_driver::write_json;
use heddle_papers::studies::{Point, Study, Table, markdown, report};
use heddle_study::point::{Results, cells};
use heddle_study::provenance::origin;
use serde_json::json;

use crate::args::{self, Common};
use crate::failure::Failure;
use crate::files::Made;
use crate::{files, kept, output, table};

pub(crate) fn study(args: &args::Study, common: &Common) -> Result<(), Failure> {
    let effort = Effort::of(args.medium, args.full);
    let studies = chosen(&args.studies);
    let points: Vec<Point> = studies.iter().flat_map(|study| study.points(effort)).collect();
    let runs = kept::simulate(&args.out, &cells(&points, effort)?, common)?;
    let results = Results::new(&points, effort, runs);
    let tables: Vec<Table> = studies.iter().map(|&study| Table::new(study, &results)).collect();
    let origin = origin();
    let made = Made { origin: &origin, results: json!({ "studies": tables }) };
    write_json(&args.out.join("study.json"), &made)?;
    for &study in &studies {
        let runs = Table::runs_as_csv(study, &results);
        files::write(&args.out.join(format!("{}.csv", study.name())), &runs)?;
    }
    let texts: Vec<String> = studies.iter().map(|&study| markdown(study, &results)).collect();
    files::write(&args.out.join("study.md"), &(texts.join("\n") + "\n" + &origin.markdown()))?;
    files::write_report(&args.out, &report(&studies, &results).section(origin.section()))?;
    if common.json {
        return files::print_json(&made);
    }
    studies.iter().zip(&tables).try_for_each(|(&study, table)| print(study, table))?;
    if !common.quiet {
        eprintln!(
            "wrote {}, study.md, study.json, and each run in STUDY.csv",
            args.out.join("report.html").display()
        );
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
    output::line(format_args!("{}\n{}", study.title(), study.about()))?;
    table::print(&table, 1)?;
    output::line("")
}
