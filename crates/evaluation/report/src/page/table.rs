//! Tables and the badges in them.

use super::prose::inline;
use crate::draw::escape;
use crate::model::{Cell, Status, Table};

/// Columns of a table that may be wider than the text.
const WIDE: usize = 6;
/// Columns of a table that a phone shows; of more, rows become cards there.
const NARROW: usize = 2;

/// The table inside a box. Cells are named by their columns, so that the styles can show a row as a
/// card where the page is narrow.
pub(crate) fn table(table: &Table) -> String {
    let caption = match table.caption.as_str() {
        "" => String::new(),
        text => format!("<caption>{}</caption>", inline(text)),
    };
    let numeric: Vec<bool> = (0..table.columns.len()).map(|c| is_numeric(table, c)).collect();
    let class = |column: usize| if numeric[column] { " class=\"number\"" } else { "" };
    let header = table.columns.iter().enumerate();
    let header: String = header
        .map(|(c, name)| format!("<th scope=\"col\"{}>{}</th>", class(c), escape(name)))
        .collect();
    let empty = Cell::default();
    let (is_wide, has_cards) = (table.columns.len() > WIDE, table.columns.len() > NARROW);
    let names: Vec<String> = table.columns.iter().map(|name| escape(name)).collect();
    let name = |c: usize| match has_cards {
        true => format!(" data-column=\"{}\"", names[c]),
        false => String::new(),
    };
    let row = |cells: &Vec<Cell>| {
        let cell = |c| {
            let cell = cells.get(c).unwrap_or(&empty);
            format!("<td{}{}>{}</td>", class(c), name(c), content(cell))
        };
        format!("<tr>{}</tr>\n", (0..table.columns.len()).map(cell).collect::<String>())
    };
    let box_class = [("table", true), (" wide", is_wide), (" cards", has_cards)];
    let box_class: String =
        box_class.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
    let body: String = table.rows.iter().map(row).collect();
    format!(
        "<div class=\"{box_class}\" tabindex=\"0\"><table>{caption}<thead><tr>{header}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )
}

fn content(cell: &Cell) -> String {
    let text = inline(&cell.text);
    match cell.status {
        None => text,
        Some(status) => {
            let (class, sign) = badge(status);
            format!(
                "<span class=\"badge {class}\"><span aria-hidden=\"true\">{sign}</span> {text}</span>"
            )
        }
    }
}

fn badge(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Good => ("good", "✓"),
        Status::Bad => ("bad", "✗"),
        Status::Neutral => ("neutral", "–"),
        Status::Warn => ("warn", "!"),
    }
}

/// True if all filled cells of a column begin as numbers do, and at least one is filled.
fn is_numeric(table: &Table, column: usize) -> bool {
    let cells = table.rows.iter().filter_map(|row| row.get(column));
    let mut filled = cells.filter(|cell| !cell.text.trim().is_empty()).peekable();
    let number = |cell: &Cell| {
        let text = cell.text.trim().trim_start_matches(['-', '−', '+', '<', '>', '≈', '±']);
        cell.status.is_none() && text.starts_with(|c: char| c.is_ascii_digit())
    };
    filled.peek().is_some() && filled.all(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_take_the_shape_of_the_header() {
        let t = Table::new(["a", "b"]).row(["1"]).row(["2", "x", "lost"]);
        let html = table(&t);
        assert!(html.contains("<td class=\"number\">1</td><td></td>"), "{html}");
        assert!(!html.contains("lost"));
    }

    /// Three columns do not fit on a phone: each cell carries the name of its column.
    #[test]
    fn rows_of_more_than_two_columns_can_be_cards() {
        let html = table(&Table::new(["scheme", "p99 (ms)", "<drops>"]).row(["ecmp", "1.2", "0"]));
        assert!(html.contains("<div class=\"table cards\""), "{html}");
        assert!(html.contains("<td class=\"number\" data-column=\"p99 (ms)\">1.2</td>"), "{html}");
        assert!(html.contains("data-column=\"&lt;drops&gt;\""), "{html}");
        assert!(!table(&Table::new(["key", "value"]).row(["a", "1"])).contains("data-column"));
    }

    #[test]
    fn columns_of_numbers_are_set_flush_right() {
        let t = Table::new(["load", "gain", "verdict", "none"])
            .row(["60 %", "−1.5x", "yes", ""])
            .row(["", "+3x", "7 of 8", ""]);
        let numeric: Vec<_> = (0..4).map(|c| is_numeric(&t, c)).collect();
        assert_eq!(numeric, [true, true, false, false]);
    }

    #[test]
    fn badges_have_a_sign_beside_their_colour() {
        let html = content(&Cell::badge("holds <", Status::Good));
        let sign = "<span aria-hidden=\"true\">✓</span>";
        assert_eq!(html, format!("<span class=\"badge good\">{sign} holds &lt;</span>"));
    }
}
