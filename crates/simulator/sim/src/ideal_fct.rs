//! Ideal flow completion time, that of a flow in an empty fabric: the denominator of slowdowns.

mod paths;
#[cfg(test)]
mod tests;

use heddle_fabric::{Fabric, Routes};
use heddle_scenario::{Connections, Transport};
use heddle_transport::TcpConfig;
use heddle_units::{Bytes, Time};

pub use paths::BestPaths;
pub(crate) use paths::PathLink;

/// Ideal flow completion time of `size` bytes over the best of the shortest paths, all of them
/// empty: a round trip for the handshake if the connection is new and has one, every segment store-and-forward
/// over each link in order, and the delays. Windows do not limit it (no slow start). pFabric and
/// HPCC normalise by the same bound.
///
/// If hosts have several interfaces, a connection's segments are split evenly across those that
/// its subflows use, whose paths are taken to be disjoint; the last segment to arrive counts.
pub fn ideal_fct(
    fabric: &Fabric,
    routes: &Routes,
    transport: &Transport,
    connections: Connections,
    ends: (u32, u32),
    size: Bytes,
) -> Time {
    BestPaths::default().ideal_fct(fabric, routes, transport, connections, ends, size)
}

/// Bytes that a flow of `size` bytes of payload takes on a link: those of its segments, each with
/// its headers.
pub fn wire_bytes(tcp: &TcpConfig, size: Bytes) -> Bytes {
    let frames = Frames::new(tcp, size);
    Bytes(frames.full.0 * frames.before_last + frames.last.0)
}

/// Frames of a flow: all are full but the last.
#[derive(Clone, Copy, Debug)]
struct Frames {
    full: Bytes,
    /// Number of frames before the last.
    before_last: u64,
    last: Bytes,
}

impl Frames {
    fn new(tcp: &TcpConfig, size: Bytes) -> Frames {
        let (mss, header) = (u64::from(tcp.mss), u64::from(tcp.header_bytes()));
        let before_last = size.0.div_ceil(mss).max(1) - 1;
        let last = Bytes((size.0 - before_last * mss + header).max(tcp.least_frame_bytes().into()));
        Frames { full: Bytes(mss + header), before_last, last }
    }

    /// The frames of the interface that has the most, if they are spread evenly over `interfaces`
    /// of them.
    fn over(self, interfaces: u64) -> Frames {
        let each = (self.before_last + 1) / interfaces;
        match (self.before_last + 1) % interfaces {
            _ if interfaces == 1 => self,
            // Another interface than that of the last frame has as many, all of them full.
            0 => Frames { before_last: each - 1, last: self.full, ..self },
            1 => Frames { before_last: each, ..self },
            _ => Frames { before_last: each, last: self.full, ..self },
        }
    }

    /// Time from the first bit at the sender to the last bit at the receiver.
    ///
    /// Frames are sent in order, so that a short last frame waits behind a full one at a slower
    /// link. Of all the ways in which frame and link can be a frame's turn, the longest counts:
    /// full frames up to some link, that link's slowest predecessor for the others, the last frame
    /// from there on.
    fn time_over(&self, path: &[PathLink]) -> Time {
        let delays = path.iter().fold(Time::ZERO, |sum, link| sum + link.delay);
        let Some(between) = self.before_last.checked_sub(1) else {
            return delays + crossing(path, self.last);
        };
        let (mut crossed, mut slowest, mut longest) = (Time::ZERO, Time::ZERO, Time::ZERO);
        for (index, link) in path.iter().enumerate() {
            let time = link.rate.time_for(self.full);
            crossed += time;
            slowest = slowest.max(time);
            let rest = crossing(&path[index..], self.last);
            longest = longest.max(crossed + slowest * between + rest);
        }
        delays + longest
    }
}

/// Transmission times of a frame on every link.
fn crossing(path: &[PathLink], frame: Bytes) -> Time {
    path.iter().fold(Time::ZERO, |sum, link| sum + link.rate.time_for(frame))
}

/// A round trip of the smallest frames, if the connection is new.
fn handshake(tcp: &TcpConfig, path: &[PathLink], connections: Connections) -> Time {
    match connections {
        Connections::Persistent(_) | Connections::Pool | Connections::ClosedLoop(_) => Time::ZERO,
        Connections::PerFlow => {
            let delays = path.iter().fold(Time::ZERO, |sum, link| sum + link.delay);
            let frame = Bytes(tcp.least_frame_bytes().into());
            let back = path.iter().map(|link| link.reverse_rate.time_for(frame));
            crossing(path, frame) + back.fold(Time::ZERO, |sum, time| sum + time) + delays * 2
        }
    }
}
