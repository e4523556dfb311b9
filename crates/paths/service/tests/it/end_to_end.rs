//! The service on real sockets, by gRPC and by HTTP.

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
