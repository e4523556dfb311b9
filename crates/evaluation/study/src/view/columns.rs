//! Quantities as text: columns of tables with one unit, which their heading names, and single ones.

use std::fmt::Display;

use heddle_claims::stats::Estimate;
use heddle_report::{Cell, Table};

/// The quantity of a column's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Times in seconds.
    Time,
    /// Sizes in bytes.
    Size,
    /// Rates in bits per second.
    Rate,
    /// Bare numbers.
    Number,
    /// Shares, 0 to 1.
    Share,
}

/// A unit and its size in that of the figures.
struct Unit {
    symbol: &'static str,
    size: f64,
}

/// Figures in a larger unit than the smallest one's are better than figures with as many digits.
const LARGE: f64 = 10_000.0;

/// Figures from here on have an exponent: ends of intervals of two seeds that differ much.
const HUGE: f64 = 1e7;

/// A column of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    name: String,
    cells: Vec<String>,
}

impl Quantity {
    /// Its units, from the smallest.
    const fn units(self) -> &'static [Unit] {
        const fn unit(symbol: &'static str, size: f64) -> Unit {
            Unit { symbol, size }
        }
        const TIME: &[Unit] =
            &[unit("ns", 1e-9), unit("µs", 1e-6), unit("ms", 1e-3), unit("s", 1.0)];
        const SIZE: &[Unit] = &[unit("B", 1.0), unit("KB", 1e3), unit("MB", 1e6), unit("GB", 1e9)];
        const RATE: &[Unit] = &[
            unit("bps", 1.0),
            unit("Kbps", 1e3),
            unit("Mbps", 1e6),
            unit("Gbps", 1e9),
            unit("Tbps", 1e12),
        ];
        const NUMBER: &[Unit] = &[unit("", 1.0)];
        const SHARE: &[Unit] = &[unit("%", 0.01)];
        match self {
            Quantity::Time => TIME,
            Quantity::Size => SIZE,
            Quantity::Rate => RATE,
            Quantity::Number => NUMBER,
            Quantity::Share => SHARE,
        }
    }

    /// The unit in which the smallest of some figures is 1 or more, unless the largest then has too
    /// many digits.
    fn unit_of(self, figures: &[f64]) -> &'static Unit {
        let sizes = || figures.iter().map(|figure| figure.abs()).filter(|size| *size > 0.0);
        let (smallest, largest) =
            (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
        let (first, larger) = self.units().split_first().expect("each quantity has a unit");
        larger.iter().fold(first, |unit, next| {
            let reads_well = next.size <= smallest && smallest.is_finite();
            if reads_well || largest / unit.size >= LARGE { next } else { unit }
        })
    }
}

impl Column {
    /// Figures, each with the ends of its confidence interval where there is one; "-" for none.
    pub fn figures(name: &str, quantity: Quantity, figures: &[Option<Estimate>]) -> Column {
        let means: Vec<f64> = figures.iter().flatten().map(|figure| figure.mean).collect();
        let unit = quantity.unit_of(&means);
        let smallest = means.iter().map(|mean| mean.abs()).filter(|size| *size > 0.0);
        let decimals = decimals(smallest.fold(f64::INFINITY, f64::min) / unit.size);
        let text = |figure: &Option<Estimate>| match figure {
            None => "-".to_owned(),
            Some(Estimate { mean, interval, .. }) => {
                let number = |value: f64| match value / unit.size {
                    size if size.abs() >= HUGE => format!("{size:.1e}"),
                    size => format!("{size:.decimals$}"),
                };
                // The ends stay together where a narrow column breaks.
                let ends = interval
                    .map(|(low, high)| format!(" ({}\u{a0}to\u{a0}{})", number(low), number(high)));
                number(*mean) + &ends.unwrap_or_default()
            }
        };
        let name = if unit.symbol.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({})", unit.symbol)
        };
        Column { name, cells: figures.iter().map(text).collect() }
    }

    /// Values of one run each.
    pub fn values(name: &str, quantity: Quantity, values: impl IntoIterator<Item = f64>) -> Column {
        let figures: Vec<_> = values.into_iter().map(|value| Estimate::of(&[value])).collect();
        Column::figures(name, quantity, &figures)
    }

    /// Texts and counts.
    pub fn texts<T: ToString>(name: &str, cells: impl IntoIterator<Item = T>) -> Column {
        Column {
            name: name.to_owned(),
            cells: cells.into_iter().map(|cell| cell.to_string()).collect(),
        }
    }

    /// True if no cell says anything: all are "-".
    fn is_empty(&self) -> bool {
        self.cells.iter().all(|cell| cell == "-")
    }
}

