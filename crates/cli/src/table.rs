//! Cells of tables: figures with units, flow completion times.

use std::ops::Range;

use comfy_table::{ColumnConstraint, ContentArrangement, Table};
use heddle_claims::stats::Estimate;
pub(crate) use heddle_program::table::{new, of_words};
use heddle_study::results::{Classes, OverSeeds};

use crate::failure::Failure;
use crate::output;

/// Seconds as milliseconds, with the ends of the confidence interval where there is one.
pub(crate) fn millis(seconds: Option<Estimate>) -> String {
    figure(seconds, 1e3, "ms")
}

/// An estimate in a unit.
pub(crate) fn figure(estimate: Option<Estimate>, scale: f64, unit: &str) -> String {
    let Some(Estimate { mean, interval, .. }) = estimate else { return "-".into() };
    let space = if unit == "x" { "" } else { " " };
    let ends = interval.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", short(low * scale), short(high * scale))
    });
    format!("{}{space}{unit}{ends}", short(mean * scale))
}

/// Three significant digits or so.
pub(crate) fn short(figure: f64) -> String {
    match figure.abs() {
        x if x >= 1e7 => format!("{figure:.1e}"),
        x if x >= 1000.0 || (x >= 100.0 && x.fract() == 0.0) => format!("{figure:.0}"),
        x if x >= 100.0 => format!("{figure:.1}"),
        x if x >= 1.0 || x == 0.0 => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}

/// Header of rows made by [`fct_row`], behind the columns that name the row.
pub(crate) fn fct_header(classes: &Classes) -> Vec<String> {
    let titles = classes.0.iter().map(|class| class.title.clone());
    let first = ["mean FCT", "median", "p95", "p99"].map(str::to_owned).into_iter();
    let last = ["slowdown", "bound", "unfinished", "drops", "timeouts", "state"].map(str::to_owned);
    first.chain(titles).chain(last).collect()
}

/// A scenario's flow completion times, with the means of some classes of sizes.
pub(crate) fn fct_row(over: &OverSeeds, classes: &Classes) -> Vec<String> {
    let times = [over.fct_mean, over.fct_p50, over.fct_p95, over.fct_p99].into_iter();
    let by_class = classes.0.iter().map(|class| over.classes.named(&class.name)?.fct_mean);
    let mut row: Vec<String> = times.chain(by_class).map(millis).collect();
    row.push(figure(over.slowdown_mean, 1.0, "x"));
    row.push(
        over.fct_mean_bound
            .map_or_else(|| "-".into(), |bound| format!("{} ms", short(bound.mean * 1e3))),
    );
    let flows = &over.flows;
    row.push(format!("{} of {}", flows.unfinished, flows.measured));
    row.extend([flows.dropped.to_string(), flows.timeouts.to_string()]);
    row.push(over.steadiness.text().to_owned());
    row
}

/// Times and slowdowns of the classes of sizes that have flows; `None` if fewer than two have any.
pub(crate) fn of_classes(classes: &Classes) -> Option<Table> {
    let with_flows: Vec<_> = classes.0.iter().filter(|class| class.fct_mean.is_some()).collect();
    if with_flows.len() < 2 {
        return None;
    }
    let mut table = new(&["flows of", "mean FCT", "p99 FCT", "mean slowdown", "p99 slowdown"]);
    for class in with_flows {
        table.add_row([
            class.title.clone(),
            millis(class.fct_mean),
            millis(class.fct_p99),
            figure(class.slowdown_mean, 1.0, "x"),
            figure(class.slowdown_p99, 1.0, "x"),
        ]);
    }
    Some(table)
}

/// Prints a table no wider than the terminal: columns that do not fit come below, behind the first
/// `names` columns again.
pub(crate) fn print(table: &Table, names: usize) -> Result<(), Failure> {
    parts(table, names, terminal_width()).iter().try_for_each(output::line)
}

/// A table in parts no wider than `width`, each with the first `names` columns and as many of the
/// others as fit; cells of a part that is too wide with a single other column are broken into
/// lines. Whole if it fits.
fn parts(table: &Table, names: usize, width: Option<u16>) -> Vec<Table> {
    let widths: Vec<usize> =
        table.column_max_content_widths().into_iter().map(usize::from).collect();
    let Some(width) = width.filter(|&width| with_borders(&widths) > usize::from(width)) else {
        return vec![table.clone()];
    };
    let free = usize::from(width).saturating_sub(with_borders(&widths[..names]));
    let mut first = names;
    let mut parts = Vec::new();
    while first < widths.len() {
        let behind = first + fitting(&widths[first..], free).max(1);
        parts.push(part(table, names, first..behind, width));
        first = behind;
    }
    parts
}

/// The characters of a line: each cell has a space on both sides and a border.
fn with_borders(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + 3).sum::<usize>() + 1
}

