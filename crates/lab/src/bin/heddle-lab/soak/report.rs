//! The outcome of a soak: for people, for programs, and as a page.

use std::fmt::Write as _;
use std::time::Duration;

use heddle_lab::DatagramsReport;
use heddle_program::table;
use serde::Serialize;

use super::load::Observed;
use super::observe::Memory;

/// The longest stall that a fault may cause, besides those of direct connections: detection, and
/// one retransmission.
const STALL: Duration = Duration::from_millis(500);

/// The expectation of a soak.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(super) enum Expectation {
    /// No connection breaks, no subflow is lost, no join is refused, nothing stalls for long.
    Everything,
    /// No connection breaks: more than one balancer fails at a time.
    Connections,
}

/// An event with what was observed from its begin to the next one's.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// Seconds since the begin.
    pub(super) at: u64,
    /// A short name.
    pub(super) name: String,
    /// The event in words.
    pub(super) event: String,
    /// The time for which the router sent to a failed balancer.
    pub(super) withdrawal: Duration,
    /// Conditions that were not met in time, in words.
    pub(super) failures: Vec<String>,
    /// On connections by way of the balancers.
    pub(super) service: Observed,
    /// On connections past them.
    pub(super) direct: Observed,
}

impl Row {
    /// The longest stall that is tolerated: packets sent before the withdrawal are sent again after
    /// up to twice its time.
    fn tolerated(&self) -> Duration {
        STALL + 2 * self.withdrawal + self.direct.stall.max(self.direct.subflow_stall)
    }

    /// Deviations from what is expected, in words.
    pub(super) fn deviations(&self, expectation: Expectation) -> Vec<String> {
        let mut found = self.failures.clone();
        let mut check = |bad: bool, text: String| {
            if bad {
                found.push(text);
            }
        };
        let service = &self.service;
        check(service.broken > 0, format!("{} connections broke", service.broken));
        if expectation == Expectation::Everything {
            check(
                service.subflows_lost > 0,
                format!("{} subflows were lost", service.subflows_lost),
            );
            let missing = service.joins_missing.saturating_sub(self.direct.joins_missing);
            check(missing > 0, format!("{missing} joins were never established"));
            let refused = service.joins_refused.saturating_sub(self.direct.joins_refused);
            check(refused > 0, format!("{refused} joins were refused"));
            let (stall, tolerated) = (service.stall.max(service.subflow_stall), self.tolerated());
            check(stall > tolerated, format!("{stall:.2?} without an answer"));
        }
        found
    }
}

/// Packets of a balancer since its maps were made.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Counted {
    pub(super) balancer: usize,
    /// The sum of all verdicts.
    pub(super) counted: u64,
    /// The least that the interface can have received meanwhile.
    pub(super) received_least: u64,
    /// The most.
    pub(super) received_most: u64,
}

impl Counted {
    fn adds_up(&self) -> bool {
        (self.received_least..=self.received_most).contains(&self.counted)
    }
}

/// The outcome of a soak.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) command: String,
    pub(super) version: String,
    pub(super) seed: u64,
    pub(super) membership: String,
    pub(super) seconds: u64,
    pub(super) interrupted: bool,
    pub(super) expectation: Expectation,
    /// The reason why it could not go on, if so.
    pub(super) failure: Option<String>,
    pub(super) rows: Vec<Row>,
    /// Datagrams in three fragments, by way of the balancers, also while routes lead nowhere.
    pub(super) datagrams: DatagramsReport,
    pub(super) counted: Vec<Counted>,
    pub(super) memory: Vec<Memory>,
    /// Deviations from what is expected, in words; none: the soak has passed.
    pub(super) deviations: Vec<String>,
}

impl Outcome {
    /// Judges all of it.
    pub(super) fn judge(&mut self) {
        let of_row = |row: &Row| {
            let event = format!("{} s: {}", row.at, row.event);
            let found = row.deviations(self.expectation).into_iter();
            found.map(|text| format!("{event}: {text}")).collect::<Vec<_>>()
        };
        let mut found: Vec<String> = self.rows.iter().flat_map(of_row).collect();
        found.extend(self.failure.clone());
        found.extend(self.damage());
        for counted in self.counted.iter().filter(|counted| !counted.adds_up()) {
            found.push(format!("counters do not add up: {counted:?}"));
        }
        // Heaps settle in the first minutes; then a leak of a tenth is more than their noise.
        for memory in self.memory.iter().filter(|memory| memory.seconds > 300) {
            let limit = memory.first + memory.first / 10 + (8 << 20);
            if memory.last > limit || memory.maps_last > memory.maps_first {
                found.push(format!("memory grew: {memory:?}"));
            }
        }
        self.deviations = found;
    }

