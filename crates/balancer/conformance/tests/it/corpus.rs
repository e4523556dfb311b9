//! The corpus of packets (vectors/balancer) on the balancer's real program, and through both
//! parsers.

mod cases;
mod parsers;
mod program;
mod world;
