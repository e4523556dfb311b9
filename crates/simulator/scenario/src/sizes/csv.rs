//! A distribution as a CSV file: a header that names the units, then a size and a cumulative
//! probability a line. Without a header sizes are bytes, and the last probability, 1 or 100, says
//! whether they are fractions or per cent; a lone number in the first line, the mean of Homa's files,
//! is skipped.

use heddle_config::Problem;

use crate::SizeDistribution;
use crate::csv::{Form, Line, check_decimals, lines};

/// Payload of a full packet, the unit of the papers' tables.
const PACKET: f64 = 1460.0;

/// Headers, with the scale of each column.
const HEADERS: [(&str, f64, f64); 4] = [
    ("bytes,cdf", 1.0, 1.0),
    ("bytes,percent", 1.0, 0.01),
    ("packets,cdf", PACKET, 1.0),
    ("packets,percent", PACKET, 0.01),
];

/// Largest distance of the last probability from 1, for percentages that were rounded.
const CLOSE: f64 = 1e-6;

/// Sizes above this are mistakes.
const LARGEST: f64 = 1e15;

/// Parses and checks a file. Problems name it and the line.
pub(crate) fn parse(name: &str, text: &str) -> Result<SizeDistribution, Problem> {
    let mut last = None;
    let points = points(text, &mut last).map_err(|problem| problem.in_file(name, last))?;
    Ok(SizeDistribution { name: name.to_owned(), points })
}

/// `last` is the number of the line that was looked at last.
fn points(text: &str, last: &mut Option<usize>) -> Result<Vec<(f64, f64)>, Problem> {
    let all: Vec<Line<'_>> = lines(text).collect();
    *last = all.first().map(|(number, _)| *number);
    let header = all.first().map_or("", |(_, line)| line);
    let form = Form::of(header);
    form.cells(header).into_iter().try_for_each(check_decimals)?;
    let (skipped, (size, share)) = match form.cells(header)[..] {
        [only] if number(only).is_some() => (1, (1.0, share_of(&all[1..], last)?)),
        [a, b] if number(a).and(number(b)).is_some() => (0, (1.0, share_of(&all, last)?)),
        _ => (1, scales(&form.cells(header).join(","))?),
    };
    let rows = &all[skipped.min(all.len())..];
    // Homa's first line has no separator.
    let form = match skipped == 1 && form == Form::of("1") {
        true => rows.first().map_or(form, |(_, line)| Form::of(line)),
        false => form,
    };
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (number, line) in rows {
        *last = Some(*number);
        let (bytes, cdf) = pair(form, line)?;
        let point = (bytes * size, cdf * share);
        check_step(points.last().copied(), point)?;
        points.push(point);
    }
    finish(points)
}

