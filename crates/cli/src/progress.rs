//! Progress bars, and Ctrl-C.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use heddle_sim::Next;
use heddle_study::grid::GridProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the work to stop; a second one ends the program at once.
pub(crate) fn catch_interrupts() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Whether work should go on.
pub(crate) fn next() -> Next {
    if STOPPED.load(Ordering::Relaxed) { Next::Stop } else { Next::Continue }
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
