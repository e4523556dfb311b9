//! `heddle demo`: the book shows what it prints.

use std::fs;
use std::path::Path;

use crate::support::Folder;

/// The table in a text, from its first corner to its last.
fn table(text: &str) -> &str {
    let end = text.find('┘').expect("a table ends") + '┘'.len_utf8();
    &text[text.find('┌').expect("a table begins")..end]
}

#[test]
fn the_table_is_the_books_and_every_row_is_steady() {
    let folder = Folder::new();
    let printed = folder.heddle("demo --out o").ok();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/getting-started.md");
    assert_eq!(table(&printed), table(&fs::read_to_string(page).unwrap()));
    let rows: Vec<&str> = table(&printed).lines().filter(|line| line.contains(" % ")).collect();
    assert_eq!(rows.len(), 3, "{printed}");
    assert!(rows.iter().all(|row| row.ends_with("steady │") && row.matches('x').count() == 3));
    assert!(folder.read("o/report.html").contains("<svg"));
}
