//! The links that each subflow takes: an observer behind the links that come down from the top tier.
//!
//! A packet socket in the namespace below reads the first bytes of each frame. The Ethernet address says the link, the IP header the sender: of
//! a connection's subflows each has an address of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use heddle_lab::enter;
use heddle_wire::{EtherType, Ethernet, Shim};
use serde::Serialize;
use socket2::{Domain, Protocol, Socket, Type};

use crate::addresses::Addresses;
use crate::network::Network;
use crate::{EmulationError, clock};

/// Bytes read of each frame: Ethernet, a shim, IP and TCP with all options.
const SNAP: usize = 160;
/// The kernel's buffer for frames that are not read yet.
const BUFFER: usize = 16 << 20;
/// `ETH_P_ALL`.
const ALL: u16 = 3;
/// `AF_PACKET`.
const PACKET: i32 = 17;
/// Frames shorter than this carry no data.
const DATA: u64 = 200;
/// Nanoseconds in a span over which links are compared.
const SPAN: u64 = 100_000_000;
/// Frames that make a subflow count as sending in a span.
const LEAST: u64 = 3;

/// A subflow on a link in a millisecond: (sender's address, link, millisecond of the clock).
type Seen = BTreeMap<(Ipv4Addr, u32, u64), u64>;

/// Observers in all switches below the top tier.
pub struct Observer {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    seen: mpsc::Receiver<Seen>,
}

/// The observations.
#[derive(Clone, Debug, Default)]
pub struct Observed(Seen);

/// Links of connections with two sending subflows or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sharing {
    /// Connections in a tenth of a second, with two subflows that sent at least three frames.
    pub samples: u64,
    /// Those whose subflows took different links for most of their frames.
    pub apart: u64,
}

/// A subflow whose link failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Move {
    /// The subflow's sender.
    pub address: Ipv4Addr,
    /// Seconds from the failure until its first data on another link; `None` if there was none.
    pub seconds: Option<f64>,
}

impl Observer {
    /// Starts to observe.
    ///
    /// # Errors
    /// If the kernel refuses a packet socket.
    pub fn start(network: &Network) -> Result<Observer, EmulationError> {
        let (sender, seen) = mpsc::channel();
        let mut observer =
            Observer { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new(), seen };
        for switch in network.switches() {
            let links = links_from_top(network, switch);
            if links.is_empty() {
                continue;
            }
            let socket = enter(&network.path(switch), open)?
                .map_err(EmulationError::system("a packet socket"))?;
            let (stop, sender) = (observer.stop.clone(), sender.clone());
            observer.threads.push(std::thread::spawn(move || {
                // Nobody waits for it if the run has failed.
                let _ = sender.send(observe(socket, &links, &stop));
            }));
        }
        Ok(observer)
    }

    /// Ends the observation.
    pub fn finish(self) -> Observed {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // A thread that panicked has sent nothing.
            let _ = thread.join();
        }
        Observed(self.seen.try_iter().flatten().collect())
    }
}

impl Observed {
    /// The number of times that the subflows of a connection took different links between two times of the monotonic clock, in nanoseconds.
    pub fn sharing(&self, from: u64, to: u64) -> Sharing {
        let mut frames: BTreeMap<(Ipv4Addr, u64), BTreeMap<(Ipv4Addr, u32), u64>> = BTreeMap::new();
        for (&(address, link, millis), &count) in &self.0 {
            let at = millis * 1_000_000;
            if (from..to).contains(&at) {
                let connection =
                    frames.entry((Addresses::host_of(address), at / SPAN)).or_default();
                *connection.entry((address, link)).or_default() += count;
            }
        }
        let mut sharing = Sharing::default();
        for links in frames.values().map(main_links).filter(|links| links.len() > 1) {
            sharing.samples += 1;
            let different: BTreeSet<u32> = links.values().copied().collect();
            sharing.apart += u64::from(different.len() == links.len());
        }
        sharing
    }

    /// The subflows that had data on a link in the half second before it failed, and the time until they had some on another.
    pub fn moves(&self, failed: u32, at: u64) -> Vec<Move> {
        let at = at / 1_000_000;
        let on_it = |&&(_, link, millis): &&(Ipv4Addr, u32, u64)| {
            link == failed && (at.saturating_sub(500)..at).contains(&millis)
        };
        let affected: BTreeSet<Ipv4Addr> = self.0.keys().filter(on_it).map(|key| key.0).collect();
        let moved = |address: Ipv4Addr| {
            let mut later = self
                .0
                .keys()
                .filter(|(own, link, millis)| *own == address && *link != failed && *millis > at);
            let first = later.by_ref().map(|key| key.2).min();
            Move { address, seconds: first.map(|millis| (millis - at) as f64 / 1e3) }
        };
        affected.into_iter().map(moved).collect()
    }
}

