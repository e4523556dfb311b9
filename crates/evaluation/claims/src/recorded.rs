//! README's table of verdicts and the book's tables are those of the recordings.

use std::fs;
use std::path::{Path, PathBuf};

use crate::table::{AT_BUFFER, OVERLOADED};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The verdicts in a file of claims, one for each row of its table.
fn verdicts(claims: &str) -> Vec<String> {
    let verdict = |line: &str| Some(line.strip_suffix(" |")?.rsplit(" | ").next()?.to_owned());
    claims.lines().skip(2).map_while(verdict).collect()
}

/// The cells of README's row of a recording; arithmetic, which agrees, is counted apart.
fn cells(folder: &str, arithmetic: usize) -> [usize; 5] {
    let verdicts = verdicts(&read(&format!("results/{folder}/claims.md")));
    let count = |of: &[&str]| verdicts.iter().filter(|v| of.contains(&v.as_str())).count();
    let [agrees, direction, differs, undecided] =
        ["agrees", "direction only", "differs", "undecided"].map(|verdict| count(&[verdict]));
    let not_judged = count(&[OVERLOADED, AT_BUFFER, "run length"]);
    assert_eq!(agrees + direction + differs + undecided + not_judged, verdicts.len(), "{folder}");
    [agrees - arithmetic, direction, differs, undecided, not_judged]
}

#[test]
fn readme_counts_the_verdicts_of_the_recordings() {
    let readme = read("README.md");
    for (folder, arithmetic) in
        [("hula-medium", 9), ("mp-hula-medium", 2), ("cflb-quick", 0), ("romanroads-quick", 0)]
    {
        let link = format!("(results/{folder}/claims.md)");
        let row = readme.lines().find(|line| line.starts_with("| `heddle") && line.contains(&link));
        let row = row.unwrap_or_else(|| panic!("README has no row of {folder}"));
        let shown: Vec<&str> = row.split(" | ").skip(1).take(5).collect();
        assert_eq!(shown, cells(folder, arithmetic).map(|count| count.to_string()), "{row}");
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
