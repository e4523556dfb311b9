//! Files of `heddle run`: one JSON summary and CSV files of the raw data.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use heddle_claims::files::{FileError, write_atomically};
use heddle_claims::stats::Estimate;
use heddle_scenario::{Scenario, Workload};
use heddle_sim::{Outcome, PortName};
use heddle_units::Time;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::cell::Cell;
use crate::overload::Offered;
use crate::provenance::Provenance;
use crate::steady::Steadiness;
use crate::store::Store;
use crate::summary::{ClassSummary, RunSummary, SizeClass};

/// A scenario's runs, one a seed.
#[derive(Debug, Serialize)]
pub struct ScenarioResult<'a> {
    /// Its origin; the scenario as `heddle show` prints it.
    #[serde(flatten)]
    pub provenance: &'a Provenance,
    /// The resolved scenario, its graph included.
    pub resolved: &'a Scenario,
    /// The load that is offered to links, where the workload has one.
    pub offered: Option<&'a Offered>,
    /// Warnings that a reader needs before figures are compared.
    pub remarks: &'a [String],
    /// Means over the seeds with their confidence intervals.
    pub over_seeds: OverSeeds,
    /// Each seed's run.
    pub runs: &'a [RunSummary],
}

/// Means over the seeds. Times are in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct OverSeeds {
    /// Mean flow completion time of all flows.
    pub fct_mean: Option<Estimate>,
    /// Median.
    pub fct_p50: Option<Estimate>,
    /// 95th percentile.
    pub fct_p95: Option<Estimate>,
    /// 99th percentile.
    pub fct_p99: Option<Estimate>,
    /// The classes of sizes, from the smallest: in JSON `fct_mean_NAME`, `fct_p99_NAME`,
    /// `slowdown_mean_NAME` and `slowdown_p99_NAME` of each.
    #[serde(flatten)]
    pub classes: Classes,
    /// Mean slowdown of all flows.
    pub slowdown_mean: Option<Estimate>,
    /// Their 99th percentile.
    pub slowdown_p99: Option<Estimate>,
    /// A mean that no scheme can go below ([`crate::bound`]).
    pub fct_mean_bound: Option<Estimate>,
    /// Application bits received per second of the measuring window.
    pub goodput_bps: Option<Estimate>,
    /// Mean goodput of flows without end, as a share of their hosts' links.
    pub long_flow_share: Option<Estimate>,
    /// Flows of all runs together.
    pub flows: FlowCounts,
    /// The steady state of the runs, as measured.
    pub steadiness: Steadiness,
}

/// Sums over the runs of all seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowCounts {
    /// Flows started, measured or not.
    pub started: u64,
    /// Measured flows.
    pub measured: u64,
    /// Measured flows that finished.
    pub finished: u64,
    /// Measured flows that did not finish.
    pub unfinished: u64,
    /// Packets dropped at full buffers.
    pub dropped: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

impl FlowCounts {
    fn new(runs: &[RunSummary]) -> FlowCounts {
        let sum = |of: fn(&RunSummary) -> u64| runs.iter().map(of).sum::<u64>();
        FlowCounts {
            started: sum(|run| run.totals.flows_started),
            measured: sum(|run| run.totals.measured),
            finished: sum(|run| run.totals.measured - run.totals.unfinished),
            unfinished: sum(|run| run.totals.unfinished),
            dropped: sum(|run| run.totals.dropped),
            timeouts: sum(|run| run.totals.timeouts),
        }
    }
}

impl OverSeeds {
    /// Sums up some runs of one scenario.
    pub fn new(runs: &[RunSummary]) -> OverSeeds {
        let over = |figure: &dyn Fn(&RunSummary) -> Option<f64>| {
            Estimate::of(&runs.iter().filter_map(figure).collect::<Vec<_>>())
        };
        let all = |figure: fn(&ClassSummary) -> f64| over(&move |r| r.fct.all.as_ref().map(figure));
        OverSeeds {
            fct_mean: all(|c| c.seconds.mean),
            fct_p50: all(|c| c.seconds.p50),
            fct_p95: all(|c| c.seconds.p95),
            fct_p99: all(|c| c.seconds.p99),
            classes: Classes::new(runs),
            slowdown_mean: all(|c| c.slowdown.mean),
            slowdown_p99: all(|c| c.slowdown.p99),
            fct_mean_bound: over(&|r| r.bound_mean_seconds),
            goodput_bps: over(&|r| Some(r.totals.goodput_bps)),
            long_flow_share: over(&|r| r.long_flows.as_ref().map(|long| long.share.mean)),
            flows: FlowCounts::new(runs),
            steadiness: Steadiness::of(runs),
        }
    }
}

/// Figures over the seeds of each class of sizes.
#[derive(Clone, Debug, Default)]
pub struct Classes(pub Vec<ClassOverSeeds>);

