//! The programs on single frames, in the kernel but without a network: verdicts, what frames
//! become, and what is refused and counted.

mod bad_input;
mod conga;
mod expiry;
mod forwarding;
mod ipv6;
mod kernel_routes;
mod limits;
mod postcards;
mod rates;
mod rigs;
mod routes;
mod shuttle;
