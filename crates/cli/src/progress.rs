//! Progress bars.

use std::sync::Mutex;

use heddle_program::interrupt;
use heddle_sim::Next;
use heddle_study::grid::GridProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;

/// `Next::Stop` once the user has pressed Ctrl-C.
pub(crate) fn next() -> Next {
    if interrupt::stopped() { Next::Stop } else { Next::Continue }
}

/// A bar over many runs, which counts parts of runs too.
pub(crate) struct GridBar {
    bar: ProgressBar,
    parts: Mutex<Vec<f64>>,
}

const STEPS: f64 = 1000.0;

impl GridBar {
    pub(crate) fn new(common: &Common, cells: usize) -> GridBar {
        let bar = ProgressBar::new((cells as f64 * STEPS) as u64);
        if common.quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let template = "{wide_bar} {percent:>3} %  {elapsed} gone, {eta} left  {msg:.40}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        GridBar { bar, parts: Mutex::new(vec![0.0; cells]) }
    }

    /// Takes in progress from any thread and says whether to go on.
    pub(crate) fn update(&self, progress: GridProgress<'_>) -> Next {
        if let Ok(mut parts) = self.parts.lock() {
            if let Some(part) = parts.get_mut(progress.cell) {
                *part = progress.cell_done.clamp(*part, 1.0);
            }
            self.bar.set_position((parts.iter().sum::<f64>() * STEPS) as u64);
        }
        self.bar.set_message(progress.label.to_owned());
        next()
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
