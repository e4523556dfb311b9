//! Whole runs against theory, and properties of runs on random fabrics.

mod cflb;
mod connections;
mod conservation;
mod determinism;
mod ecmp;
mod fabrics;
mod failover;
mod ideal;
mod lab;
mod multipath;
mod probes;
mod queueing;
mod recovery;
mod relays;
mod routing;
mod sampling;
mod sharing;
mod steering;
mod subflows;
mod timing;
