//! Whole runs against theory, and properties of runs on random fabrics.

mod collective;
mod conservation;
mod determinism;
mod do_no_harm;
mod ecmp;
mod failover;
mod failure_recovery;
mod ideal;
mod impairments;
mod interfaces;
mod load_awareness;
mod multipath;
mod path_placement;
mod persistent_connections;
mod probes;
mod queueing;
mod random_fabrics;
mod routing;
mod sampling;
mod server_relays;
mod sharing;
mod subflows;
mod support;
mod timing;
mod unfinished;