/// The link that each sending subflow took most.
fn main_links(frames: &BTreeMap<(Ipv4Addr, u32), u64>) -> BTreeMap<Ipv4Addr, u32> {
    let mut most: BTreeMap<Ipv4Addr, (u64, u32)> = BTreeMap::new();
    for (&(address, link), &count) in frames {
        let best = most.entry(address).or_default();
        *best = (count, link).max(*best);
    }
    let sending = most.into_iter().filter(|(_, (count, _))| *count >= LEAST);
    sending.map(|(address, (_, link))| (address, link)).collect()
}

/// The Ethernet addresses of a switch's ports to the top tier, and their links.
fn links_from_top(network: &Network, switch: u32) -> BTreeMap<[u8; 6], u32> {
    let graph = &network.scenario.fabric.graph;
    let top = graph.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    let from_top =
        network.devices(switch).filter(|device| graph.nodes[device.info.to as usize].tier == top);
    let own =
        |device: crate::network::Device<'_>| (network.own_mac(&device).octets(), device.info.link);
    from_top.map(own).collect()
}

fn open() -> std::io::Result<Socket> {
    let all = Protocol::from(i32::from(ALL.to_be()));
    let socket = Socket::new(Domain::from(PACKET), Type::RAW, Some(all))?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    Ok(socket)
}

fn observe(mut socket: Socket, links: &BTreeMap<[u8; 6], u32>, stop: &AtomicBool) -> Seen {
    let mut seen = Seen::new();
    let mut frame = [0; SNAP];
    while !stop.load(Ordering::Relaxed) {
        let Ok(length) = socket.read(&mut frame) else { continue };
        let read = frame.get(..length).unwrap_or_default();
        let link = read.first_chunk().and_then(|mac: &[u8; 6]| links.get(mac));
        if let Some((&link, address)) = link.zip(sender(read)) {
            *seen.entry((address, link, clock::now() / 1_000_000)).or_default() += 1;
        }
    }
    seen
}

/// The sender of a data packet, whether a shim stands before it or not.
fn sender(frame: &[u8]) -> Option<Ipv4Addr> {
    let ethernet = Ethernet::parse(frame).ok()?;
    let (kind, packet) = match ethernet.ether_type {
        EtherType::SHIM => {
            Shim::parse(ethernet.payload).ok().map(|(_, kind, packet)| (kind, packet))?
        }
        kind => (kind, ethernet.payload),
    };
    let length = u64::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]));
    let address: [u8; 4] = packet.get(12..16)?.try_into().ok()?;
    (kind == EtherType::IPV4 && length >= DATA).then(|| address.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 1, 1, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 1, 1, 2);

    fn observed(seen: &[(Ipv4Addr, u32, u64, u64)]) -> Observed {
        Observed(seen.iter().map(|&(a, link, millis, count)| ((a, link, millis), count)).collect())
    }

    #[test]
    fn subflows_of_one_host_are_compared_by_their_main_links() {
        // Apart in the first span, together in the second, one subflow alone in the third.
        let seen = observed(&[
            (A, 1, 10, 5),
            (A, 2, 20, 1),
            (B, 2, 10, 5),
            (A, 1, 110, 5),
            (B, 1, 120, 5),
            (A, 1, 210, 5),
            (B, 2, 210, 2),
        ]);
        assert_eq!(seen.sharing(0, u64::MAX), Sharing { samples: 2, apart: 1 });
        assert_eq!(seen.sharing(100_000_000, u64::MAX), Sharing { samples: 1, apart: 0 });
    }

    #[test]
    fn a_move_is_the_first_data_on_another_link() {
        let seen = observed(&[(A, 1, 900, 5), (A, 2, 1030, 1), (B, 1, 990, 5), (B, 1, 1010, 1)]);
        let moves = seen.moves(1, 1_000_000_000);
        assert_eq!(moves[0], Move { address: A, seconds: Some(0.03) });
        assert_eq!(moves[1], Move { address: B, seconds: None });
        assert!(seen.moves(3, 1_000_000_000).is_empty());
    }

    #[test]
    fn acknowledgements_and_foreign_frames_have_no_sender() {
        let mut frame = [0u8; 100];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[14] = 0x45;
        frame[16..18].copy_from_slice(&1400u16.to_be_bytes());
        frame[26..30].copy_from_slice(&A.octets());
        assert_eq!(sender(&frame), Some(A));
        frame[16..18].copy_from_slice(&60u16.to_be_bytes());
        assert_eq!(sender(&frame), None);
        assert_eq!(sender(&frame[..20]), None);
    }
}
