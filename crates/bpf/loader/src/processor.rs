//! Processor time of packets.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::Error;

/// A clock that runs while a processor handles packets: in a thread that sends them, or in the
/// kernel's own thread, to which it leaves packets under load. What other programs take meanwhile is
/// not in it.
#[derive(Debug)]
pub struct ProcessorClock {
    /// The kernel thread's times (/proc/PID/schedstat).
    softirqs: PathBuf,
}

impl ProcessorClock {
    /// That of `processor`, where this thread stays from now on.
    ///
    /// # Errors
    /// [`Error::Bench`] if this thread may not stay there, or /proc does not show the kernel's: its
    /// part of the time would be missing.
    pub fn new(processor: usize) -> Result<ProcessorClock, Error> {
        let failed = |why: String| Error::Bench(format!("time of processor {processor}: {why}"));
        stay_on(processor).map_err(|error| failed(error.to_string()))?;
        let name = format!("ksoftirqd/{processor}\n");
        let mut all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let thread = all.find(|entry| {
            std::fs::read_to_string(entry.path().join("comm")).is_ok_and(|found| found == name)
        });
        let thread = thread.ok_or_else(|| failed(format!("/proc has no {}", name.trim_end())))?;
        let clock = ProcessorClock { softirqs: thread.path().join("schedstat") };
        clock.now().map(|_| clock)
    }

    /// The time until now, of this thread and of the kernel's.
    ///
    /// # Errors
    /// [`Error::Bench`] if the kernel's cannot be read.
    pub fn now(&self) -> Result<Duration, Error> {
        let failed = |why: &dyn std::fmt::Display| {
            Error::Bench(format!("{}: {why}", self.softirqs.display()))
        };
        let text = std::fs::read_to_string(&self.softirqs).map_err(|error| failed(&error))?;
        let spent = text.split_whitespace().next().and_then(|number| number.parse().ok());
        let spent = spent.ok_or_else(|| failed(&"no processor time"))?;
        Ok(Duration::from_nanos(spent) + thread_time())
    }
}

/// Processor time of this thread.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub(crate) fn stay_on(processor: usize) -> io::Result<()> {
    let mut only = CpuSet::new();
    only.set(processor);
    Ok(sched_setaffinity(None, &only)?)
}