/// Decimals with which a number of this size has three digits.
fn decimals(size: f64) -> usize {
    match size {
        size if size >= 100.0 || !size.is_finite() => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    }
}

/// A table of the columns that say something.
pub(super) fn table(columns: Vec<Column>) -> Table {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let columns: Vec<Column> = columns.into_iter().filter(|column| !column.is_empty()).collect();
    let empty = Table::new(columns.iter().map(|column| column.name.as_str()));
    let cell = |column: &Column, row: usize| {
        Cell::from(column.cells.get(row).cloned().unwrap_or_default())
    };
    (0..rows).fold(empty, |table, row| table.row(columns.iter().map(|column| cell(column, row))))
}

/// A quantity with a space in front of its unit: "10 Gbps", "100 µs".
pub(super) fn spaced(quantity: impl Copy + Display) -> String {
    let text = quantity.to_string();
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    format!("{} {}", &text[..unit], text[unit..].replace("us", "µs")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(quantity: Quantity, values: &[f64]) -> (String, Vec<String>) {
        let Column { name, cells } = Column::values("x", quantity, values.iter().copied());
        (name, cells)
    }
    fn expected(name: &str, cells: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), cells.iter().map(|cell| (*cell).to_owned()).collect())
    }

    /// 0.004 ms is 4 µs; beside 1 ms it still is, beside 100 ms it would give six digits.
    #[test]
    fn a_column_has_the_unit_of_its_figures() {
        assert_eq!(of(Quantity::Time, &[4.16e-6]), expected("x (µs)", &["4.16"]));
        assert_eq!(of(Quantity::Time, &[118e-6, 1.006e-3]), expected("x (µs)", &["118", "1006"]));
        assert_eq!(of(Quantity::Time, &[4e-6, 0.1]), expected("x (ms)", &["0.004", "100.000"]));
        assert_eq!(of(Quantity::Time, &[2.3]), expected("x (s)", &["2.30"]));
        assert_eq!(of(Quantity::Size, &[0.0, 1_659_520.0]), expected("x (MB)", &["0.00", "1.66"]));
        assert_eq!(of(Quantity::Rate, &[107.28e9, 111.5e9]), expected("x (Gbps)", &["107", "112"]));
        assert_eq!(of(Quantity::Number, &[54.69]), expected("x", &["54.7"]));
        assert_eq!(of(Quantity::Share, &[0.935]), expected("x (%)", &["93.5"]));
        assert_eq!(of(Quantity::Time, &[]), expected("x (ns)", &[]));
    }

    #[test]
    fn intervals_have_the_unit_too_and_stay_together() {
        let of = |ends| Estimate::of(&[1.5e-3]).map(|e| Estimate { interval: Some(ends), ..e });
        let figures = [of((1e-3, 2.5e-3)), of((1e-3, 1e6)), None];
        let column = Column::figures("x", Quantity::Time, &figures);
        let ends = ["1.50 (1.00\u{a0}to\u{a0}2.50)", "1.50 (1.00\u{a0}to\u{a0}1.0e9)", "-"];
        assert_eq!(column.cells, ends);
    }

    #[test]
    fn columns_that_say_nothing_are_left_out() {
        let none = Column::figures("p99", Quantity::Time, &[None]);
        let table =
            table(vec![Column::texts("scheme", ["ecmp"]), none, Column::texts("drops", [0])]);
        assert_eq!(
            (table.columns, table.rows.len()),
            (vec!["scheme".to_owned(), "drops".to_owned()], 1)
        );
    }
}
