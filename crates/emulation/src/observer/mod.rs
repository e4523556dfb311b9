//! The links that each subflow takes: an observer in the switches' namespaces.
//!
//! A packet socket reads the first bytes of each data frame that comes from another switch. The
//! Ethernet address says the link, the headers say the subflow.

mod path_use;
mod sharing;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use heddle_lab::enter;
use heddle_wire::{EtherType, Ethernet, Shim};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use crate::network::{Device, Network};
use crate::{EmulationError, clock};

pub use sharing::{Move, Sharing};

/// Bytes read of each frame: Ethernet, a shim, IP and TCP with all options.
const SNAP: u32 = 160;
/// The kernel's buffer for frames that are not read yet.
const BUFFER: usize = 16 << 20;
/// `ETH_P_ALL`.
const ALL: u16 = 3;
/// `AF_PACKET`.
const PACKET: i32 = 17;
/// Frames shorter than this carry no data.
const DATA: u32 = 200;

/// A subflow, by its sender's address and port and the receiver's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subflow {
    from: SocketAddrV4,
    to: Ipv4Addr,
}

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hop {
    /// The link, as an index of the graph's links.
    link: u32,
    /// The node that receives.
    to: u32,
}

/// Frames of a subflow on a link in a millisecond of the clock: (subflow, hop, millisecond).
type Seen = BTreeMap<(Subflow, Hop, u64), u64>;

/// Observers in switches.
pub struct Observer {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    seen: mpsc::Receiver<Seen>,
}

/// The observations.
#[derive(Clone, Debug, Default)]
pub struct Observed(Seen);

/// Links that are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Those that come down from the top tier.
    FromTop,
    /// Those between switches.
    Fabric,
}

impl Observer {
    /// Starts to observe.
    ///
    /// # Errors
    /// If the kernel refuses a packet socket.
    pub fn start(network: &Network, links: Links) -> Result<Observer, EmulationError> {
        let (sender, seen) = mpsc::channel();
        let mut observer =
            Observer { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new(), seen };
        for switch in network.switches() {
            let hops = observed_hops(network, switch, links);
            if hops.is_empty() {
                continue;
            }
            let socket = enter(&network.path(switch), open)?
                .map_err(EmulationError::system("a packet socket"))?;
            let (stop, sender) = (observer.stop.clone(), sender.clone());
            observer.threads.push(std::thread::spawn(move || {
                // Nobody waits for it if the run has failed.
                let _ = sender.send(observe(socket, &hops, &stop));
            }));
        }
        Ok(observer)
    }

    /// Ends the observation.
    pub fn finish(mut self) -> Observed {
        self.end();
        Observed(self.seen.try_iter().flatten().collect())
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has sent nothing.
            let _ = thread.join();
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.end();
    }
}

/// The Ethernet addresses of a switch's ports to other switches, and the hops that end there.
fn observed_hops(network: &Network, switch: u32, links: Links) -> BTreeMap<[u8; 6], Hop> {
    let graph = &network.scenario.fabric.graph;
    let top = graph.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    let tier = |device: &Device<'_>| graph.nodes[device.info.to as usize].tier;
    let wanted = |device: &Device<'_>| match links {
        Links::FromTop => tier(device) == top,
        Links::Fabric => !device.info.to_host,
    };
    let mac_and_hop = |device: Device<'_>| {
        (network.own_mac(&device).octets(), Hop { link: device.info.link, to: switch })
    };
    network.devices(switch).filter(wanted).map(mac_and_hop).collect()
}

fn open() -> std::io::Result<Socket> {
    let all = Protocol::from(i32::from(ALL.to_be()));
    let socket = Socket::new(Domain::from(PACKET), Type::RAW, Some(all))?;
    socket.attach_filter(&received_data())?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    Ok(socket)
}

/// A classic BPF program: the first bytes of frames with data that are received, nothing of those
/// that are sent.
fn received_data() -> [SockFilter; 6] {
    // linux/filter.h: BPF_LD | BPF_W | BPF_ABS of SKF_AD_OFF + SKF_AD_PKTTYPE; BPF_JMP | BPF_JEQ;
    // BPF_LD | BPF_W | BPF_LEN; BPF_JMP | BPF_JGT; BPF_RET.
    const PACKET_TYPE: u32 = 0xffff_f004;
    const OUTGOING: u32 = 4;
    [
        SockFilter::new(0x20, 0, 0, PACKET_TYPE),
        SockFilter::new(0x15, 3, 0, OUTGOING),
        SockFilter::new(0x80, 0, 0, 0),
        SockFilter::new(0x25, 0, 1, DATA),
        SockFilter::new(0x06, 0, 0, SNAP),
        SockFilter::new(0x06, 0, 0, 0),
    ]
}

fn observe(mut socket: Socket, hops: &BTreeMap<[u8; 6], Hop>, stop: &AtomicBool) -> Seen {
    let mut seen = Seen::new();
    let mut frame = [0; SNAP as usize];
    while !stop.load(Ordering::Relaxed) {
        let Ok(length) = socket.read(&mut frame) else { continue };
        let read = frame.get(..length).unwrap_or_default();
        let hop = read.first_chunk().and_then(|mac: &[u8; 6]| hops.get(mac));
        if let Some((&hop, subflow)) = hop.zip(subflow(read)) {
            *seen.entry((subflow, hop, clock::now() / 1_000_000)).or_default() += 1;
        }
    }
    seen
}

/// The subflow of a TCP segment, whether a shim stands before it or not.
fn subflow(frame: &[u8]) -> Option<Subflow> {
    const TCP: u8 = 6;
    let ethernet = Ethernet::parse(frame).ok()?;
    let (kind, packet) = match ethernet.ether_type {
        EtherType::SHIM => {
            let inner = Shim::parse(ethernet.payload).ok()?;
            (inner.ether_type, inner.payload)
        }
        kind => (kind, ethernet.payload),
    };
    if kind != EtherType::IPV4 || *packet.get(9)? != TCP {
        return None;
    }
    let address = |at: usize| -> Option<Ipv4Addr> {
        let octets: [u8; 4] = packet.get(at..at + 4)?.try_into().ok()?;
        Some(octets.into())
    };
    let header = usize::from(packet.first()? & 0xf) * 4;
    let port = u16::from_be_bytes([*packet.get(header)?, *packet.get(header + 1)?]);
    Some(Subflow { from: SocketAddrV4::new(address(12)?, port), to: address(16)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_of_the_subflow_of_its_headers() {
        let (from, to) = ("10.1.1.2:4660".parse().unwrap(), Ipv4Addr::new(10, 2, 1, 1));
        let mut frame = [0u8; 60];
        frame[12..14].copy_from_slice(&[8, 0]);
        (frame[14], frame[23]) = (0x45, 6);
        frame[26..30].copy_from_slice(&[10, 1, 1, 2]);
        frame[30..34].copy_from_slice(&to.octets());
        frame[34..36].copy_from_slice(&[0x12, 0x34]);
        assert_eq!(subflow(&frame), Some(Subflow { from, to }));
        assert_eq!(subflow(&frame[..34]), None);
        frame[23] = 17;
        assert_eq!(subflow(&frame), None, "UDP");
    }
}
