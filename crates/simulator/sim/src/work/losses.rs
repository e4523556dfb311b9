//! Losses that are likely, by what flows may have under way and what ports hold.

use heddle_fabric::Fabric;
use heddle_scenario::{Scenario, Transport};
use heddle_units::{Bytes, Rate};

/// The bytes that a flow may have under way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Window {
    /// It begins with `first`, and grows by what is acknowledged up to `most`.
    Grows { first: f64, most: f64 },
    /// It begins with `first`, and falls to `least` where packets are marked.
    Marked { first: f64, least: f64 },
    /// Lost packets are noticed without timeouts.
    Exempt,
}

impl Window {
    pub(super) fn of(scenario: &Scenario, transport: &Transport) -> Window {
        if matches!(transport, Transport::Uet(_)) {
            return Window::Exempt;
        }
        let tcp = transport.tcp();
        let segments = |count: u64| (count * u64::from(tcp.mss)) as f64;
        let first = f64::from(transport.subflows()) * segments(tcp.initial_window.into());
        match scenario.fabric.marks() {
            true => Window::Marked { first, least: segments(2) },
            false => Window::Grows { first, most: tcp.receive_window.0 as f64 },
        }
    }

    /// True if losses alone end its growth.
    pub(super) fn grows(self) -> bool {
        matches!(self, Window::Grows { .. })
    }

    /// Bytes under way of a flow that has sent so many, and has so many left.
    pub(super) fn bytes(self, sent: f64, left: f64) -> f64 {
        let window = match self {
            Window::Grows { first, most } => (first + sent).min(most),
            Window::Marked { first, least } if sent > first => least,
            Window::Marked { first, .. } => first,
            Window::Exempt => 0.0,
        };
        window.min(left)
    }
}

/// For each host, the bytes that the ports of switches towards it hold, beside those of a queue that
/// marks keep up.
pub(super) fn room(scenario: &Scenario, fabric: &Fabric) -> Vec<f64> {
    let of_host = |host: u32| {
        let outer = fabric.interfaces_of(host).filter(|&port| !fabric.is_inner(port));
        outer.map(|port| room_at(scenario, fabric.rate_of(&fabric.ports[port as usize]))).sum()
    };
    (0..fabric.hosts).map(of_host).collect()
}

fn room_at(scenario: &Scenario, rate: Rate) -> f64 {
    let fabric = &scenario.fabric;
    let limits = fabric.port;
    let shared = fabric.shared_buffer.map(|shared| shared.threshold(1));
    let bytes = shared.unwrap_or_else(|| fabric.buffer_at(rate)).0 as f64;
    let mss = scenario.transport.tcp().mss;
    let packets = limits.packets.map_or(f64::MAX, |packets| f64::from(packets) * f64::from(mss));
    let marked = limits.mark_above.or(fabric.red.map(|red| red.max)).unwrap_or(Bytes(0));
    let free = 1.0 - marked.0 as f64 / limits.bytes.0.max(1) as f64;
    bytes.min(packets) * free.max(0.0)
}
