//! The balancer's eBPF programs, from Linux's side: compiled, loaded, attached, and their maps as
//! types.
//!
//! The build compiles bpf/balancer with clang and makes Rust types of what it shares with the
//! daemon ([`abi`]). [`Balancer`] is the program with its [`maps`], [`Explainer`] its variant that
//! explains a packet and changes nothing, [`Decap`] and [`Translate`] the backends' programs. What
//! is not the balancer's own is in heddle-bpf-loader, also privileges and errors; nothing here
//! panics either.

pub mod abi;
mod balancer;
mod choices;
mod decap;
mod explain;
mod fragment;
mod invalid;
pub mod maps;
mod object;
mod quic;
mod sizes;
pub mod steering;
mod ticks;
mod translate;

pub use balancer::Balancer;
pub use choices::{Clock, Sources};
pub use decap::Decap;
pub use explain::{Explainer, Explanation};
pub use fragment::Fragment;
pub use heddle_bpf_loader::{
    Action, Attached, Error, LiveProgram, Mode, Program, Run, detach, interface_index, link_pin,
    links_of, pass, remove_pins,
};
pub use sizes::{Buckets, Sizes};
pub use ticks::Ticks;
pub use translate::{Link, Room, Translate, TranslateTables, detach_translate};
