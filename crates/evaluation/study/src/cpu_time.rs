//! Processor time of the current thread, and of all.

#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};

/// Processor time that this thread has used, in seconds.
#[cfg(unix)]
pub fn thread_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// Processor time that all threads of this process have used, in seconds.
#[cfg(unix)]
pub fn process_seconds() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

#[cfg(unix)]
fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Time since the first call, in seconds: other systems have no clock of a thread's processor time
/// that is as easily read.
#[cfg(not(unix))]
pub fn thread_seconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// As [`thread_seconds`].
#[cfg(not(unix))]
pub fn process_seconds() -> f64 {
    thread_seconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let start = thread_seconds();
        let mut sum = 0u64;
        while thread_seconds() <= start {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(thread_seconds() > start);
    }
}
