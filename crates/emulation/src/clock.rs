//! The machine's monotonic clock, which all namespaces share: a receiver's time can be compared
//! with a sender's.

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds of the clock.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until the clock shows `nanos`.
pub fn sleep_until(nanos: u64) {
    let until = Timespec {
        tv_sec: (nanos / 1_000_000_000) as i64,
        tv_nsec: (nanos % 1_000_000_000) as i64,
    };
    while clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &until) == Err(Errno::INTR) {
    }
}
