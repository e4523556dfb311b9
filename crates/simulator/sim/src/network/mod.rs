//! Ports, links and the packets on them.

mod admission;
mod crossing;
mod impairments;
mod link;
mod management;
mod packet;
mod port;
mod priority_queue;

pub(crate) use crossing::{Crossed, Crossing};
pub(crate) use impairments::Impairments;
pub(crate) use management::Management;
pub(crate) use packet::{Body, EntropyField, Hot, PacketKind, Packets};
pub(crate) use port::{LinkClass, Port, Priority};
pub(crate) use priority_queue::PriorityQueue;

use heddle_policy::DreShift;

use crate::engine::Wheel;

/// No packet.
pub(crate) const NIL: u32 = u32::MAX;

/// Drops and marks of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortStats {
    /// Packets dropped at a full buffer.
    pub(crate) buffer_drops: u64,
    /// Packets on a link when it failed, sent to it while it was down, or lost on it while it was
    /// impaired.
    pub(crate) failure_drops: u64,
    /// Packets marked by ECN.
    pub(crate) ecn_marks: u64,
    /// Packets cut to their headers.
    pub(crate) trims: u64,
}

/// Bytes of a port.
pub(crate) const PORT_BYTES: usize = size_of::<Port>() + size_of::<PortStats>();

/// All ports, the packets on them, and the events to come.
pub(crate) struct Network {
    pub(crate) ports: Vec<Port>,
    pub(crate) port_stats: Vec<PortStats>,
    pub(crate) classes: Vec<LinkClass>,
    pub(crate) packets: Packets,
    pub(crate) events: Wheel,
    /// Time constant of the utilisation estimator, if the scheme uses one.
    pub(crate) meter: Option<DreShift>,
    /// Of the ports with two queues: the hosts' own, which are the first, or all.
    pub(crate) priority_queues: Vec<PriorityQueue>,
    pub(crate) impairments: Impairments,
    /// Shared buffers and RED.
    pub(crate) management: Management,
    /// Packet hops: packets accepted by a port.
    pub(crate) hops: u64,
    /// Links to other partitions of a run; empty if there is one.
    pub(crate) crossing: Crossing,
}

#[cfg(test)]
mod tests;
