//! Packets on links: what waits, what is on its way, what is lost.

mod packet;
mod port;
mod wire;

pub(crate) use packet::{Body, Hot, NIL, Name, PacketKind, Packets};
pub(crate) use port::{LinkClass, Port};
pub(crate) use wire::{Losses, Network};

#[cfg(test)]
mod tests;
