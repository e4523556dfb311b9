//! Figures in sentences of README and the book that results/ has.
//!
//! Behind such figures stands a mark, which readers do not see:
//!
//! ```text
//! 0.51 ± 0.11 <!-- 2 of results/lab/failure.json: /rows/1/lab_ratios -->
//! ```
//!
//! The last two figures before it are, as they are rounded, in that file, at the place behind the
//! colon: the lines that hold this text, or a JSON pointer (`/rows/1`) into a file of JSON. In a
//! table the mark has no `|`.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A number and its decimals.
#[derive(Debug, Clone, Copy)]
struct Figure {
    value: f64,
    decimals: usize,
}

impl Figure {
    /// True if a recorded number, rounded to as many decimals, is this one.
    fn rounds(self, recorded: f64) -> bool {
        let unit = 10f64.powi(-i32::try_from(self.decimals).expect("a few decimals"));
        (self.value - recorded).abs() <= unit * 0.500_001
    }
}

/// The numbers in a text, with commas between thousands; digits within a word are none.
fn figures(text: &str) -> Vec<Figure> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '_');
    let words = text.split(|c: char| !inside(c)).map(|word| word.trim_matches(['.', ',']));
    let figure = |word: &str| {
        let digits = word.trim_end_matches('x').replace(',', "");
        let value = digits.parse().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(Figure { value, decimals })
    };
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).filter_map(figure).collect()
}

/// The recorded numbers at a place of a file.
fn recorded(path: &str, place: &str) -> Vec<f64> {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let found = if place.starts_with('/') {
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json.pointer(place).map(ToString::to_string).unwrap_or_default()
    } else {
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(place)).collect();
        lines.join("\n")
    };
    assert!(!found.is_empty(), "{path} has no {place}");
    // Commas are between thousands in Markdown, between numbers elsewhere.
    let found = if path.ends_with(".md") { found } else { found.replace(',', " ") };
    figures(&found).into_iter().map(|figure| figure.value).collect()
}

/// A mark: the last `count` figures before it are in a file, at a place.
struct Mark<'a> {
    count: usize,
    path: &'a str,
    place: &'a str,
}

impl<'a> Mark<'a> {
    /// None for another comment. A mark that is misspelt fails, or nothing would be compared.
    fn parse(comment: &'a str) -> Option<Self> {
        let (count, of) = comment.split_once(" of ")?;
        if !of.starts_with("results/") {
            return None;
        }
        let (path, place) = of.split_once(": ").unwrap_or_else(|| panic!("no place: {comment}"));
        let count = count.parse().unwrap_or_else(|e| panic!("no number: {comment}: {e}"));
        Some(Self { count, path, place })
    }

    /// The figures before the mark that are not recorded there.
    fn wrong(&self, before: &str) -> Vec<String> {
        let Self { count, path, place } = *self;
        let shown = figures(before);
        let from = shown.len().checked_sub(count);
        let from = from.unwrap_or_else(|| panic!("{count} figures before {path}: {place}"));
        let numbers = recorded(path, place);
        let odd = shown[from..].iter().filter(|f| !numbers.iter().any(|&number| f.rounds(number)));
        odd.map(|figure| format!("{} is not in {path}, {place}", figure.value)).collect()
    }
}

/// Errors of a page's marks, and the number of marks.
fn check(page: &str) -> (Vec<String>, usize) {
    let mut parts = page.split("<!-- ");
    let mut before = parts.next().unwrap_or_default();
    let (mut wrong, mut marks) = (Vec::new(), 0);
    for part in parts {
        let (comment, after) = part.split_once(" -->").unwrap_or((part, ""));
        if let Some(mark) = Mark::parse(comment) {
            wrong.extend(mark.wrong(before));
            marks += 1;
        }
        before = after;
    }
    (wrong, marks)
}

/// Every page of a folder and of those below it.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn marked_figures_are_those_of_the_recordings() {
    let mut files = vec![root().join("README.md"), root().join("SECURITY.md")];
    pages(&root().join("docs/src"), &mut files);
    let mut total = 0;
    for file in files {
        let (wrong, marks) = check(&fs::read_to_string(&file).unwrap());
        assert!(wrong.is_empty(), "{}: {wrong:#?}", file.display());
        total += marks;
    }
    assert!(total >= 10, "{total}");
}

#[test]
fn a_figure_that_is_not_recorded_is_found() {
    let mark = "<!-- 1 of results/bench/README.md: times as many -->";
    assert_eq!(check(&format!("On 2 machines 58 times as fast {mark}")), (vec![], 1));
    assert_eq!(check(&format!("74 times as fast {mark}")).0.len(), 1);
}
