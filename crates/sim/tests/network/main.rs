//! Whole runs against theory, and properties of runs on random fabrics.

mod conservation;
mod determinism;
mod ecmp;
mod fabrics;
mod lab;
mod probes;
mod queueing;
mod sharing;
mod timing;
