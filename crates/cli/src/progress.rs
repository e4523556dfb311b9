//! Progress bars.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use heddle_claims::{Monitor, Progress};
use heddle_program::interrupt;
use heddle_sim::Next;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;

/// `Next::Stop` once the user has pressed Ctrl-C.
pub(crate) fn next() -> Next {
    if interrupt::stopped() { Next::Stop } else { Next::Continue }
}

/// A bar over many runs, which counts parts of runs too; a line for each experiment. Where standard
/// error is no terminal, a line now and then. Runs after all are done begin anew, as those of an
/// evaluation's next profile.
pub(crate) struct GridBar {
    bar: ProgressBar,
    work: Mutex<Work>,
    /// Time of the last line; `None` on a terminal, which has the bar.
    lines: Option<Mutex<Instant>>,
    quiet: bool,
}

const STEPS: f64 = 1000.0;

/// Time between two lines.
const EVERY: Duration = Duration::from_secs(10);

/// Before this part is done, an estimate says nothing.
const LEAST_PART: f64 = 0.01;

impl GridBar {
    pub(crate) fn new(common: &Common) -> GridBar {
        let is_terminal = console::Term::stderr().is_term();
        let bar = ProgressBar::new(0);
        if common.quiet || !is_terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let template = "{wide_bar} {percent:>3} %  {elapsed} gone, {prefix} left  {msg:.40}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let lines = (!common.quiet && !is_terminal).then(|| Mutex::new(Instant::now()));
        GridBar { bar, work: Mutex::default(), lines, quiet: common.quiet }
    }

    /// Prints a text above the bar.
    pub(crate) fn say(&self, text: &str) {
        match self.lines {
            Some(_) => eprintln!("{text}"),
            None => self.bar.println(text),
        }
    }

    /// Prints a line, if the last is long ago.
    fn line(&self, part: f64, left: &str, progress: &Progress<'_>) {
        let Some(Ok(mut last)) = self.lines.as_ref().map(Mutex::lock) else { return };
        if last.elapsed() >= EVERY {
            *last = Instant::now();
            let (done, runs) = (progress.done, progress.runs);
            let percent = (100.0 * part).floor();
            eprintln!("{percent} %, {done} of {runs} runs done, {left} left: {}", progress.label);
        }
    }
}

/// Work of all runs, in packet hops: done, and expected from what has moved on so far. A run that
/// was kept from an earlier call is no work.
#[derive(Default)]
struct Work {
    /// Time of the first report.
    started: Option<Instant>,
    /// Finished part and hops of each run; `None` before its first report.
    runs: Vec<Option<(f64, u64)>>,
}

impl Work {
    fn note(&mut self, progress: &Progress<'_>) {
        self.started.get_or_insert_with(Instant::now);
        self.runs.resize(progress.runs, None);
        if let Some(run) = self.runs.get_mut(progress.run) {
            *run = Some((progress.part.clamp(0.0, 1.0), progress.hops));
        }
    }

    /// Time since the first report.
    fn elapsed(&self) -> Duration {
        self.started.map(|started| started.elapsed()).unwrap_or_default()
    }

    /// Forgets runs that are all done. True if they are.
    fn end(&mut self, progress: &Progress<'_>) -> bool {
        let ended = progress.done == progress.runs;
        if ended {
            *self = Work::default();
        }
        ended
    }

    /// Hops done by hops expected, 0 to 1. A run is expected to go on as it began; one that has
    /// hardly begun is expected to be as long as the mean of the others.
    fn share(&self) -> f64 {
        let begun = || self.runs.iter().flatten().filter(|(_, hops)| *hops > 0);
        let done: f64 = begun().map(|(_, hops)| *hops as f64).sum();
        let known: Vec<f64> = begun()
            .filter(|(part, _)| *part >= LEAST_PART)
            .map(|(part, hops)| *hops as f64 / part)
            .collect();
        let kept = self.runs.iter().flatten().filter(|(part, hops)| *part >= 1.0 && *hops == 0);
        let kept = kept.count();
        let unknown = self.runs.len() - known.len() - kept;
        if known.is_empty() {
            let all_kept = kept > 0 && unknown == 0;
            return if all_kept { 1.0 } else { 0.0 };
        }
        let sum: f64 = known.iter().sum();
        let expected = sum * (1.0 + unknown as f64 / known.len() as f64);
        (done / expected).min(1.0)
    }
}

