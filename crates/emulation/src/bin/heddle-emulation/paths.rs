//! Paths of flows by postcards, in `paths.csv`, the report and the terminal.

use std::path::Path;

use heddle_claims::files::write_atomically;
use heddle_emulation::{FlowPaths, Paths, Span};
use heddle_program::output::counted;
use heddle_program::{Failure, output};
use heddle_report::{Report, Section, Table};

/// Rows of the report's table, and paths of a row.
const ROWS: usize = 60;
const SPANS: usize = 8;

const HEADER: &str = "seed,protocol,from,to,source,source_port,destination,destination_port,start_s,end_s,packets,utilisation,path\n";

/// Writes a line for each time of each flow on a path; nothing without postcards.
pub(crate) fn write(folder: &Path, all: &[(u64, Paths)]) -> Result<(), Failure> {
    if all.is_empty() {
        return Ok(());
    }
    let mut text = HEADER.to_owned();
    for (seed, paths) in all {
        for flow in &paths.flows {
            flow.spans.iter().for_each(|span| text += &line(*seed, flow, span));
        }
    }
    Ok(write_atomically(&folder.join("paths.csv"), text.as_bytes())?)
}

fn line(seed: u64, of: &FlowPaths, span: &Span) -> String {
    let (source, destination) = (of.flow.source, of.flow.destination);
    format!(
        "{seed},{},{},{},{},{},{},{},{:.6},{:.6},{},{:.4},{}\n",
        of.flow.protocol,
        of.from,
        of.to,
        source.ip(),
        source.port(),
        destination.ip(),
        destination.port(),
        span.start,
        span.end,
        span.packets,
        span.utilisation,
        span.path.join(" ")
    )
}

/// Flows with data, those that moved most first.
fn shown(paths: &Paths) -> Vec<&FlowPaths> {
    let mut flows: Vec<&FlowPaths> = paths.flows.iter().filter(|flow| flow.has_data()).collect();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.moves()));
    flows
}

/// The report with a table of the first seed's flows.
pub(crate) fn add_to(report: Report, all: &[(u64, Paths)]) -> Report {
    let Some((seed, paths)) = all.first() else { return report };
    let flows = shown(paths);
    let rows = flows.iter().take(ROWS).map(|flow| {
        let spans =
            flow.spans.iter().take(SPANS).map(|span| {
                format!("{:.2} to {:.2} s: {}", span.start, span.end, span.path.join(" "))
            });
        let more = flow.spans.len().saturating_sub(SPANS);
        let more = (more > 0).then(|| format!("and {more} more"));
        [
            format!("{} to {}", flow.from, flow.to),
            format!("{} to {}", flow.flow.source, flow.flow.destination),
            flow.packets.to_string(),
            flow.moves().to_string(),
            spans.chain(more).collect::<Vec<_>>().join("; "),
        ]
    });
    let table = Table::new(["hosts", "flow or subflow", "packets", "moves", "paths, in order"]);
    let caption = format!(
        "By the switches' postcards of a sample of {} (seed {seed}); of {} more a part of the way is missing. Times are of the first and the last packet of the sample on a path. Flows with data, {} of {}; paths.csv has all.",
        counted(paths.packets, "packet"),
        paths.incomplete,
        flows.len().min(ROWS),
        flows.len()
    );
    let table = rows.fold(table, |table, row| table.row(row)).caption(caption);
    report.section(Section::new("paths", "Paths of flows").block(table))
}

/// A line for each seed.
pub(crate) fn print(all: &[(u64, Paths)]) -> Result<(), Failure> {
    for (seed, paths) in all {
        let flows = shown(paths);
        let moves: usize = flows.iter().map(|flow| flow.moves()).sum();
        let moved = flows.iter().filter(|flow| flow.moves() > 0).count();
        output::line(format_args!(
            "seed {seed}: postcards of {}: {} with data, {moved} of which moved, {} in all (paths.csv)",
            counted(paths.packets, "packet"),
            counted(flows.len() as u64, "flow"),
            counted(moves as u64, "time"),
        ))?;
    }
    Ok(())
}
