//! Files of what is recorded of runs: captures of links, traces of flows.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use heddle_claims::files::FileError;
use heddle_claims::{Monitor, Progress};
use heddle_scenario::{Scenario, ScenarioError};
use heddle_sim::{Frame, Next, Recorder, Recording, SimError, TracePoint, simulate_recorded};
use rayon::prelude::*;

use crate::cell::Cell;
use crate::grid::GridError;
use crate::pcap::PcapWriter;

/// Columns of a trace.
pub const TRACE_COLUMNS: &str = "time_s,subflow,cwnd_bytes,ssthresh_bytes,srtt_s,in_flight_bytes,acked_bytes,retransmitted,fast_recoveries,timeouts,first_hop,path";

/// Selection of what each run of a scenario records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The links of each capture as they were named.
    links: Vec<String>,
    recording: Recording,
}

impl Wanted {
    /// Captures of links, named as in a scenario's events, and traces of flows, by their numbers.
    ///
    /// # Errors
    /// A link that the scenario has not; links under UET, whose packets are no frames of TCP.
    pub fn new(
        scenario: &Scenario,
        links: &[String],
        flows: &[u32],
    ) -> Result<Wanted, ScenarioError> {
        if !links.is_empty() {
            scenario.check_frames()?;
        }
        let captures: Result<Vec<_>, _> = links.iter().map(|l| scenario.links_named(l)).collect();
        let recording = Recording { captures: captures?, traces: flows.to_vec() };
        Ok(Wanted { links: links.to_vec(), recording })
    }

    /// True if nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.recording == Recording::default()
    }

    /// Names of the files of a run: of its captures, and of its traces.
    fn names(&self, seed: u64) -> (Vec<String>, Vec<String>) {
        let captures = self.links.iter().map(|link| {
            let words: Vec<String> = link.split_whitespace().map(|w| w.replace('#', "")).collect();
            format!("{}-seed-{seed}.pcap", words.join("_"))
        });
        let traces = self.recording.traces.iter();
        let traces = traces.map(|flow| format!("flow-{flow}-seed-{seed}.csv"));
        (captures.collect(), traces.collect())
    }
}

/// Runs each cell, and writes what is wanted of it to a folder. Gives the names of the files.
///
/// # Errors
/// The first run that fails or is interrupted, a flow that never starts, and the first file that
/// cannot be written.
pub fn record(
    cells: &[Cell],
    wanted: &Wanted,
    folder: &Path,
    monitor: &dyn Monitor,
) -> Result<Vec<String>, GridError> {
    let done = AtomicUsize::new(0);
    let one = |(run, cell): (usize, &Cell)| {
        let mut watch = |progress: heddle_sim::Progress<'_>| {
            let (done, runs) = (done.load(Ordering::Relaxed), cells.len());
            let (part, hops, label) = (progress.done, progress.packet_hops, &*cell.label);
            monitor.progress(Progress { done, runs, run, label, part, hops });
            if monitor.stopped() { Next::Stop } else { Next::Continue }
        };
        let mut files = Files::create(wanted, cell.seed, folder)?;
        let recorded = (&wanted.recording, &mut files as &mut dyn Recorder);
        let outcome = simulate_recorded(&cell.scenario, cell.seed, recorded, &mut watch);
        let started =
            outcome.map_err(|error| failed(cell, error, cells.len()))?.totals.flows_started;
        if let Some(&flow) = wanted.recording.traces.iter().find(|&&f| u64::from(f) > started) {
            return Err(GridError::NoFlow { label: cell.label.clone(), flow, started });
        }
        done.fetch_add(1, Ordering::Relaxed);
        Ok(files.finish()?)
    };
    let names: Result<Vec<_>, GridError> = cells.par_iter().enumerate().map(one).collect();
    Ok(names?.concat())
}

fn failed(cell: &Cell, error: SimError, cells: usize) -> GridError {
    match error {
        SimError::Interrupted => GridError::Interrupted { done: 0, cells },
        error => GridError::Run { label: cell.label.clone(), error },
    }
}

/// The files of one run.
struct Files {
    folder: PathBuf,
    captures: Vec<(String, PcapWriter<BufWriter<File>>)>,
    traces: Vec<(String, BufWriter<File>)>,
    /// The first write that failed.
    error: Option<FileError>,
}

impl Files {
    fn create(wanted: &Wanted, seed: u64, folder: &Path) -> Result<Files, FileError> {
        let create = |name: &String| {
            let path = folder.join(name);
            File::create(&path).map(BufWriter::new).map_err(FileError::at(&path))
        };
        let (captures, traces) = wanted.names(seed);
        let capture = |name: String| {
            let pcap = PcapWriter::new(create(&name)?);
            Ok((name.clone(), pcap.map_err(FileError::at(&folder.join(name)))?))
        };
        let trace = |name: String| {
            let mut file = create(&name)?;
            let header = writeln!(file, "{TRACE_COLUMNS}");
            header.map_err(FileError::at(&folder.join(&name)))?;
            Ok((name, file))
        };
        Ok(Files {
            folder: folder.to_owned(),
            captures: captures.into_iter().map(capture).collect::<Result<_, FileError>>()?,
            traces: traces.into_iter().map(trace).collect::<Result<_, FileError>>()?,
            error: None,
        })
    }

    fn finish(mut self) -> Result<Vec<String>, FileError> {
        let mut names = Vec::new();
        for (name, pcap) in self.captures {
            pcap.finish().map_err(FileError::at(&self.folder.join(&name)))?;
            names.push(name);
        }
        for (name, mut file) in self.traces {
            file.flush().map_err(FileError::at(&self.folder.join(&name)))?;
            names.push(name);
        }
        self.error.take().map_or(Ok(names), Err)
    }
}

/// Keeps the first error of some writes to a file.
fn keep(error: &mut Option<FileError>, path: &Path, written: io::Result<()>) {
    if let (None, Err(new)) = (&error, written) {
        *error = Some(FileError::at(path)(new));
    }
}

impl Recorder for Files {
    fn frame(&mut self, capture: usize, at: heddle_units::Time, frame: &Frame) {
        let (name, pcap) = &mut self.captures[capture];
        let written = pcap.frame(at, frame.headers(), frame.wire_len());
        keep(&mut self.error, &self.folder.join(name), written);
    }

    fn sender(&mut self, trace: usize, point: &TracePoint<'_>) {
        let (name, file) = &mut self.traces[trace];
        let written = writeln!(file, "{}", trace_line(point));
        keep(&mut self.error, &self.folder.join(name), written);
    }
}

/// A line of a trace. The first hop is the switch behind the sender's ToR; where there is none,
/// both are on one ToR.
fn trace_line(point: &TracePoint<'_>) -> String {
    let TracePoint { at, subflow, state, path } = point;
    let counters = &state.counters;
    let ssthresh = state.ssthresh.map_or_else(String::new, |bytes| bytes.to_string());
    let srtt = state.srtt.map_or_else(String::new, |srtt| format!("{:.9}", srtt.as_secs_f64()));
    let first_hop = path.get(1).map_or("", String::as_str);
    format!(
        "{:.9},{subflow},{},{ssthresh},{srtt},{},{},{},{},{},{first_hop},{}",
        at.as_secs_f64(),
        state.cwnd,
        state.in_flight,
        state.acked,
        counters.retransmitted,
        counters.fast_recoveries,
        counters.timeouts,
        path.join(" ")
    )
}

#[cfg(test)]
mod tests;
