//! Load for measurements: frames from several processors at once, counts of what arrived, and a
//! network of one's own for both.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::processor::stay_on;
use crate::{Clients, Error, Generator};

/// A generator on each of some processors, that all send out of one interface.
pub struct Senders(Vec<Generator>);

impl Senders {
    /// For processors 0 to `processors` - 1, and an interface of this thread's network namespace
    /// ([`crate::interface_index`]).
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take the generators' program.
    pub fn new(interface: u32, processors: usize) -> Result<Senders, Error> {
        (0..processors).map(|_| Generator::new(interface)).collect::<Result<_, _>>().map(Senders)
    }

    /// Has each generator send `count` frames, all at the same time: the time until the last has
    /// ended. On a veth pair with a queue for each processor, the programs at the far end run
    /// within it, on the generator's processor.
    ///
    /// # Errors
    /// As [`Generator::send`].
    pub fn send(&mut self, frame: &[u8], clients: Clients, count: u32) -> Result<Duration, Error> {
        let together = Barrier::new(self.0.len());
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..)
                .zip(&mut self.0)
                .map(|(processor, generator)| {
                    let together = &together;
                    scope.spawn(move || {
                        // Without the right to it the kernel may run two threads on one processor.
                        let _ = stay_on(processor);
                        together.wait();
                        let start = Instant::now();
                        generator.send(frame, clients, count).map(|()| (start, Instant::now()))
                    })
                })
                .collect();
            let spans = threads.into_iter().map(|thread| match thread.join() {
                Ok(span) => span,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            span_of_all(&spans.collect::<Result<Vec<_>, _>>()?)
        })
    }
}

/// From the first start to the last end.
fn span_of_all(spans: &[(Instant, Instant)]) -> Result<Duration, Error> {
    let start = spans.iter().map(|(start, _)| *start).min();
    let end = spans.iter().map(|(_, end)| *end).max();
    match (start, end) {
        (Some(start), Some(end)) => Ok(end - start),
        _ => Err(Error::Bench("no processor to send from".into())),
    }
}

/// Packets that an interface of this thread's network namespace has received, those of XDP
/// included.
///
/// # Errors
/// [`Error::Interface`] if there is no such interface.
pub fn received(interface: &str) -> Result<u64, Error> {
    let failed = |error| Error::Interface { name: interface.into(), error };
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").map_err(failed)?;
    let counts =
        text.lines().find_map(|line| line.trim_start().strip_prefix(interface)?.strip_prefix(':'));
    let packets = counts.and_then(|counts| counts.split_whitespace().nth(1)?.parse().ok());
    packets.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
}

/// Gives this thread, and the processes and threads that it starts, a network namespace of its own,
/// without interfaces but lo.
///
/// # Errors
/// [`Error::Bench`] without CAP_SYS_ADMIN.
#[allow(unsafe_code, reason = "rustix marks it so for other namespaces' sake")]
pub fn own_network() -> Result<(), Error> {
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    // SAFETY: only the network namespace is unshared: file descriptors stay as they are.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }
        .map_err(|error| Error::Bench(format!("no network namespace: {error}")))
}