    /// Wrong bytes by way of the balancers, if they are more than chance makes of those past the
    /// balancers: balancers change no payload, and the kernel's own MPTCP was seen to deliver a few
    /// uploads shifted.
    fn damage(&self) -> Option<String> {
        let [service, direct] = [self.total(|row| &row.service), self.total(|row| &row.direct)];
        let runs = |observed: &Observed| (observed.connections + observed.exchanges).max(1) as f64;
        let (n, m) = (runs(&service), runs(&direct));
        let rate = (service.damaged + direct.damaged) as f64 / (n + m);
        let deviation = (rate * (1.0 - rate) * (1.0 / n + 1.0 / m)).sqrt();
        let excess = service.damaged as f64 / n - direct.damaged as f64 / m;
        (service.damaged > 0 && excess > 3.0 * deviation).then(|| {
            format!(
                "wrong bytes in {} of {n} exchanges by way of the balancers, in {} of {m} past them",
                service.damaged, direct.damaged
            )
        })
    }

    fn total(&self, path: impl Fn(&Row) -> &Observed) -> Observed {
        let mut sum = Observed::default();
        self.rows.iter().for_each(|row| sum.add(path(row)));
        sum
    }

    /// A line for each name of events: number, connections broken, subflows lost, joins missing and
    /// refused, stalls.
    fn summary(&self) -> Vec<[String; 8]> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let line = |name: &str, rows: Vec<&Row>| {
            let mut sum = Observed::default();
            rows.iter().for_each(|row| sum.add(&row.service));
            let beside =
                rows.iter().map(|row| row.direct.stall.max(row.direct.subflow_stall)).max();
            [
                name.to_owned(),
                rows.len().to_string(),
                sum.broken.to_string(),
                sum.subflows_lost.to_string(),
                format!("{} / {}", sum.joins_missing, sum.joins_refused),
                seconds(sum.stall),
                seconds(sum.subflow_stall),
                seconds(beside.unwrap_or_default()),
            ]
        };
        let rows_of = |name: &str| self.rows.iter().filter(|row| row.name == name).collect();
        let mut lines: Vec<_> = names.iter().map(|name| line(name, rows_of(name))).collect();
        lines.push(line("all", self.rows.iter().collect()));
        lines
    }

    /// The outcome for a terminal.
    pub(super) fn text(&self) -> String {
        let mut table = table::new(&HEADER);
        self.summary().into_iter().for_each(|line| {
            table.add_row(line);
        });
        let mut text = format!("{table}\n");
        for line in self.facts() {
            let _ = writeln!(text, "{line}");
        }
        for deviation in &self.deviations {
            let _ = writeln!(text, "deviation: {deviation}");
        }
        text
    }

    fn facts(&self) -> Vec<String> {
        let [service, direct] = [self.total(|row| &row.service), self.total(|row| &row.direct)];
        let path = |name: &str, sum: &Observed| {
            format!(
                "{name}: {} connections with {} joins, of which {} were refused and {} never established, {} exchanges of streams; {} broke, {} had a wrong byte",
                sum.connections,
                sum.joins,
                sum.joins_refused,
                sum.joins_missing,
                sum.exchanges,
                sum.broken,
                sum.damaged
            )
        };
        let mut facts = vec![
            format!(
                "seed {}, membership {}, {} s, {} events",
                self.seed,
                self.membership,
                self.seconds,
                self.rows.len()
            ),
            path("through the balancers", &service),
            path("past them", &direct),
            format!(
                "{} datagrams in three fragments, {} answered",
                self.datagrams.sent, self.datagrams.answered
            ),
            format!(
                "{} connections ended with the backend that they were at; {} joins were not tried, since it was away and their connections fell back to TCP",
                service.excused, service.joins_excused
            ),
        ];
        let packets = |counted: &Counted| {
            format!(
                "balancer-{}: {} packets counted by verdict, {} to {} received",
                counted.balancer, counted.counted, counted.received_least, counted.received_most
            )
        };
        facts.extend(self.counted.iter().map(packets));
        let memory = |memory: &Memory| {
            format!(
                "balancer-{}: resident {:.1} MB, {:.1} MB {} s before; maps {:.1} MB, {:.1} MB before",
                memory.balancer,
                memory.last as f64 / 1e6,
                memory.first as f64 / 1e6,
                memory.seconds,
                memory.maps_last as f64 / 1e6,
                memory.maps_first as f64 / 1e6
            )
        };
        facts.extend(self.memory.iter().map(memory));
        facts.push(match self.deviations.len() {
            0 => "passed".into(),
            count => format!("FAILED: {count} deviations"),
        });
        facts
    }

    /// The outcome as a page.
    pub(super) fn html(&self) -> String {
        let mut page = String::from(HEAD);
        let _ = write!(
            page,
            "<h1>Soak</h1><p><code>{}</code>, version {}</p>",
            escaped(&self.command),
            escaped(&self.version)
        );
        for line in self.facts() {
            let _ = write!(page, "<p>{}</p>", escaped(&line));
        }
        page += "<h2>By event</h2>";
        page += &html_table(&HEADER, self.summary().iter().map(|line| line.to_vec()));
        if !self.deviations.is_empty() {
            page += "<h2>Deviations</h2><ul>";
            for deviation in &self.deviations {
                let _ = write!(page, "<li>{}</li>", escaped(deviation));
            }
            page += "</ul>";
        }
        page += "<h2>Events</h2>";
        let row = |row: &Row| {
            let observed = &row.service;
            vec![
                row.at.to_string(),
                row.event.clone(),
                observed.broken.to_string(),
                observed.subflows_lost.to_string(),
                format!("{} / {}", observed.joins_missing, observed.joins_refused),
                seconds(observed.stall),
                seconds(observed.subflow_stall),
                seconds(row.direct.stall.max(row.direct.subflow_stall)),
                observed.errors.join("; "),
            ]
        };
        let header = [&["s", "event"], &HEADER[2..], &["errors"]].concat();
        page += &html_table(&header, self.rows.iter().map(row));
        page
    }
}

