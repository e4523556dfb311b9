//! The eBPF switch, from Linux's side: compiled, loaded, attached to ports, and its maps as types.
//!
//! The build compiles bpf/switch once for each scheme and hook, and makes Rust types of what it
//! shares with the daemon ([`abi`]). [`Switch`] is one of these programs with its maps. Maps and
//! links are pinned, so that a switch forwards while no daemon runs, and the next daemon goes on
//! with tables and links. Nothing here panics; what the kernel refuses is an [`Error`].

pub mod abi;
mod cflb;
mod interfaces;
mod maps;
mod object;
mod originator;
mod parameters;
mod scheme;
mod switch;
mod tables;

pub use heddle_bpf_loader::maps::Prefix;
pub use heddle_bpf_loader::{Error, Pins, Program, interface_index, left_behind, remove_pins};
pub use interfaces::Interfaces;
pub use maps::Maps;
pub use originator::Originator;
pub use parameters::Parameters;
pub use scheme::{Hook, Scheme};
pub use switch::{Attached, Switch};
pub use tables::{Entries, Tables};
