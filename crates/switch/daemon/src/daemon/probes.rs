//! Probes of this ToR, on time: a thread of its own sends them once in a probe period (HULA section
//! 4.1).
//!
//! A period that was missed, on a busy machine, is not made up for.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use heddle_switch_maps::Originator;
use heddle_wire::probe::TorId;
use heddle_wire::{EtherType, Ipv4Header, Probe};

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
    /// Sends a ToR's probe once in a period.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(
        originator: Originator,
        frame: [u8; FRAME],
        period: Duration,
    ) -> io::Result<Probes> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
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

/// The header in front of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Ethernet's, with the probe's own EtherType.
    Ethernet,
    /// IPv4's, to all systems on the link.
    Ipv4 {
        /// IPv4's number of the protocol.
        protocol: u8,
        /// The sender's address.
        source: Ipv4Addr,
    },
}

/// All systems on the link (RFC 1112): no router forwards it.
const ALL_SYSTEMS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);

/// A probe of ToR number `tor` with utilisation 0, but for the MAC addresses.
pub fn frame(tor: u16, header: Header) -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    let (kind, at) = match header {
        Header::Ethernet => (EtherType::PROBE, HEADER),
        Header::Ipv4 { protocol, source } => {
            let payload_len = (FRAME - HEADER - Ipv4Header::BYTES) as u16;
            let destination = ALL_SYSTEMS;
            let ip = Ipv4Header { source, destination, protocol, ttl: 64, ecn: 0, payload_len };
            // There is room.
            let _ = ip.emit(&mut frame[HEADER..]);
            (EtherType::IPV4, HEADER + Ipv4Header::BYTES)
        }
    };
    frame[HEADER - 2..HEADER].copy_from_slice(&kind.0.to_be_bytes());
    if let Some(tor) = TorId::new(tor.into()) {
        // There is room.
        let _ = Probe { tor, path_util: 0 }.emit(&mut frame[at..]);
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
        let frame = frame(258, Header::Ethernet);
        assert_eq!(frame[12..18], [0x88, 0xb6, 0, 1, 2, 0]);
    }

    /// HULA section 4.2: 64 bytes with the check sequence; figure 3a: dst_tor and path_util behind
    /// IPv4.
    #[test]
    fn a_probe_behind_ipv4_is_the_papers() {
        let source = Ipv4Addr::new(198, 18, 0, 3);
        let frame = frame(258, Header::Ipv4 { protocol: 253, source });
        assert_eq!(frame.len() + 4, 64);
        assert_eq!(frame[12..18], [0x08, 0x00, 0x45, 0, 0, 46]);
        assert_eq!(frame[22..24], [64, 253], "TTL and protocol");
        assert_eq!(frame[26..34], [198, 18, 0, 3, 224, 0, 0, 1]);
        assert_eq!(frame[34..38], [0, 1, 2, 0]);
        assert!(crate::frames::header_is_right(&frame[14..]));
    }
}
