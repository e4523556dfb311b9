//! `heddle diff`: two results side by side.

use std::path::{Path, PathBuf};

use heddle_study::compare::{Comparison, compare};
use serde_json::Value;

use crate::args::{Common, Diff};
use crate::failure::Failure;
use crate::{files, output, table};

pub(crate) fn diff(args: &Diff, common: &Common) -> Result<(), Failure> {
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let comparison = compare(&before, &after);
    if common.json {
        return files::print_json(&comparison);
    }
    print(&comparison)
}

/// The result in a file, or in a folder of `run` or `sweep`.
fn read(path: &Path) -> Result<Value, Failure> {
    let names = ["summary.json", "sweep.json"];
    let inside = || names.iter().map(|name| path.join(name)).find(|path| path.is_file());
    let file: PathBuf =
        if path.is_dir() { inside().unwrap_or(path.join(names[0])) } else { path.to_owned() };
    let text = heddle_path_files::files::read_limited(&file)
        .map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
    Ok(serde_json::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?)
}

fn print(comparison: &Comparison) -> Result<(), Failure> {
    for (key, before, after) in &comparison.origin {
        output::line(format_args!("{key}: {before} -> {after}"))?;
    }
    for only in &comparison.unmatched {
        output::line(format_args!("in one of both only: {only}"))?;
    }
    if comparison.figures.is_empty() {
        return output::line("every figure is the same");
    }
    let mut rows = table::new(&["row", "figure", "before", "after", "change", ""]);
    for figure in &comparison.figures {
        let note = if figure.is_beyond_noise { "beyond both intervals" } else { "" };
        rows.add_row([
            figure.row.clone(),
            figure.name.clone(),
            number(figure.before),
            number(figure.after),
            figure.change_percent.map_or_else(|| "-".into(), |change| format!("{change:+.2} %")),
            note.to_owned(),
        ]);
    }
    table::print(&rows, 2)
}

/// Counts as whole numbers, times to a microsecond, rates to a tenth.
fn number(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        1e3.. => format!("{value:.1}"),
        _ => format!("{value:.6}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_no_decimals() {
        assert_eq!(
            [7717.0, 3817873903.415838, 0.0723781].map(number),
            ["7717", "3817873903.4", "0.072378"]
        );
    }
}