/// The scale of probabilities that no header names: the last is 1, or 100 per cent.
fn share_of(rows: &[Line<'_>], last: &mut Option<usize>) -> Result<f64, Problem> {
    let empty = || Problem::new("there are no sizes").help(EXAMPLE);
    let (number, line) = rows.last().ok_or_else(empty)?;
    *last = Some(*number);
    match pair(Form::of(line), line)?.1 {
        last if (last - 1.0).abs() < CLOSE => Ok(1.0),
        last if (last - 100.0).abs() < 100.0 * CLOSE => Ok(0.01),
        last => Err(Problem::new(format!("the probabilities end at {last}, not at 1 or 100"))
            .help("a first line that names the columns, as `bytes,cdf`, or cumulative probabilities up to 1")),
    }
}

/// Help of a file without sizes.
const EXAMPLE: &str = "a size and a cumulative probability a line, as in `1460,0.15`";

fn scales(header: &str) -> Result<(f64, f64), Problem> {
    let header = header.to_ascii_lowercase();
    let known = HEADERS.iter().find(|(name, ..)| *name == header);
    let names = HEADERS.map(|(name, ..)| format!("`{name}`")).join(", ");
    let missing =
        || Problem::new("the first line must name the columns").help(format!("one of {names}"));
    known.map(|&(_, size, share)| (size, share)).ok_or_else(missing)
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

fn pair(form: Form, line: &str) -> Result<(f64, f64), Problem> {
    let cells = form.cells(line);
    cells.iter().try_for_each(|cell| check_decimals(cell))?;
    let parsed = match cells[..] {
        [a, b] => number(a).zip(number(b)),
        _ => None,
    };
    parsed.ok_or_else(|| {
        Problem::new(format!("two numbers are expected, not \"{line}\"")).help(EXAMPLE)
    })
}

fn check_step(before: Option<(f64, f64)>, (bytes, cdf): (f64, f64)) -> Result<(), Problem> {
    let (low, from) = before.unwrap_or((0.0, 0.0));
    if bytes < 0.0 || cdf < 0.0 {
        return Err(Problem::new("sizes and probabilities are not negative").help(EXAMPLE));
    }
    if bytes > LARGEST {
        let message = "a flow of more than 1000 TB does not end in any simulation";
        return Err(Problem::new(message).help("sizes are bytes, or packets if the header says so"));
    }
    if bytes < low || cdf < from {
        return Err(Problem::new("sizes and probabilities must rise from line to line")
            .help("sort the lines, and make the probabilities cumulative"));
    }
    Ok(())
}

fn finish(mut points: Vec<(f64, f64)>) -> Result<Vec<(f64, f64)>, Problem> {
    match points.last_mut() {
        Some((bytes, _)) if *bytes <= 0.0 => {
            Err(Problem::new("the largest size is 0").help(EXAMPLE))
        }
        Some((_, cdf)) if (*cdf - 1.0).abs() < CLOSE => {
            *cdf = 1.0;
            Ok(points)
        }
        Some((_, cdf)) => {
            Err(Problem::new(format!("the probabilities end at {cdf}, not at 1 (100 %)"))
                .help("cumulative probabilities in the units that the first line names"))
        }
        None => Err(Problem::new("there are no sizes").help(EXAMPLE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_config::ConfigError;

    fn error(text: &str) -> String {
        ConfigError::from(parse("x.csv", text).map(|_| ()).unwrap_err()).to_string()
    }

    #[test]
    fn a_header_gives_the_units() {
        let points = |text| parse("x", text).map_err(|_| ()).unwrap().points;
        assert_eq!(
            points("# a comment\npackets,percent\n\n2,50\n4,100\n"),
            [(2920.0, 0.5), (5840.0, 1.0)]
        );
        assert_eq!(points("bytes, cdf\n2, 1"), [(2.0, 1.0)]);
    }

    /// HPCC's and conweave's are per cent, Homa's are fractions behind a mean; Excel has a mark and
    /// semicolons.
    #[test]
    fn files_of_others_are_read() {
        let points = |text| parse("x", text).map_err(|_| ()).unwrap().points;
        let expected = [(0.0, 0.0), (10_000.0, 0.15), (30_000_000.0, 1.0)];
        for text in [
            "0 0\n10000 15\n30000000 100\n",
            "0\t0\n10000\t15\n30000000\t100\n",
            "0,0\n1e4,0.15\n3e7,1\n",
            "25512.5\n0 0\n10000 0.15\n30000000 1.0000000\n",
            "\u{feff}Bytes;Percent\r\n0;0\r\n10000;15\r\n30000000;100\r\n",
            ",bytes,cdf\n0,0,0\n1,10000,0.15\n2,30000000,1\n",
        ] {
            assert_eq!(points(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let headers = "`bytes,cdf`, `bytes,percent`, `packets,cdf`, `packets,percent`";
        let no_header =
            format!("x.csv:1: the first line must name the columns\nhelp: one of {headers}");
        assert_eq!(error("sizes,cdf\n1,1\n"), no_header);
        let example = "help: a size and a cumulative probability a line, as in `1460,0.15`";
        let with_example = |said: &str| format!("{said}\n{example}");
        let two = |found: &str| {
            with_example(&format!("x.csv:2: two numbers are expected, not \"{found}\""))
        };
        assert_eq!(error("bytes,cdf\n1;1;1"), two("1;1;1"));
        assert_eq!(error("bytes,cdf\n1,nan"), two("1,nan"));
        assert_eq!(
            error("1 50\n2 nan"),
            two("2 nan"),
            "without a header the last line is read first"
        );
        assert_eq!(
            error("bytes,cdf\n-1,0"),
            with_example("x.csv:2: sizes and probabilities are not negative")
        );
        let falls = "x.csv:4: sizes and probabilities must rise from line to line\n\
            help: sort the lines, and make the probabilities cumulative";
        assert_eq!(error("bytes,cdf\n1,0\n2,0.5\n3,0.4\n4,1"), falls);
        assert_eq!(error("bytes,cdf\n1,0\n2,0.5\n1,1"), falls);
        let end = |line: u32, cdf: &str| {
            format!(
                "x.csv:{line}: the probabilities end at {cdf}, not at 1 (100 %)\n\
                 help: cumulative probabilities in the units that the first line names"
            )
        };
        assert_eq!(error("bytes,cdf\n1,0\n2,0.9"), end(3, "0.9"));
        assert_eq!(error("bytes,cdf\n1,1.5"), end(2, "1.5"));
        assert!(error("bytes,cdf\n1e308,1").starts_with("x.csv:2: a flow of more than 1000 TB"));
        assert_eq!(error("bytes,cdf\n0,1"), with_example("x.csv:2: the largest size is 0"));
        assert_eq!(error("bytes,cdf\n"), with_example("x.csv:1: there are no sizes"));
        assert!(error("1 0\n2 0.9\n").contains("end at 0.9, not at 1 or 100\nhelp: a first line"));
        assert_eq!(
            error(""),
            format!("x.csv: the first line must name the columns\nhelp: one of {headers}")
        );
    }
}
