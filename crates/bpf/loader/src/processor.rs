//! Processor time of packets.

use std::path::PathBuf;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// A clock that runs while a processor handles packets: in a thread that sends them, or in the
/// kernel's own thread, to which it leaves packets under load. What other programs take meanwhile is
/// not in it.
#[derive(Debug)]
pub struct ProcessorClock {
    /// The kernel thread's times; none where /proc does not show it.
    softirqs: Option<PathBuf>,
}

impl ProcessorClock {
    /// That of `processor`, where this thread stays from now on, if it may.
    pub fn new(processor: usize) -> ProcessorClock {
        stay_on(processor);
        let name = format!("ksoftirqd/{processor}\n");
        let mut all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let thread = all.find(|entry| {
            std::fs::read_to_string(entry.path().join("comm")).is_ok_and(|found| found == name)
        });
        ProcessorClock { softirqs: thread.map(|entry| entry.path().join("schedstat")) }
    }

    /// The time until now, of this thread and of the kernel's.
    pub fn now(&self) -> Duration {
        self.softirqs().unwrap_or_default() + thread_time()
    }

    fn softirqs(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(self.softirqs.as_ref()?).ok()?;
        Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
    }
}

/// Processor time of this thread.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Without the right to it the kernel may run two threads on one processor.
pub(crate) fn stay_on(processor: usize) {
    let mut only = CpuSet::new();
    only.set(processor);
    let _ = sched_setaffinity(None, &only);
}
