//! The service on real sockets, by gRPC and by HTTP.

#![allow(clippy::unwrap_used)] // a test may panic

mod agreement;
mod bounds;
mod fabric;
mod failures;
mod leases;
mod paths;
mod problems;
mod restart;
mod running;
mod secrecy;
mod secured;
mod zero;
