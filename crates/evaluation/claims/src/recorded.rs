//! README's table of verdicts and the book's tables are those of the recordings.

use std::fs;
use std::path::{Path, PathBuf};

use crate::table::{AT_BUFFER, OVERLOADED};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A file of the repository.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Rows that follow from a count or a formula, without a simulation, a packet or a clock.
const ARITHMETIC: [&str; 4] = ["| H11 |", "| M7 |", "| C1 |", "by the formula"];

/// The cells of README's row of a recording; arithmetic is counted apart.
fn cells(folder: &str) -> Vec<String> {
    let claims = read(&format!("results/{folder}/claims.md"));
    let rows = claims.lines().skip(2).take_while(|line| line.starts_with('|'));
    let (arithmetic, measured): (Vec<&str>, Vec<&str>) =
        rows.partition(|row| ARITHMETIC.iter().any(|mark| row.contains(mark)));
    let count = |rows: &[&str], of: &[&str]| {
        let is = |row: &&&str| of.iter().any(|verdict| row.ends_with(&format!("| {verdict} |")));
        rows.iter().filter(is).count()
    };
    let columns: [&[&str]; 5] = [
        &["agrees"],
        &["direction only"],
        &["differs"],
        &["undecided"],
        &[OVERLOADED, AT_BUFFER, "run length"],
    ];
    let counts = columns.map(|of| count(&measured, of));
    assert_eq!(counts.iter().sum::<usize>(), measured.len(), "{folder}");
    let agree = count(&arithmetic, &["agrees"]);
    let last = if arithmetic.is_empty() {
        "-".to_owned()
    } else {
        format!("{agree} of {}", arithmetic.len())
    };
    counts.iter().map(usize::to_string).chain([last]).collect()
}

#[test]
fn readme_counts_the_verdicts_of_the_recordings() {
    let readme = read("README.md");
    for folder in
        ["hula-medium", "mp-hula-medium", "cflb-medium", "romanroads-medium", "uet-medium"]
    {
        let link = format!("(results/{folder}/claims.md)");
        let row = readme.lines().find(|line| line.starts_with("| `heddle") && line.contains(&link));
        let row = row.unwrap_or_else(|| panic!("README has no row of {folder}"));
        let shown: Vec<&str> = row.split(" | ").skip(1).take(6).collect();
        assert_eq!(shown, cells(folder), "{row}");
    }
}

/// A table that the book takes from a recording ends where the book ends it.
#[test]
fn the_book_has_whole_tables() {
    let page = read("docs/src/validation.md");
    let includes = page.lines().filter_map(|line| line.strip_prefix("{{#include ../../results/"));
    let mut tables = 0;
    for include in includes {
        let (path, lines) = include.trim_end_matches('}').split_once(':').expect("a range");
        let last: usize = lines.rsplit(':').next().and_then(|n| n.parse().ok()).expect("its end");
        let file = read(&format!("results/{path}"));
        let at = |line: usize| file.lines().nth(line - 1).unwrap_or_default();
        assert!(at(last).starts_with('|') && !at(last + 1).starts_with('|'), "{include}");
        tables += 1;
    }
    assert!(tables >= 5, "{tables}");
}
