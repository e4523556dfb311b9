//! The file of a replay: a header that names the columns in any order, then a flow a line; or the
//! flow file of another simulator.

use heddle_config::Problem;
use heddle_units::{Bytes, Time};

use super::times::bounded;
use super::{connection_matrix, hpcc_flows};
use crate::csv::{Form, lines, quantity};
use crate::graph::Names;
use crate::source::Files;
use crate::{Graph, ReplayFlow};

/// Names of the time column, each with the unit of its numbers and the digits of it that are
/// simulated.
const TIMES: [(&str, &str, usize); 5] =
    [("at", "", 0), ("at_ns", "ns", 3), ("at_us", "us", 6), ("at_ms", "ms", 9), ("at_s", "s", 12)];

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
    let flows = match hpcc_flows::is_one(&text) {
        true => {
            let names = Names::new(graph);
            let host = |number: &str| hpcc_flows::host(number, &names);
            hpcc_flows::parse((path, &text), &host, files, &mut last)
        }
        false => parse((path, &text), graph, files, &mut last),
    };
    let mut flows = flows.map_err(|problem| problem.in_file(path, last))?;
    if flows.is_empty() {
        return Err(Problem::new("there are no flows").help("a flow a line").in_file(path, last));
    }
    flows.sort_by_key(|flow| flow.at);
    Ok(flows)
}

/// `last` is the number of the line that was looked at last.
fn parse(
    (path, text): (&str, &str),
    graph: &Graph,
    files: &dyn Files,
    last: &mut Option<usize>,
) -> Result<Vec<ReplayFlow>, Problem> {
    let names = Names::new(graph);
    let mut lines = lines(text);
    let header = lines.next();
    *last = header.map(|(number, _)| number);
    let header = header.map_or("", |(_, line)| line);
    let form = Form::of(header);
    let columns = Columns::of(&form.cells(header))?;
    if !columns.others.is_empty() {
        files.note(format!(
            "{path}:{}: not read: {}",
            last.unwrap_or(1),
            columns.others.join(", ")
        ));
    }
    let flows = lines.map(|(number, line)| {
        *last = Some(number);
        columns.flow(&form.cells(line), line, &names)
    });
    flows.collect()
}

/// The places of a file's columns.
struct Columns {
    at: usize,
    from: usize,
    to: usize,
    size: usize,
    time: (&'static str, usize),
    size_unit: &'static str,
    count: usize,
    /// Names of columns that are not read.
    others: Vec<String>,
}

impl Columns {
    fn of(header: &[&str]) -> Result<Columns, Problem> {
        let unknown = || {
            Problem::new("the first line must name the columns")
                .help("`at,from,to,size`, or with plain numbers as in `at_us,from,to,size_bytes`")
        };
        let place = |is_it: &dyn Fn(&str) -> bool| {
            let mut places = header.iter().enumerate().filter(|(_, name)| is_it(name));
            let first = places.next().map(|(place, _)| place).ok_or_else(unknown)?;
            if places.next().is_some() { Err(unknown()) } else { Ok(first) }
        };
        let at = place(&|name| TIMES.iter().any(|time| time.0 == name))?;
        let size = place(&|name| SIZES.iter().any(|size| size.0 == name))?;
        let (from, to) = (place(&|name| name == "from")?, place(&|name| name == "to")?);
        let read = [at, from, to, size];
        let others = header.iter().enumerate().filter(|(place, _)| !read.contains(place));
        let time = TIMES.iter().find(|time| time.0 == header[at]).ok_or_else(unknown)?;
        let size_unit = SIZES.iter().find(|unit| unit.0 == header[size]).ok_or_else(unknown)?;
        Ok(Columns {
            at,
            from,
            to,
            size,
            time: (time.1, time.2),
            size_unit: size_unit.1,
            count: header.len(),
            others: others.map(|(_, name)| format!("`{name}`")).collect(),
        })
    }