/// The time that is left when a part of the work is done, as text.
fn remaining(elapsed: Duration, part: f64) -> String {
    let seconds = elapsed.as_secs_f64() * (1.0 - part) / part;
    // When a few flows are left, the time that they take is their own.
    if part < LEAST_PART || (part < 1.0 && seconds < 1.0) {
        return "?".to_owned();
    }
    match seconds as u64 {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

impl Monitor for GridBar {
    fn stopped(&self) -> bool {
        interrupt::stopped()
    }

    fn start(&self, label: &str) {
        if !self.quiet {
            eprintln!("{label}");
        }
    }

    fn progress(&self, progress: Progress<'_>) {
        let Ok(mut work) = self.work.lock() else { return };
        if work.runs.is_empty() {
            self.bar.reset();
        }
        work.note(&progress);
        let share = work.share();
        let left = remaining(work.elapsed(), share);
        self.line(share, &left, &progress);
        self.bar.set_length(STEPS as u64);
        self.bar.set_position((share * STEPS) as u64);
        self.bar.set_prefix(left);
        self.bar.set_message(progress.label.to_owned());
        if work.end(&progress) {
            self.bar.finish_and_clear();
        }
    }
}

impl Drop for GridBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share that is done after these reports of three runs: run, part, hops.
    fn share(reports: &[(usize, f64, u64)]) -> f64 {
        let mut work = Work::default();
        for &(run, part, hops) in reports {
            work.note(&Progress { done: 0, runs: 3, run, label: "", part, hops });
        }
        work.share()
    }

    #[test]
    fn work_is_counted_in_packet_hops() {
        assert_eq!(share(&[]), 0.0);
        assert_eq!(share(&[(0, 0.5, 100)]), 100.0 / 600.0, "the others are as long as the first");
        let heavy = [(0, 1.0, 100), (1, 0.5, 400), (2, 0.0, 0)];
        assert_eq!(share(&heavy), 500.0 / 1350.0, "the third is as long as the mean");
        assert_eq!(share(&[(0, 1.0, 100), (1, 1.0, 800), (2, 1.0, 300)]), 1.0);
    }

    #[test]
    fn kept_runs_are_no_work() {
        assert_eq!(share(&[(0, 1.0, 0), (1, 1.0, 0)]), 0.0, "nothing tells how long the third is");
        assert_eq!(share(&[(0, 1.0, 0), (1, 1.0, 0), (2, 0.25, 10)]), 0.25);
        assert_eq!(share(&[(0, 1.0, 0), (1, 1.0, 0), (2, 1.0, 0)]), 1.0);
    }

    #[test]
    fn the_next_profile_begins_anew() {
        let report = |done, run, part, hops| Progress { done, runs: 2, run, label: "", part, hops };
        let mut work = Work::default();
        work.note(&report(1, 0, 1.0, 100));
        assert!(!work.end(&report(1, 0, 1.0, 100)));
        work.note(&report(2, 1, 1.0, 100));
        assert_eq!(work.share(), 1.0);
        assert!(work.end(&report(2, 1, 1.0, 100)));
        work.note(&report(0, 0, 0.5, 100));
        assert_eq!(work.share(), 0.25, "half of the first of two");
    }

    #[test]
    fn an_estimate_waits_for_something_to_go_by() {
        let left = |seconds, part| remaining(Duration::from_secs(seconds), part);
        assert_eq!(left(5, 0.0), "?");
        assert_eq!(left(5, 0.5), "5 s");
        assert_eq!(left(60, 0.25), "3 min");
        assert_eq!(left(3600, 0.25), "3.0 h");
        assert_eq!(left(60, 0.999), "?", "the last flow may take long");
        assert_eq!(left(3600, 1.0), "0 s");
    }
}
