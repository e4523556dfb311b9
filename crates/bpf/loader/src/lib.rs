//! XDP programs from Linux's side: loaded, attached, pinned, run, measured, and their maps as
//! types.
//!
//! [`Program`] is a program in the kernel, from an object that some crate's build script compiled
//! (heddle-bpf-build). [`Pins`] is a directory in which maps and links outlive the process.
//! [`maps`] has maps that any program may have, [`abi`] the types of bpf/include that all programs
//! share. [`Bench`] measures programs, [`Generator`] sends packets, [`Senders`] do so from several
//! processors, [`pass`], [`send_back`], [`discard`] and [`Forwarding`] do that with all.
//!
//! Nearly everything here needs root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON (the verifier is
//! stricter without), and CAP_SYS_ADMIN where it says so. Nothing panics; what the kernel refuses
//! is an [`Error`].

pub mod abi;
mod attach;
mod bare;
mod bench;
mod classifier;
mod contents;
mod error;
mod generator;
mod live;
pub mod maps;
mod pins;
mod processor;
mod program;
mod traffic;

pub use attach::{Attached, Mode, detach, interface_index, links_of};
pub use bare::{Forwarding, discard, pass, send_back};
pub use bench::{Bench, Clients, Cost};
pub use classifier::{TcDirection, attach_tc, run_tc};
pub use contents::Contents;
pub use error::Error;
pub use generator::Generator;
pub use live::LiveProgram;
pub use pins::{Pins, has_links, left_behind, link_pin, release_others, remove_pins};
pub use processor::ProcessorClock;
pub use program::{Action, Program, Run, Size, pinned_program};
pub use traffic::{Senders, own_network, received};
