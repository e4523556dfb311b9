//! The balancer's eBPF programs, from Linux's side: compiled, loaded, attached, and their maps as types.

pub mod abi;
mod balancer;
mod error;
mod object;
mod pins;
mod program;
mod sizes;

pub use balancer::{Balancer, Clock};
pub use error::Error;
pub use object::pass;
pub use program::{Action, Program, Run};
pub use sizes::{Buckets, Sizes};
