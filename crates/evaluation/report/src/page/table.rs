//! Tables and the badges in them.

use super::prose::inline;
use crate::draw::escape;
use crate::model::{Cell, Status, Table};

/// Columns of a table that may be wider than the text.
const WIDE: usize = 7;

/// The table inside a box that scrolls sideways where the page is narrow.
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
    let row = |cells: &Vec<Cell>| {
        let cell = |c| format!("<td{}>{}</td>", class(c), content(cells.get(c).unwrap_or(&empty)));
        format!("<tr>{}</tr>\n", (0..table.columns.len()).map(cell).collect::<String>())
    };
    let box_class = if table.columns.len() > WIDE { "table wide" } else { "table" };
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
