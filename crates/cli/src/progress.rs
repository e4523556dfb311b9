//! Progress bars.

use std::sync::Mutex;

use heddle_claims::{Monitor, Progress};
use heddle_program::interrupt;
use heddle_sim::Next;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;

/// `Next::Stop` once the user has pressed Ctrl-C.
pub(crate) fn next() -> Next {
    if interrupt::stopped() { Next::Stop } else { Next::Continue }
}

/// A bar over many runs, which counts parts of runs too; a line for each experiment.
pub(crate) struct GridBar {
    bar: ProgressBar,
    parts: Mutex<Vec<f64>>,
    quiet: bool,
}

const STEPS: f64 = 1000.0;

impl GridBar {
    pub(crate) fn new(common: &Common) -> GridBar {
        let bar = ProgressBar::new(0);
        if common.quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let template = "{wide_bar} {percent:>3} %  {elapsed} gone, {eta} left  {msg:.40}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        GridBar { bar, parts: Mutex::default(), quiet: common.quiet }
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
        if let Ok(mut parts) = self.parts.lock() {
            parts.resize(progress.runs, 0.0);
            if let Some(part) = parts.get_mut(progress.run) {
                *part = progress.part.clamp(*part, 1.0);
            }
            self.bar.set_length((progress.runs as f64 * STEPS) as u64);
            self.bar.set_position((parts.iter().sum::<f64>() * STEPS) as u64);
        }
        self.bar.set_message(progress.label.to_owned());
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