const HEADER: [&str; 8] = [
    "event",
    "number",
    "connections broken",
    "subflows lost",
    "joins missing / refused",
    "stall, s",
    "of a subflow, s",
    "direct, s",
];

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Soak</title><style>body{font:15px/1.4 sans-serif;margin:2em;max-width:80em}\
table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2em .5em;text-align:left;font-variant-numeric:tabular-nums}</style>\n";

fn html_table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |tag: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String =
            cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(&cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let mut text = String::from("<table>");
    text += &line("th", &mut header.iter().map(|&cell| cell.to_owned()));
    rows.for_each(|row| text += &line("td", &mut row.into_iter()));
    text + "</table>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn seconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            at: 7,
            name: "link".into(),
            event: "link, balancer-0".into(),
            withdrawal: Duration::ZERO,
            failures: Vec::new(),
            service: Observed { connections: 1000, ..Observed::default() },
            direct: Observed { connections: 1000, ..Observed::default() },
        }
    }

    fn outcome(rows: Vec<Row>) -> Outcome {
        let mut outcome = Outcome {
            command: "heddle-lab soak".into(),
            version: "<1>".into(),
            seed: 1,
            membership: "static".into(),
            seconds: 60,
            interrupted: false,
            expectation: Expectation::Everything,
            failure: None,
            rows,
            datagrams: DatagramsReport::default(),
            counted: vec![Counted { balancer: 0, counted: 5, received_least: 4, received_most: 6 }],
            memory: Vec::new(),
            deviations: Vec::new(),
        };
        outcome.judge();
        outcome
    }

    #[test]
    fn an_outcome_without_deviations_has_passed() {
        let outcome = outcome(vec![row()]);
        assert_eq!(outcome.deviations, [""; 0]);
        assert!(outcome.text().contains("passed") && outcome.html().contains("version &lt;1&gt;"));
    }

    #[test]
    fn a_stall_counts_beyond_that_of_direct_connections() {
        let mut stalled = row();
        stalled.service.stall = Duration::from_millis(700);
        assert_eq!(outcome(vec![stalled.clone()]).deviations.len(), 1);
        stalled.direct.stall = Duration::from_millis(300);
        assert_eq!(outcome(vec![stalled]).deviations.len(), 0);
    }

    #[test]
    fn refused_joins_and_lost_subflows_deviate_unless_connections_alone_are_judged() {
        let mut lost = row();
        (lost.service.joins_refused, lost.service.subflows_lost) = (1, 1);
        assert_eq!(lost.deviations(Expectation::Everything).len(), 2);
        assert_eq!(lost.deviations(Expectation::Connections).len(), 0);
        lost.direct.joins_refused = 1;
        assert_eq!(lost.deviations(Expectation::Everything), ["1 subflows were lost"]);
    }

    /// 20 of 1000 against 10 of 1000: 2.6 standard deviations less than three; against none it is
    /// more than four.
    #[test]
    fn wrong_bytes_are_compared_with_direct_connections() {
        let mut damaged = row();
        (damaged.service.damaged, damaged.direct.damaged) = (20, 10);
        assert_eq!(outcome(vec![damaged.clone()]).deviations.len(), 0);
        damaged.direct.damaged = 0;
        assert_eq!(outcome(vec![damaged]).deviations.len(), 1);
    }

    #[test]
    fn counters_that_do_not_add_up_deviate() {
        let mut outcome = outcome(vec![row()]);
        outcome.counted[0].counted = 7;
        outcome.judge();
        assert_eq!(outcome.deviations.len(), 1);
    }
}
