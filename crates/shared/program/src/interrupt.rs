//! Ctrl-C as a flag that long work looks at.

use std::sync::atomic::{AtomicBool, Ordering};

static STOPPED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C sets the flag; a second one ends the program at once, with exit code 130.
///
/// # Errors
/// If the system refuses the handler.
pub fn catch() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// True once the user has pressed Ctrl-C.
#[must_use]
pub fn stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}
