//! A download over several subflows, each of which is watched.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{io, thread};

use anyhow::{Context as _, anyhow, bail};
use heddle_lab::{Connection, LabError, Status, StatusReader};
use serde::Serialize;

/// Time between two looks at the subflows.
const SAMPLING: Duration = Duration::from_millis(5);

/// A subflow that received nothing for this long before the end is not live.
const SILENCE: Duration = Duration::from_millis(500);

/// A subflow's part in a download.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    first: Instant,
    last: Instant,
    /// Bytes received.
    pub(super) bytes: u64,
    /// The longest time without a byte.
    pub(super) longest_stall: Duration,
    established: bool,
}

/// A subflow at the end of a download.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum End {
    /// Established, with bytes to the end.
    Live,
    /// Established, but nothing came any more.
    Stalled,
    /// Closed or reset.
    Gone,
}

impl Part {
    fn new(now: Instant, bytes: u64) -> Part {
        Part { first: now, last: now, bytes, longest_stall: Duration::ZERO, established: true }
    }

    fn look(&mut self, now: Instant, bytes: u64) {
        if bytes > self.bytes {
            self.longest_stall = self.longest_stall.max(now - self.last);
            (self.last, self.bytes) = (now, bytes);
        }
    }

    /// The time for which it goes without a byte at the end counts, too.
    fn end(&mut self, now: Instant) -> End {
        let silence = now - self.last.max(self.first);
        self.longest_stall = self.longest_stall.max(silence);
        match (self.established, silence < SILENCE) {
            (false, _) => End::Gone,
            (true, true) => End::Live,
            (true, false) => End::Stalled,
        }
    }
}

/// The parts of all subflows, by the client's address and port.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<SocketAddr, Part>);

impl Parts {
    fn look(&mut self, now: Instant, status: &Status) {
        for (local, part) in &mut self.0 {
            part.established = status.has(*local);
        }
        for flow in status.subflows.iter().filter(|flow| flow.established) {
            let part = self.0.entry(flow.local);
            part.or_insert_with(|| Part::new(now, flow.bytes_received))
                .look(now, flow.bytes_received);
        }
    }
}

/// A download that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Each subflow's address and port at the client, its part, and its state at the end.
    pub(super) parts: Vec<(SocketAddr, Part, End)>,
    /// The duration of all of it.
    pub(super) took: Duration,
}

/// Downloads; `event` happens once, beside it, when a third has arrived. Its argument is the time
/// at which the download began.
///
/// # Errors
/// If the connection breaks, a byte is wrong, or the event fails or comes after the last byte.
pub(super) fn download(
    connection: &mut Connection,
    bytes: u64,
    mut progress: impl FnMut(u64),
    event: impl FnOnce(Instant) -> Result<(), LabError> + Send,
) -> anyhow::Result<Ended> {
    // The download borrows the connection; the reader is a second handle on its socket.
    let reader = connection.status_reader()?;
    let done = AtomicBool::new(false);
    let (a_third, arrived) = mpsc::sync_channel(1);
    let begun = Instant::now();
    thread::scope(|scope| {
        let parts = scope.spawn(|| watch(&reader, &done));
        let event = scope.spawn(move || {
            arrived.recv().map_err(|_| anyhow!("the download ended before its third"))?;
            event(begun)?;
            Ok(Instant::now())
        });
        let downloaded = connection.download(bytes, 7, |so_far| {
            progress(so_far);
            if so_far > bytes / 3 {
                // It is taken once; what comes later finds the channel full or closed.
                let _ = a_third.try_send(());
            }
        });
        let now = Instant::now();
        drop(a_third);
        done.store(true, Ordering::Relaxed);
        let (parts, happened) = (joined(parts.join()), joined::<anyhow::Result<_>>(event.join()));
        let took = downloaded.context("the download")?;
        if happened? > now {
            bail!("the download was over before a balancer could fail: take more --megabytes");
        }
        let ended = parts.context("the subflows' state")?.0.into_iter().map(|(local, mut part)| {
            let end = part.end(now);
            (local, part, end)
        });
        Ok(Ended { parts: ended.collect(), took })
    })
}

/// The result of a thread, or its panic.
fn joined<T>(thread: thread::Result<T>) -> T {
    thread.unwrap_or_else(|panic| resume_unwind(panic))
}

fn watch(reader: &StatusReader, done: &AtomicBool) -> io::Result<Parts> {
    let mut parts = Parts::default();
    while !done.load(Ordering::Relaxed) {
        parts.look(Instant::now(), &reader.status()?);
        thread::sleep(SAMPLING);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_bytes_at_the_end_is_not_live() {
        let zero = Instant::now();
        let at = |ms| zero + Duration::from_millis(ms);
        let mut part = Part::new(zero, 10);
        part.look(at(100), 20);
        part.look(at(400), 30);
        part.look(at(500), 30);
        assert_eq!(part.end(at(600)), End::Live);
        assert_eq!(part.longest_stall, Duration::from_millis(300));
        assert_eq!(part.end(at(1000)), End::Stalled);
        assert_eq!(part.longest_stall, Duration::from_millis(600), "it had not ended");
        part.established = false;
        assert_eq!(part.end(at(1000)), End::Gone);
    }
}
