//! Ideal flow completion time, that of a flow in an empty fabric: the denominator of slowdowns.

use heddle_fabric::{Fabric, Routes};
use heddle_policy::Tor;
use heddle_scenario::Connections;
use heddle_transport::{HEADER_BYTES, MIN_FRAME_BYTES, TcpConfig};
use heddle_units::{Bytes, Rate, Time};

/// Ideal flow completion time of `size` bytes over an empty shortest path: a round trip for the handshake if the connection is new,
/// every segment at the slowest link, the last segment store-and-forward over the others, and the delays. Windows do not limit it (no
/// slow start). pFabric and HPCC normalise by the same bound.
pub fn ideal_fct(
    fabric: &Fabric,
    routes: &Routes,
    tcp: &TcpConfig,
    connections: Connections,
    ends: (u32, u32),
    size: Bytes,
) -> Time {
    let path = links(fabric, routes, ends);
    let cross = |frame: Bytes| {
        path.iter().fold(Time::ZERO, |sum, (rate, delay)| sum + *delay + rate.time_for(frame))
    };
    let slowest = path.iter().map(|(rate, _)| *rate).min().unwrap_or(Rate(1));
    let (mss, header) = (u64::from(tcp.mss), u64::from(HEADER_BYTES));
    let before_last = size.0.div_ceil(mss).max(1) - 1;
    let last = Bytes((size.0 - before_last * mss + header).max(MIN_FRAME_BYTES.into()));
    let handshake = match connections {
        Connections::PerFlow => cross(Bytes(MIN_FRAME_BYTES.into())) * 2,
        Connections::Persistent(_) => Time::ZERO,
    };
    handshake + slowest.time_for(Bytes(before_last * (mss + header))) + cross(last)
}

/// Rates and delays along the first shortest path.
fn links(fabric: &Fabric, routes: &Routes, (from, to): (u32, u32)) -> Vec<(Rate, Time)> {
    let mut ports = vec![fabric.first_port[from as usize]];
    let mut switch = u32::from(fabric.host_tor[from as usize].0);
    let end: Tor = fabric.host_tor[to as usize];
    while switch != u32::from(end.0) {
        let Some(hop) = routes.next_hops(switch, end).first() else { break };
        let port = fabric.first_port_of_switch(switch) + u32::from(hop.0);
        ports.push(port);
        switch = fabric.ports[port as usize].to - fabric.hosts;
    }
    ports.push(fabric.host_port[to as usize]);
    let link = |port: u32| fabric.graph.links[fabric.ports[port as usize].link as usize];
    ports.into_iter().map(link).map(|link| (link.rate, link.delay)).collect()
}
