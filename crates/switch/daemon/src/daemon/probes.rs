//! Probes of this ToR, on time: a thread of its own sends them once in a probe period (HULA section
//! 4.1).
//!
//! A period that was missed, on a busy machine, is not made up for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use heddle_switch_maps::Originator;
use heddle_wire::probe::TorId;
use heddle_wire::{EtherType, Probe};

/// Bytes of a frame without its check sequence: Ethernet's minimum.
const FRAME: usize = 60;
/// Bytes of an Ethernet header.
const HEADER: usize = 14;

/// The thread that sends probes. Dropped, it ends.
#[derive(Debug)]
pub struct Probes {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    ends: AtomicBool,
    sent: AtomicU64,
    failed: AtomicU64,
}

impl Probes {
    /// Sends the probes of ToR number `tor`.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(originator: Originator, tor: u16, period: Duration) -> io::Result<Probes> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let frame = frame(tor);
        let thread = thread::Builder::new()
            .name("probes".into())
            .spawn(move || run(&originator, &frame, period, &of_thread))?;
        Ok(Probes { shared, thread: Some(thread) })
    }

    /// Periods in which probes were sent.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::Relaxed)
    }

    /// Periods in which the kernel refused.
    pub fn failed(&self) -> u64 {
        self.shared.failed.load(Ordering::Relaxed)
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}

/// A probe with utilisation 0, but for the MAC addresses.
fn frame(tor: u16) -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    frame[HEADER - 2..HEADER].copy_from_slice(&EtherType::PROBE.0.to_be_bytes());
    if let Some(tor) = TorId::new(tor.into()) {
        // There is room.
        let _ = Probe { tor, path_util: 0 }.emit(&mut frame[HEADER..]);
    }
    frame
}

fn run(originator: &Originator, frame: &[u8], period: Duration, shared: &Shared) {
    let mut next = Instant::now();
    while !shared.ends.load(Ordering::Relaxed) {
        match originator.send(frame) {
            Ok(()) => shared.sent.fetch_add(1, Ordering::Relaxed),
            Err(error) => {
                if shared.failed.fetch_add(1, Ordering::Relaxed) == 0 {
                    tracing::error!(%error, "probes cannot be sent");
                }
                0
            }
        };
        next += period;
        let now = Instant::now();
        next = next.max(now);
        thread::sleep(next - now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_names_its_tor() {
        let frame = frame(258);
        assert_eq!(frame[12..18], [0x88, 0xb6, 0, 1, 2, 0]);
    }
}
