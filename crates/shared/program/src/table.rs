//! Tables on a terminal, which `grep` can read too.

use comfy_table::presets;
pub use comfy_table::{CellAlignment, Table};

/// A table of numbers: the first column is aligned to the left, the others to the right.
#[must_use]
pub fn new(header: &[&str]) -> Table {
    let mut table = of_words(header);
    for column in 1..header.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table of words.
#[must_use]
pub fn of_words(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header);
    table
}
