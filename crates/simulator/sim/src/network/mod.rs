//! Ports, links and the packets on them.

mod admission;
mod impairments;
mod link;
mod management;
mod packet;
mod port;
mod priority_queue;

pub(crate) use impairments::Impairments;
pub(crate) use link::{Network, PortStats};
pub(crate) use management::Management;
pub(crate) use packet::{Body, EntropyField, Hot, NIL, PacketKind, Packets};
pub(crate) use port::{LinkClass, Port, Priority};
pub(crate) use priority_queue::PriorityQueue;

#[cfg(test)]
mod tests;