/// Figures over the seeds of a class of sizes. Times are in seconds.
#[derive(Clone, Debug)]
pub struct ClassOverSeeds {
    /// Its name, as [`crate::summary::SizeClass::name`].
    pub name: String,
    /// The same for readers.
    pub title: String,
    /// Mean flow completion time.
    pub fct_mean: Option<Estimate>,
    /// 99th percentile.
    pub fct_p99: Option<Estimate>,
    /// Mean slowdown.
    pub slowdown_mean: Option<Estimate>,
    /// 99th percentile.
    pub slowdown_p99: Option<Estimate>,
}

impl Classes {
    /// The classes of the first run; all runs of a scenario have the same.
    fn new(runs: &[RunSummary]) -> Classes {
        let class = |SizeClass { name, title, .. }: &SizeClass| {
            let over = |figure: fn(&ClassSummary) -> f64| {
                let of_run = |run: &RunSummary| run.fct.class(name).map(figure);
                Estimate::of(&runs.iter().filter_map(of_run).collect::<Vec<_>>())
            };
            ClassOverSeeds {
                name: name.clone(),
                title: title.clone(),
                fct_mean: over(|c| c.seconds.mean),
                fct_p99: over(|c| c.seconds.p99),
                slowdown_mean: over(|c| c.slowdown.mean),
                slowdown_p99: over(|c| c.slowdown.p99),
            }
        };
        Classes(
            runs.first().map_or_else(Vec::new, |run| run.fct.classes.iter().map(class).collect()),
        )
    }

    /// A class by its name.
    pub fn named(&self, name: &str) -> Option<&ClassOverSeeds> {
        self.0.iter().find(|class| class.name == name)
    }
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4 * self.0.len()))?;
        for class in &self.0 {
            let figures = [
                ("fct_mean", class.fct_mean),
                ("fct_p99", class.fct_p99),
                ("slowdown_mean", class.slowdown_mean),
                ("slowdown_p99", class.slowdown_p99),
            ];
            for (figure, estimate) in figures {
                map.serialize_entry(&format!("{figure}_{}", class.name), &estimate)?;
            }
        }
        map.end()
    }
}

/// Name of a table of flows, and of one of samples.
pub const FLOWS: &str = "flows.csv";
/// See [`FLOWS`].
pub const LINKS: &str = "links.csv";

/// Columns of [`flow_lines`].
pub const FLOW_COLUMNS: &str = "seed,flow,workload,start_s,from,to,bytes,fct_s,ideal_fct_s,status,delivered_bytes,goodput_bps,id";

/// The name under which a store keeps a run's lines of [`FLOWS`]. It is another one where the
/// columns change.
pub const KEPT_FLOWS: &str = "flows-3.csv";

/// Columns of [`link_lines`].
pub const LINK_COLUMNS: &str =
    "seed,time_s,link,from,to,sent_bytes,utilisation,queued_bytes,dropped,ecn_marked";

/// The name under which a store keeps a run's lines of [`LINKS`], as [`KEPT_FLOWS`].
pub const KEPT_LINKS: &str = "links-3.csv";

/// One line a measured flow, in the order of their ends: its number in the run, its workload's name
/// (empty where there is one workload), times in seconds, hosts by name, sizes in bytes. The status
/// is `finished`, `unfinished` (no completion time), or `long` (a flow without end: no size, and
/// the bytes that it delivered in the measuring window). The last column is the name of a flow of a
/// flow graph; it is empty for other flows.
pub fn flow_lines(scenario: &Scenario, seed: u64, outcome: &Outcome) -> String {
    let (mut csv, names) = (String::new(), scenario.workload.names());
    let parts = scenario.workload.parts();
    let id = |workload: u16, index: u32| match parts.get(usize::from(workload)) {
        Some(Workload::FlowGraph(graph)) => graph.flows[index as usize].id.as_str(),
        _ => "",
    };
    let host = |host: u32| &scenario.fabric.graph.nodes[host as usize].name;
    let start = |id: u32, workload: u16, at: Time, (from, to): (u32, u32)| {
        let workload = names.get(usize::from(workload)).copied().unwrap_or_default();
        let (at, from, to) = (at.as_secs_f64(), host(from), host(to));
        format!("{seed},{id},{workload},{at:.9},{from},{to}")
    };
    for f in &outcome.flows {
        let start = start(f.id, f.workload, f.start, (f.from, f.to));
        let (bytes, fct, ideal_fct) = (f.size.0, f.fct.as_secs_f64(), f.ideal_fct.as_secs_f64());
        let (goodput, id) = (bytes as f64 * 8.0 / fct, id(f.workload, f.index));
        let times = format!("{fct:.9},{ideal_fct:.9}");
        let _ = writeln!(csv, "{start},{bytes},{times},finished,{bytes},{goodput:.0},{id}");
    }
    for f in &outcome.unfinished {
        let seconds = (outcome.totals.simulated - f.start).as_secs_f64().max(1e-12);
        let start = start(f.id, f.workload, f.start, (f.from, f.to));
        let (bytes, delivered) = (f.size.0, f.delivered.0);
        let (goodput, id) = (delivered as f64 * 8.0 / seconds, id(f.workload, f.index));
        let _ = writeln!(csv, "{start},{bytes},,,unfinished,{delivered},{goodput:.0},{id}");
    }
    for f in &outcome.long_flows {
        let start = start(f.id, f.workload, f.start, (f.from, f.to));
        let (delivered, goodput) = (f.delivered.0, f.goodput().0);
        let _ = writeln!(csv, "{start},,,,long,{delivered},{goodput},");
    }
    csv
}

