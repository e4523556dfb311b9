//! Traces of load-balancing schemes as JSON (`vectors/schemes`): the common test of every
//! implementation of a scheme.
//!
//! A trace is a switch with its configuration and a list of steps. Each step has the time, random
//! bits and an input, and the decision and the digest of the state after it
//! ([`heddle_policy::DigestState`]). [`Target`] is an implementation under test, [`reference()`]
//! the one in Rust. [`replay`] compares an implementation with a trace, [`random`] draws steps,
//! [`record`] makes traces of them.
//!
//! The format is described in `vectors/schemes/README.md`.

mod config;
mod counts;
mod draw;
mod file;
pub mod handshakes;
mod input;
mod inputs;
pub mod minimise;
mod mutation;
mod output;
pub mod random;
pub mod record;
mod reference;
mod replay;
mod schemes;

pub use config::{CflbConstants, DreConfig, EcmpConfig, SwitchInfo};
pub use counts::{Counts, counts};
pub use draw::{Bytes, Draw, Generator};
pub use file::{FOLDER, FileError, Trace, TraceStep, VectorFile};
pub use input::{
    Fields, HandshakePacket, Input, Originate, Packet, PortLoad, ProbeInput, Sent, Shim,
    ShimPacket, Side, Utilisation,
};
pub use mutation::{Mutation, mutations};
pub use output::{Output, ProbeOutput, ReasonName};
pub use reference::{Error, Target};
pub use replay::{Mismatch, replay};
pub use schemes::{Config, Kind, reference};
