//! Connections from end to end over a simulated bottleneck, as traces.

mod coupling;
mod ecn;
mod growth;
mod handshake;
mod net;
mod properties;

pub(crate) use properties::{any_segment, pacing};
mod rack;
mod recovery;
mod throughput;
mod timers;