/// One line a sample and port. The link has the name that scenarios give it, the end that sends
/// first; its utilisation is the bytes sent over those that it could have sent since the sample
/// before.
pub fn link_lines(seed: u64, outcome: &Outcome) -> String {
    let mut csv = String::new();
    let samples = &outcome.samples;
    let width = samples.ports.len().max(1);
    let ends = |port: &PortName| format!("{},{},{}", port.link(), port.from, port.to);
    let ports: Vec<String> = samples.ports.iter().map(ends).collect();
    for ((row, at), interval) in samples.times.iter().enumerate().zip(samples.intervals()) {
        for (port, ends) in ports.iter().enumerate() {
            let place = row * width + port;
            let (sent, queued) = (samples.sent[place], samples.queued[place]);
            let (dropped, marked) = (samples.dropped[place], samples.marked[place]);
            let most = samples.ports[port].rate.bytes_in(interval).0.max(1) as f64;
            let (at, share) = (at.as_secs_f64(), f64::from(sent) / most);
            let _ = writeln!(
                csv,
                "{seed},{at:.9},{ends},{sent},{share:.6},{queued},{dropped},{marked}"
            );
        }
    }
    csv
}

/// Writes `summary.json`, `flows.csv` and, where the scenario samples, `links.csv` of runs that no
/// store keeps.
///
/// # Errors
/// The first file that cannot be written.
pub fn write(
    folder: &Path,
    result: &ScenarioResult,
    outcomes: &[(u64, Outcome)],
) -> Result<(), FileError> {
    let summary = folder.join("summary.json");
    let json = serde_json::to_vec_pretty(result).map_err(std::io::Error::other);
    write_atomically(&summary, &json.map_err(FileError::at(&summary))?)?;
    let table = |columns: &str, lines: &dyn Fn(u64, &Outcome) -> String| {
        let lines = outcomes.iter().map(|(seed, outcome)| lines(*seed, outcome));
        std::iter::once(format!("{columns}\n")).chain(lines).collect::<String>()
    };
    let flows = |seed, outcome: &Outcome| flow_lines(result.resolved, seed, outcome);
    write_atomically(&folder.join(FLOWS), table(FLOW_COLUMNS, &flows).as_bytes())?;
    if outcomes.iter().any(|(_, outcome)| !outcome.samples.times.is_empty()) {
        let links = table(LINK_COLUMNS, &link_lines);
        return write_atomically(&folder.join(LINKS), links.as_bytes());
    }
    remove(&folder.join(LINKS))
}

/// Removes a file that an earlier run left: it would not belong to this one.
///
/// # Errors
/// A file that is there and cannot be removed.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::at(path)(error))
        }
        _ => Ok(()),
    }
}

/// Writes one table of the tables that a store keeps of some cells, each line behind the values of
/// `settings`; nothing, if none has it. Gives true if it was written.
///
/// # Errors
/// The first file that cannot be read or written.
pub fn write_table(
    path: &Path,
    (store, name): (&Store, &str),
    columns: &str,
    cells: &[(String, &Cell)],
) -> Result<bool, FileError> {
    let mut file = Pending::create(path)?;
    file.write(columns.as_bytes())?;
    file.write(b"\n")?;
    let mut any = false;
    for (settings, cell) in cells {
        let Some(lines) = store.load_table(cell, name)? else { continue };
        any = true;
        for line in lines.lines() {
            file.write(settings.as_bytes())?;
            file.write(line.as_bytes())?;
            file.write(b"\n")?;
        }
    }
    if any {
        file.finish()?;
        return Ok(true);
    }
    file.discard()?;
    remove(path)?;
    Ok(false)
}

/// A file that has its name once it is whole.
struct Pending {
    path: PathBuf,
    pending: PathBuf,
    file: BufWriter<File>,
}

impl Pending {
    fn create(path: &Path) -> Result<Pending, FileError> {
        let mut pending = path.as_os_str().to_owned();
        pending.push(".part");
        let pending = PathBuf::from(pending);
        let file = File::create(&pending).map_err(FileError::at(&pending))?;
        Ok(Pending { path: path.to_owned(), pending, file: BufWriter::new(file) })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.file.write_all(bytes).map_err(FileError::at(&self.pending))
    }

    fn finish(mut self) -> Result<(), FileError> {
        self.file.flush().map_err(FileError::at(&self.pending))?;
        std::fs::rename(&self.pending, &self.path).map_err(FileError::at(&self.path))
    }

    fn discard(self) -> Result<(), FileError> {
        std::fs::remove_file(&self.pending).map_err(FileError::at(&self.pending))
    }
}
