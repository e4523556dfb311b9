//! Progress of an evaluation, and its interruption.

/// Progress of runs that go on side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Runs that are done.
    pub done: usize,
    /// All runs.
    pub runs: usize,
    /// Index of the run that has moved on, below `runs`.
    pub run: usize,
    /// Its name.
    pub label: &'a str,
    /// Its finished part, 0 to 1.
    pub part: f64,
    /// Packet hops that it has simulated; 0 if its result was kept from an earlier call.
    pub hops: u64,
}

/// Watches long work and can stop it. Called from any thread.
pub trait Monitor: Sync {
    /// True if the work must stop.
    fn stopped(&self) -> bool;

    /// Notes that an experiment starts.
    fn start(&self, _label: &str) {}

    /// Notes that a run has moved on.
    fn progress(&self, _progress: Progress<'_>) {}
}

/// A monitor that shows nothing and never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Monitor for Unattended {
    fn stopped(&self) -> bool {
        false
    }
}
