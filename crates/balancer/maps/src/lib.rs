//! The balancer's eBPF programs, from Linux's side: compiled, loaded, attached, and their maps as types.
//!
//! The build compiles bpf/*.bpf.c with clang and makes Rust's types of what they share with the daemon ([`abi`]).
//! [`Balancer`] is the program with its [`maps`], [`Explainer`] its variant that tells and does nothing, [`Decap`] the
//! backends' program; [`Bench`] measures programs, [`Generator`] sends packets. Nearly all that this crate does needs
//! root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON (the verifier is stricter without), and CAP_SYS_ADMIN where it says
//! so. It panics on nothing; what the kernel refuses is an [`Error`].

pub mod abi;
mod attach;
mod balancer;
mod bench;
mod decap;
mod error;
mod explain;
mod generator;
pub mod maps;
mod object;
mod pins;
mod program;
mod sizes;

pub use attach::{Attached, Mode, interface_index};
pub use balancer::{Balancer, Clock};
pub use bench::{Bench, Clients, Cost};
pub use decap::{Decap, Sources};
pub use error::Error;
pub use explain::{Explainer, Explanation};
pub use generator::Generator;
pub use object::pass;
pub use pins::{detach, remove_pins};
pub use program::{Action, Program, Run};
pub use sizes::{Buckets, Sizes};
