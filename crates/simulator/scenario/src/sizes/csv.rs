//! A distribution as a CSV file: a header that names the units, then a size and a cumulative
//! probability a line. Empty lines and lines that start with `#` are skipped.

use heddle_config::Problem;

use crate::SizeDistribution;

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
pub(super) fn parse(name: &str, text: &str) -> Result<SizeDistribution, Problem> {
    let mut last = None;
    let points = points(text, &mut last).map_err(|problem| problem.in_file(name, last))?;
    Ok(SizeDistribution { name: name.to_owned(), points })
}

/// `last` is the number of the line that was looked at last.
fn points(text: &str, last: &mut Option<usize>) -> Result<Vec<(f64, f64)>, Problem> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let header = lines.next();
    *last = header.map(|(number, _)| number);
    let (size, share) = scales(header.map_or("", |(_, line)| line))?;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (number, line) in lines {
        *last = Some(number);
        let (bytes, cdf) = pair(line)?;
        let point = (bytes * size, cdf * share);
        check_step(points.last().copied(), point)?;
        points.push(point);
    }
    finish(points)
}

fn scales(header: &str) -> Result<(f64, f64), Problem> {
    let header: String = header.split_whitespace().collect();
    let known = HEADERS.iter().find(|(name, ..)| *name == header);
    let names = HEADERS.map(|(name, ..)| format!("`{name}`")).join(", ");
    let missing =
        || Problem::new("the first line must name the columns").help(format!("one of {names}"));
    known.map(|&(_, size, share)| (size, share)).ok_or_else(missing)
}

fn pair(line: &str) -> Result<(f64, f64), Problem> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let parsed = line.split_once(',').and_then(|(a, b)| Some((number(a)?, number(b)?)));
    parsed.ok_or_else(|| Problem::new(format!("two numbers are expected, not \"{line}\"")))
}

fn check_step(before: Option<(f64, f64)>, (bytes, cdf): (f64, f64)) -> Result<(), Problem> {
    let (low, from) = before.unwrap_or((0.0, 0.0));
    if bytes < 0.0 || cdf < 0.0 {
        return Err(Problem::new("sizes and probabilities are not negative"));
    }
    if bytes > LARGEST {
        return Err(Problem::new("a flow of more than 1000 TB does not end in any simulation"));
    }
    if bytes < low || cdf < from {
        return Err(Problem::new("sizes and probabilities must rise from line to line")
            .help("sort the lines, and make the probabilities cumulative"));
    }
    Ok(())
}

fn finish(mut points: Vec<(f64, f64)>) -> Result<Vec<(f64, f64)>, Problem> {
    match points.last_mut() {
        Some((bytes, _)) if *bytes <= 0.0 => Err(Problem::new("the largest size is 0")),
        Some((_, cdf)) if (*cdf - 1.0).abs() < CLOSE => {
            *cdf = 1.0;
            Ok(points)
        }
        Some((_, cdf)) => {
            Err(Problem::new(format!("the probabilities end at {cdf}, not at 1 (100 %)")))
        }
        None => Err(Problem::new("there are no sizes")),
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

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let headers = "`bytes,cdf`, `bytes,percent`, `packets,cdf`, `packets,percent`";
        let no_header =
            format!("x.csv:1: the first line must name the columns\nhelp: one of {headers}");
        assert_eq!(error("1,2\n"), no_header);
        assert_eq!(error("bytes,cdf\n1;1"), "x.csv:2: two numbers are expected, not \"1;1\"");
        assert_eq!(error("bytes,cdf\n1,nan"), "x.csv:2: two numbers are expected, not \"1,nan\"");
        assert_eq!(error("bytes,cdf\n-1,0"), "x.csv:2: sizes and probabilities are not negative");
        let falls = "x.csv:4: sizes and probabilities must rise from line to line\n\
            help: sort the lines, and make the probabilities cumulative";
        assert_eq!(error("bytes,cdf\n1,0\n2,0.5\n3,0.4\n4,1"), falls);
        assert_eq!(error("bytes,cdf\n1,0\n2,0.5\n1,1"), falls);
        assert_eq!(
            error("bytes,cdf\n1,0\n2,0.9"),
            "x.csv:3: the probabilities end at 0.9, not at 1 (100 %)"
        );
        assert_eq!(
            error("bytes,cdf\n1,1.5"),
            "x.csv:2: the probabilities end at 1.5, not at 1 (100 %)"
        );
        assert!(error("bytes,cdf\n1e308,1").starts_with("x.csv:2: a flow of more than 1000 TB"));
        assert_eq!(error("bytes,cdf\n0,1"), "x.csv:2: the largest size is 0");
        assert_eq!(error("bytes,cdf\n"), "x.csv:1: there are no sizes");
        assert_eq!(
            error(""),
            format!("x.csv: the first line must name the columns\nhelp: one of {headers}")
        );
    }
}
