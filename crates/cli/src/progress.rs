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

/// A bar over many runs, which counts parts of runs too; a line for each experiment. Where standard error is no terminal, a line now and
/// then.
pub(crate) struct GridBar {
    bar: ProgressBar,
    parts: Mutex<Vec<f64>>,
    started: Instant,
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
        let started = Instant::now();
        let lines = (!common.quiet && !is_terminal).then(|| Mutex::new(started));
        GridBar { bar, parts: Mutex::default(), started, lines, quiet: common.quiet }
    }

    /// Prints a line, if the last is long ago.
    fn line(&self, part: f64, progress: &Progress<'_>) {
        let Some(Ok(mut last)) = self.lines.as_ref().map(Mutex::lock) else { return };
        if last.elapsed() >= EVERY {
            *last = Instant::now();
            let left = remaining(self.started.elapsed(), part);
            let (done, runs) = (progress.done, progress.runs);
            eprintln!(
                "{:.0} %, {done} of {runs} runs done, {left} left: {}",
                100.0 * part,
                progress.label
            );
        }
    }
}

/// The time that is left when a part is done, as text. Work is even over the parts of a run, which are counted in packet hops.
fn remaining(elapsed: Duration, part: f64) -> String {
    if part < LEAST_PART {
        return "?".to_owned();
    }
    let seconds = elapsed.as_secs_f64() * (1.0 - part) / part;
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
        let mut share = 0.0;
        if let Ok(mut parts) = self.parts.lock() {
            parts.resize(progress.runs, 0.0);
            if let Some(part) = parts.get_mut(progress.run) {
                *part = progress.part.clamp(*part, 1.0);
            }
            let sum: f64 = parts.iter().sum();
            share = sum / progress.runs.max(1) as f64;
            self.bar.set_length((progress.runs as f64 * STEPS) as u64);
            self.bar.set_position((sum * STEPS) as u64);
        }
        self.bar.set_prefix(remaining(self.started.elapsed(), share));
        self.bar.set_message(progress.label.to_owned());
        self.line(share, &progress);
        if progress.done == progress.runs {
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

    #[test]
    fn an_estimate_waits_for_something_to_go_by() {
        let left = |seconds, part| remaining(Duration::from_secs(seconds), part);
        assert_eq!(left(5, 0.0), "?");
        assert_eq!(left(5, 0.5), "5 s");
        assert_eq!(left(60, 0.25), "3 min");
        assert_eq!(left(3600, 0.25), "3.0 h");
        assert_eq!(left(3600, 1.0), "0 s");
    }
}
