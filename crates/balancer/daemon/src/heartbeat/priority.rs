//! The priority of the heartbeat thread (sched(7)).
//!
//! On a machine whose processors are all busy a thread of ordinary priority waits for its turn, and
//! a heartbeat that is late proves nothing: other balancers' deaths are noticed late. With a
//! real-time priority the thread runs at once. It needs less than a thousandth of a processor.
//!
//! Threads inherit the priority of the thread that starts them. So a daemon that is about to lose
//! its capabilities takes the priority first, starts the thread, and gives its own back: that needs
//! no capability.
#![allow(unsafe_code)]

use std::io;

/// The lowest real-time priority: before all ordinary threads, and behind all others.
const LOWEST: libc::c_int = 1;

/// The calling thread has a real-time priority. Dropping it gives that back; threads started
/// meanwhile keep theirs.
#[derive(Debug)]
pub struct RealTime(());

impl RealTime {
    /// Raises the calling thread's priority. Needs CAP_SYS_NICE, or `LimitRTPRIO=1` in a systemd
    /// unit.
    ///
    /// # Errors
    /// The kernel's; without the permission [`io::ErrorKind::PermissionDenied`].
    pub fn take() -> io::Result<RealTime> {
        set(libc::SCHED_RR, LOWEST).map(|()| RealTime(()))
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        if let Err(error) = set(libc::SCHED_OTHER, 0) {
            tracing::warn!(%error, "the daemon keeps its real-time priority");
        }
    }
}

fn set(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: all fields are integers, and musl's reserved ones want zeros.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: 0 is the calling thread; the kernel reads the parameters and keeps no pointer.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use heddle_testing::{Need, skip_without};

    use super::*;

    fn policy() -> libc::c_int {
        // SAFETY: takes an integer and returns one.
        unsafe { libc::sched_getscheduler(0) }
    }

    #[test]
    fn a_thread_that_was_started_meanwhile_keeps_the_priority() {
        if skip_without(Need::Root) {
            return;
        }
        let real_time = RealTime::take().expect("root may");
        let (began, inherited) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            began.send(()).expect("the test waits");
            ended.recv().expect("the test says when");
            policy()
        });
        inherited.recv().expect("the thread says so");
        drop(real_time);
        end.send(()).expect("the thread waits");
        assert_eq!((policy(), thread.join().ok()), (libc::SCHED_OTHER, Some(libc::SCHED_RR)));
    }
}
