//! The file of a replay: a header that names the columns, then a flow a line. Empty lines and lines
//! that start with `#` are skipped.

use heddle_config::Problem;
use heddle_units::{Bytes, Time};

use super::connection_matrix;
use super::times::bounded;
use crate::graph::Names;
use crate::source::Files;
use crate::{Graph, ReplayFlow};

/// Names of the time column, each with the unit of its numbers.
const TIMES: [(&str, &str); 5] =
    [("at", ""), ("at_ns", "ns"), ("at_us", "us"), ("at_ms", "ms"), ("at_s", "s")];

/// Names of the size column, each with the unit of its numbers.
const SIZES: [(&str, &str); 2] = [("size", ""), ("size_bytes", "B")];

/// Reads and checks a file of flows; they come in order of time.
pub(super) fn read(
    path: &str,
    graph: &Graph,
    files: &dyn Files,
) -> Result<Vec<ReplayFlow>, Problem> {
    if connection_matrix::is_matrix(path) {
        return connection_matrix::replay(path, graph, files);
    }
    let unreadable = |error| Problem::at("file", format!("cannot read {path}: {error}"));
    let text = files.read(path).map_err(unreadable)?;
    let mut last = None;
    let mut flows =
        parse(&text, graph, &mut last).map_err(|problem| problem.in_file(path, last))?;
    flows.sort_by_key(|flow| flow.at);
    Ok(flows)
}

/// `last` is the number of the line that was looked at last.
fn parse(text: &str, graph: &Graph, last: &mut Option<usize>) -> Result<Vec<ReplayFlow>, Problem> {
    let names = Names::new(graph);
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let header = lines.next();
    *last = header.map(|(number, _)| number);
    let units = units(header.map_or("", |(_, line)| line))?;
    let flows = lines.map(|(number, line)| {
        *last = Some(number);
        flow(line, units, &names)
    });
    let flows: Vec<ReplayFlow> = flows.collect::<Result<_, _>>()?;
    if flows.is_empty() {
        return Err(Problem::new("there are no flows"));
    }
    Ok(flows)
}

/// Units of the time and the size column, empty where each value has its own.
fn units(header: &str) -> Result<(&'static str, &'static str), Problem> {
    let unknown = || {
        Problem::new("the first line must name the columns")
            .help("`at,from,to,size`, or with plain numbers as in `at_us,from,to,size_bytes`")
    };
    let [at, "from", "to", size] = columns(header)[..] else { return Err(unknown()) };
    let unit = |known: &[(&str, &'static str)], name| {
        known.iter().find(|(known, _)| *known == name).map(|&(_, unit)| unit)
    };
    unit(&TIMES, at).zip(unit(&SIZES, size)).ok_or_else(unknown)
}

fn columns(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

fn flow(line: &str, units: (&str, &str), names: &Names<'_>) -> Result<ReplayFlow, Problem> {
    let [at, from, to, size] = columns(line)[..] else {
        return Err(Problem::new(format!("four columns are expected, not \"{line}\"")));
    };
    let at: Time =
        format!("{at}{}", units.0).parse().map_err(|error| Problem::new(format!("{error}")))?;
    let size: Bytes =
        format!("{size}{}", units.1).parse().map_err(|error| Problem::new(format!("{error}")))?;
    if size.0 == 0 {
        return Err(Problem::new("a flow of no bytes never ends").help("at least 1B"));
    }
    let (from, to) = names.host_pair(&format!("{from} {to}"))?;
    Ok(ReplayFlow { at: bounded("at", at)?, from, to, size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::two_pod;
    use crate::raw::TwoPod;
    use heddle_config::ConfigError;

    fn replay(text: &str) -> Result<Vec<ReplayFlow>, String> {
        let graph = two_pod(&TwoPod::default(), Time::ZERO).map_err(|_| ()).unwrap();
        let files = |_: &str| Ok(text.to_owned());
        read("flows.csv", &graph, &files).map_err(|problem| ConfigError::from(problem).to_string())
    }

    #[test]
    fn flows_come_in_order_of_time_whatever_the_units() {
        let first = ReplayFlow { at: Time::micros(5), from: 0, to: 31, size: Bytes(1500) };
        let second = ReplayFlow { at: Time::millis(1), from: 1, to: 0, size: Bytes::kb(20) };
        let with_units =
            "at,from,to,size\n1ms, host-2, host-1, 20KB\n\n# late\n5us,host-1,host-32,1500B\n";
        assert_eq!(replay(with_units).unwrap(), [first, second]);
        let plain = "at_us,from,to,size_bytes\n5,host-1,host-32,1500\n1000.0,host-2,host-1,20000\n";
        assert_eq!(replay(plain).unwrap(), [first, second]);
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let error = |line: &str| replay(&format!("at,from,to,size\n{line}\n")).unwrap_err();
        assert_eq!(
            error("1ms,host-1,host-2"),
            "flows.csv:2: four columns are expected, not \"1ms,host-1,host-2\""
        );
        assert_eq!(
            error("1,host-1,host-2,1KB"),
            "flows.csv:2: a time needs a unit (d, h, m, s, ms, us, ns, ps), as in \"100us\""
        );
        assert_eq!(error("1s,host-1,host-1,1KB"), "flows.csv:2: host-1 cannot send to itself");
        assert_eq!(error("1s,host-1,tor-1,1KB"), "flows.csv:2: tor-1 is a switch, not a host");
        assert_eq!(
            error("1s,host-1,host-2,0B"),
            "flows.csv:2: a flow of no bytes never ends\nhelp: at least 1B"
        );
        assert_eq!(
            error("1s,host-1,host-99,1B"),
            "flows.csv:2: no node is called \"host-99\"\nhelp: did you mean `host-9`?"
        );
        assert_eq!(replay("at,from,to,size\n").unwrap_err(), "flows.csv:1: there are no flows");
        assert!(
            replay("time,from,to,size\n")
                .unwrap_err()
                .starts_with("flows.csv:1: the first line must name the columns")
        );
    }
}
