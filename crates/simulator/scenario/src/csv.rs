//! Tables as programs export them: columns between commas, semicolons, tabs or spaces; a byte-order
//! mark, quotes around cells, and an index without a name in the first column (pandas) are skipped,
//! as are empty lines and lines that start with `#`.

use core::str::FromStr;

use heddle_config::Problem;
use heddle_units::UnitError;

/// A line with its number, from 1.
pub(crate) type Line<'a> = (usize, &'a str);

/// The lines that hold something.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The form of a table's lines, as its header shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    separator: char,
    /// True if the first column is an index.
    has_index: bool,
}

impl Form {
    /// The form of a table with this first line.
    pub(crate) fn of(header: &str) -> Form {
        let has_decimals = |&c: &char| header.contains(c) && are_decimals(header.split(c));
        let separator = [';', '\t'].into_iter().find(has_decimals);
        let separator = separator
            .or_else(|| [',', ';', '\t'].into_iter().find(|&c| header.contains(c)))
            .unwrap_or(' ');
        Form { separator, has_index: separator != ' ' && header.starts_with(separator) }
    }

    /// The cells of a line, without the index.
    pub(crate) fn cells<'a>(&self, line: &'a str) -> Vec<&'a str> {
        let cell = |cell: &'a str| cell.trim().trim_matches('"').trim();
        match self.separator {
            ' ' => line.split_whitespace().map(cell).collect(),
            separator => {
                line.split(separator).skip(usize::from(self.has_index)).map(cell).collect()
            }
        }
    }
}

/// True if commas of these cells are those of decimals, and there is one.
fn are_decimals<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let mut with_comma = cells.filter(|cell| cell.contains(',')).peekable();
    with_comma.peek().is_some() && with_comma.all(has_decimal_comma)
}

/// True of a number such as `0,5`, with a unit or without.
fn has_decimal_comma(cell: &str) -> bool {
    let cell = cell.trim().trim_matches('"').trim();
    let Some((whole, rest)) = cell.split_once(',') else { return false };
    let digits = whole.trim_start_matches(['-', '+']);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    is_number && rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(',')
}

/// Refuses a number with a decimal comma: it could be one of thousands, too.
pub(crate) fn check_decimals(cell: &str) -> Result<(), Problem> {
    if !has_decimal_comma(cell) {
        return Ok(());
    }
    let message = format!("\"{cell}\" has a comma, and decimals are read with a point");
    Err(Problem::new(message).help(format!(
        "write `{}`, or export with a point as the decimal separator (Excel: File, Options, Advanced, \"Use system separators\" off)",
        cell.replace(',', ".")
    )))
}

/// Reads a cell whose unit is that of its column; without one it has its own. Of plain numbers,
/// which may have exponents, `decimals` are kept: what is finer is below what is simulated.
pub(crate) fn quantity<T: FromStr<Err = UnitError>>(
    cell: &str,
    unit: &str,
    decimals: usize,
) -> Result<T, Problem> {
    check_decimals(cell)?;
    if unit.is_empty() {
        return cell.parse().map_err(|error| Problem::of(&error));
    }
    let not_plain = || {
        Problem::new(format!("\"{cell}\" is not a plain number"))
            .help(format!("the name of its column gives the unit, {unit}: `1500` or `1.5e3`"))
    };
    let plain = plain(cell, decimals).ok_or_else(not_plain)?;
    let help = || format!("a number of {unit} from 0 that is simulated exactly, as in `1500`");
    format!("{plain}{unit}").parse().map_err(|error| Problem::of(&error).help(help()))
}

/// A decimal number without an exponent.
fn plain(text: &str, decimals: usize) -> Option<String> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok().filter(|exponent| (-40..=40).contains(exponent))?;
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let point = whole.len() as i32 + exponent;
    let padded = format!("{}{digits}", "0".repeat((1 - point).max(0) as usize));
    let point = point.max(1) as usize;
    let padded = format!("{padded}{}", "0".repeat(point.saturating_sub(padded.len())));
    let (whole, fraction) = padded.split_at(point);
    let fraction = &fraction[..decimals.min(fraction.len())];
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(match fraction {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_units::{Bytes, Time};

    #[test]
    fn numbers_have_any_form() {
        for (text, expected) in [
            ("1e-3", "0.001"),
            ("2e4", "20000"),
            ("2.50E+2", "250"),
            ("0.00125", "0.00125"),
            ("12.5e-1", "1.25"),
            ("1.", "1"),
            (".5", "0.5"),
            ("0", "0"),
            ("-3", "-3"),
        ] {
            assert_eq!(plain(text, 12).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "x", "1,5", "nan", "inf", "1e99", "5ms"] {
            assert_eq!(plain(text, 12), None, "{text}");
        }
    }

    /// A double has more digits than there are picoseconds.
    #[test]
    fn what_is_finer_than_a_picosecond_is_cut() {
        assert_eq!(
            quantity::<Time>("0.0012345678901234567", "s", 12).ok(),
            Some(Time(1_234_567_890))
        );
        assert_eq!(quantity::<Bytes>("20000.0", "B", 12).ok(), Some(Bytes(20_000)));
        assert!(quantity::<Bytes>("0.5", "B", 12).is_err());
        assert!(quantity::<Time>("-1", "s", 12).is_err());
        assert_eq!(quantity::<Time>("1ms", "", 12).ok(), Some(Time::millis(1)));
    }

    #[test]
    fn tables_of_other_programs_have_other_forms() {
        let excel = "\u{feff}\"a\";\"b\"\r\n\r\n1;2\r\n";
        let found: Vec<_> = lines(excel).collect();
        let form = Form::of(found[0].1);
        let cells: Vec<_> =
            found.iter().map(|(number, line)| (*number, form.cells(line))).collect();
        assert_eq!(cells, [(1, vec!["a", "b"]), (3, vec!["1", "2"])]);
        let pandas = Form::of(",a,b");
        assert_eq!((pandas.cells(",a,b"), pandas.cells("0,x,y")), (vec!["a", "b"], vec!["x", "y"]));
        assert_eq!(Form::of("0,5;1,25").cells("1460;0,5"), ["1460", "0,5"]);
        assert_eq!(Form::of("a,b;c").cells("1,2;3"), ["1", "2;3"]);
        assert_eq!(Form::of("1 2").cells("3  4"), ["3", "4"]);
        assert_eq!(Form::of("1\t2").cells("3\t4"), ["3", "4"]);
    }
}
