//! Clusters of balancers in one process, each the real eBPF program on maps of its own, run by
//! BPF_PROG_RUN.
//!
//! [`Cluster`] is the world around them: a router that spreads clients' frames
//! ([`Cluster::arrive`]), the network between the balancers, which carries what one sends to
//! another, and backends that take what reaches them. [`Flow`] and [`Connection`] are clients: they
//! make the frames of TCP, MPTCP and UDP. Time is virtual, in ticks; nothing is drawn at random but
//! from seeds. So a test reads as a trace, and an evaluation of minutes of traffic takes seconds.
//!
//! Needs root, as all that loads eBPF programs does.

mod cluster;
mod control;
mod frames;
mod network;
mod quic;
mod random;
mod traffic;

pub use cluster::{Backend, Cluster, Delivered, Events, Outcome, Peers, Setup};
pub use frames::{Flow, fragments, heartbeat, inner, steered, tagged};
pub use heddle_balancer_maps::Error;
pub use network::{
    KEY, OTHER_PORT, PORT, SERVICE_TCP, SERVICE_UDP, backend_address, balancer_address,
    join_address, service,
};
pub use quic::{connection_id, server_id};
pub use random::Random;
pub use traffic::Connection;
