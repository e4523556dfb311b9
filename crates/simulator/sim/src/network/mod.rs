//! Ports, links and the packets on them.

mod host_queue;
mod impairments;
mod link;
mod management;
mod packet;
mod port;

pub(crate) use host_queue::HostQueue;
pub(crate) use impairments::Impairments;
pub(crate) use link::{Network, PortStats};
pub(crate) use management::Management;
pub(crate) use packet::{Body, EntropyField, Hot, NIL, PacketKind, Packets};
pub(crate) use port::{LinkClass, Port};

#[cfg(test)]
mod tests;