/// The number of columns that fit behind others.
fn fitting(widths: &[usize], free: usize) -> usize {
    (1..=widths.len()).take_while(|&count| with_borders(&widths[..count]) - 1 <= free).count()
}

fn part(table: &Table, names: usize, shown: Range<usize>, width: u16) -> Table {
    let mut part = table.clone();
    for (index, column) in part.column_iter_mut().enumerate() {
        if index >= names && !shown.contains(&index) {
            column.set_constraint(ColumnConstraint::Hidden);
        }
    }
    part.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    part
}

/// Columns of the terminal that standard output is; `None` if it is none, so that other programs
/// get whole lines.
fn terminal_width() -> Option<u16> {
    let terminal = console::Term::stdout();
    terminal.is_term().then(|| terminal.size().1)
}

/// Prints what a reader must know before figures are compared.
pub(crate) fn print_remarks(remarks: &[String]) -> Result<(), Failure> {
    remarks.iter().try_for_each(|remark| output::line(format_args!("warning: {remark}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_or_so() {
        for (figure, text) in [
            (0.0, "0.00"),
            (0.0404, "0.040"),
            (0.61, "0.610"),
            (1.5, "1.50"),
            (99.5, "99.50"),
            (100.0, "100"),
            (123.45, "123.5"),
            (1234.5, "1234"),
            (-2.5, "-2.50"),
            (2.34e16, "2.3e16"),
        ] {
            assert_eq!(short(figure), text);
        }
    }

    #[test]
    fn figures_have_their_unit_and_their_interval() {
        assert_eq!(figure(None, 1e3, "ms"), "-");
        assert_eq!(millis(Estimate::of(&[0.0015])), "1.50 ms");
        let estimate = Estimate::of(&[1.0, 3.0]);
        let of = |ends| estimate.map(|one| Estimate { interval: Some(ends), ..one });
        assert_eq!(figure(of((0.5, 8.0)), 1.0, "x"), "2.00x (0.500 to 8.00)");
        assert_eq!(figure(of((0.5, 8.0)), 1e3, "ms"), "2000 ms (500 to 8000)");
    }

    #[test]
    fn a_row_has_a_cell_for_each_heading() {
        let over = OverSeeds::new(&[]);
        let row = fct_row(&over, &over.classes);
        assert_eq!(row.len(), fct_header(&over.classes).len());
        assert_eq!(row[..7], ["-", "-", "-", "-", "-", "-", "0 of 0"]);
    }

    #[test]
    fn columns_that_do_not_fit_come_below_behind_the_names_again() {
        let mut table = new(&["scheme", "mean", "median", "p99"]);
        table.add_row(["hula", "12.34 ± 0.56 ms", "9.87 ± 0.12 ms", "80.1 ± 4.3 ms"]);
        let text = |width| parts(&table, 1, width).iter().map(Table::to_string).collect::<Vec<_>>();
        assert_eq!(text(None).len(), 1);
        assert_eq!(text(Some(61)).len(), 1, "it is as wide as that");
        let [upper, lower] = &text(Some(60))[..] else { panic!("two parts") };
        for (part, has) in [(upper, ["mean", "9.87 ± 0.12 ms"]), (lower, ["p99", "80.1 ± 4.3 ms"])]
        {
            assert!(part.contains("hula") && has.iter().all(|text| part.contains(text)), "{part}");
            assert!(part.lines().all(|line| line.chars().count() <= 60), "{part}");
        }
        assert!(!upper.contains("p99") && !lower.contains("mean"));
    }

    #[test]
    fn a_part_of_one_column_that_does_not_fit_is_broken_into_lines() {
        let mut table = new(&["scheme", "mean"]);
        table.add_row(["hula", "12.34 ± 0.56 ms"]);
        let [part] = &parts(&table, 1, Some(24))[..] else { panic!("one part") };
        assert!(part.lines().all(|line| line.chars().count() <= 24), "{part}");
    }
}