    fn flow(&self, cells: &[&str], line: &str, names: &Names<'_>) -> Result<ReplayFlow, Problem> {
        if cells.len() != self.count {
            let message = format!("{} columns are expected, not \"{line}\"", self.count);
            return Err(Problem::new(message).help("those of the first line"));
        }
        let at: Time = quantity(cells[self.at], self.time.0, self.time.1)?;
        let size: Bytes = quantity(cells[self.size], self.size_unit, 3)?;
        if size.0 == 0 {
            return Err(Problem::new("a flow of no bytes never ends").help("at least 1B"));
        }
        let (from, to) = names.host_pair(&format!("{} {}", cells[self.from], cells[self.to]))?;
        Ok(ReplayFlow { at: bounded("at", at)?, from, to, size })
    }
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

    /// Numbers with exponents, a byte-order mark, semicolons, quotes, an index and further columns.
    #[test]
    fn tables_of_pandas_and_excel_are_read() {
        let first = ReplayFlow { at: Time::millis(1), from: 0, to: 5, size: Bytes::kb(20) };
        for text in [
            "at_s,from,to,size_bytes\n1e-3,host-1,host-6,2e4\n",
            "\u{feff}at_s,from,to,size_bytes\r\n0.001,host-1,host-6,20000\r\n",
            "\u{feff}\"at_ms\";\"from\";\"to\";\"size_bytes\"\n1;\"host-1\";\"host-6\";20000.0\n",
            ",size_bytes,from,to,at_us\n0,20000,host-1,host-6,1000.0\n",
            "at_s\tfrom\tto\tsize\tnote\n1.0000000000000009e-3\thost-1\thost-6\t20KB\tx\n",
        ] {
            assert_eq!(replay(text).unwrap(), [first], "{text}");
        }
        let error = replay("at_ms;from;to;size\n0,5;host-1;host-2;1KB\n").unwrap_err();
        assert!(error.starts_with("flows.csv:2: \"0,5\" has a comma"), "{error}");
        let error = replay("at_us,from,to,size\n1ms,host-1,host-2,1KB\n").unwrap_err();
        assert!(error.starts_with("flows.csv:2: \"1ms\" is not a plain number"), "{error}");
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let error = |line: &str| replay(&format!("at,from,to,size\n{line}\n")).unwrap_err();
        assert_eq!(
            error("1ms,host-1,host-2"),
            "flows.csv:2: 4 columns are expected, not \"1ms,host-1,host-2\"\nhelp: those of the first line"
        );
        assert_eq!(
            error("1,host-1,host-2,1KB"),
            "flows.csv:2: a time needs a unit (d, h, m, s, ms, us, ns, ps), as in \"100us\""
        );
        let itself = "flows.csv:2: host-1 cannot send to itself\nhelp: two different hosts";
        assert_eq!(error("1s,host-1,host-1,1KB"), itself);
        assert_eq!(error("1s,host-1,tor-1,1KB"), "flows.csv:2: tor-1 is a switch, not a host");
        assert_eq!(
            error("1s,host-1,host-2,0B"),
            "flows.csv:2: a flow of no bytes never ends\nhelp: at least 1B"
        );
        let unknown = "flows.csv:2: no node is called";
        assert_eq!(error("1s,1,2,1B"), format!("{unknown} \"1\"\nhelp: did you mean `host-1`?"));
        let first = format!("{unknown} \"host-0\"\nhelp: the first host is `host-1`");
        assert_eq!(error("1s,host-0,host-2,1B"), first);
        assert_eq!(
            error("1s,host-1,host-99,1B"),
            "flows.csv:2: no node is called \"host-99\"\nhelp: did you mean `host-9`?"
        );
        assert_eq!(
            replay("at,from,to,size\n").unwrap_err(),
            "flows.csv:1: there are no flows\nhelp: a flow a line"
        );
        assert!(
            replay("time,from,to,size\n")
                .unwrap_err()
                .starts_with("flows.csv:1: the first line must name the columns")
        );
    }
}
