//! Cells of tables: figures with units, flow completion times.

use heddle_claims::stats::Estimate;
pub(crate) use heddle_program::table::{new, of_words};
use heddle_study::results::OverSeeds;

/// Seconds as milliseconds, with the half width of the confidence interval where there is one.
pub(crate) fn millis(seconds: Option<Estimate>) -> String {
    figure(seconds, 1e3, "ms")
}

/// An estimate in a unit.
pub(crate) fn figure(estimate: Option<Estimate>, scale: f64, unit: &str) -> String {
    let Some(Estimate { mean, half_width, .. }) = estimate else { return "-".into() };
    let space = if unit == "x" { "" } else { " " };
    match half_width {
        Some(half) => format!("{} ± {}{space}{unit}", short(mean * scale), short(half * scale)),
        None => format!("{}{space}{unit}", short(mean * scale)),
    }
}

/// Three significant digits or so.
pub(crate) fn short(figure: f64) -> String {
    match figure.abs() {
        x if x >= 1000.0 || (x >= 100.0 && x.fract() == 0.0) => format!("{figure:.0}"),
        x if x >= 100.0 => format!("{figure:.1}"),
        x if x >= 1.0 || x == 0.0 => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}

/// Header of rows made by [`fct_row`], behind the columns that name the row.
pub(crate) const FCT_HEADER: [&str; 8] =
    ["mean FCT", "median", "p95", "p99", "< 100 KB", "100 KB-10 MB", "> 10 MB", "slowdown"];

/// A scenario's flow completion times.
pub(crate) fn fct_row(over: &OverSeeds) -> Vec<String> {
    let times = [
        over.fct_mean,
        over.fct_p50,
        over.fct_p95,
        over.fct_p99,
        over.fct_mean_small,
        over.fct_mean_medium,
        over.fct_mean_large,
    ];
    let mut row: Vec<String> = times.into_iter().map(millis).collect();
    row.push(figure(over.slowdown_mean, 1.0, "x"));
    row
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
        ] {
            assert_eq!(short(figure), text);
        }
    }

    #[test]
    fn figures_have_their_unit_and_their_interval() {
        assert_eq!(figure(None, 1e3, "ms"), "-");
        assert_eq!(millis(Estimate::of(&[0.0015])), "1.50 ms");
        // 1 and 3: deviation sqrt 2, t = 12.706, half width 12.706.
        assert_eq!(figure(Estimate::of(&[1.0, 3.0]), 1.0, "x"), "2.00 ± 12.71x");
    }

    #[test]
    fn a_row_has_a_cell_for_each_heading() {
        assert_eq!(fct_row(&OverSeeds::new(&[])), ["-"; FCT_HEADER.len()]);
    }
}
