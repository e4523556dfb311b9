//! A scenario of the simulator on real kernels: a network namespace for each host and each switch,
//! links with the scenario's rates and buffers, the kernel's TCP and MPTCP at the ends, and a data
//! plane between.
//!
//! [`Scaling`] fits the rates to the machine. [`check`](limits::check) refuses keys that a kernel
//! cannot honour. [`Network`] builds the namespaces, a [`DataPlane`](plane::DataPlane) forwards,
//! [`run()`] starts the flows that the simulator would start with the same seed, fails and repairs
//! links on time, and gives what the simulator gives: an [`Outcome`](heddle_sim::Outcome).
//!
//! Found by experiment, on Linux 6.18:
//! * `fib_multipath_hash_policy=1` takes the hash that the sending socket left in the packet, the
//!   same at every switch; policy 3 looks at the packet, and `fib_multipath_hash_seed` differs
//!   between switches, as vendors' seeds do.
//! * A link that fails silently is a `blackhole` queueing discipline at both ends: the carrier
//!   stays, packets are lost.
//! * The neighbour of every device is permanent, so that no ARP packet waits behind a full buffer.

mod addresses;
mod agents;
mod clock;
mod daemons;
mod error;
pub mod host;
mod hosts;
pub mod limits;
mod links;
mod management;
mod network;
mod observer;
mod outcome;
pub mod plane;
mod postcards;
mod processors;
mod qdiscs;
mod roles;
mod run;
mod sampler;
mod scaling;
mod settings;
pub mod state;

pub use addresses::Addresses;
pub use error::EmulationError;
pub use network::{Device, Network};
pub use observer::{Links as ObservedLinks, Move, Observed, Observer, Sharing};
pub use outcome::{Facts, LabOutcome};
pub use postcards::{FlowPaths, Paths, Span};
pub use run::{Monitor, forward, run};
pub use scaling::Scaling;
