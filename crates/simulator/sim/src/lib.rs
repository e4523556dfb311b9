//! Packet-level, deterministic simulation of multipath fabrics.
//!
//! [`simulate`] runs one scenario with one seed. The result depends on nothing else: not on the machine, the time of day
//! or what runs beside it. Times are integer picoseconds; simultaneous events happen in the order in which they were
//! scheduled. The crate reads no files and starts no threads; independent runs can go to as many threads as there are.

mod engine;
mod five_tuple;
mod hosts;
mod look_ahead;
mod network;
mod outcome;
mod path_use;
mod random;
mod sampling;
mod schemes;
mod simulate;
mod simulation;
mod switching;
mod traffic;
mod unloaded;

pub use outcome::{FlowRecord, Outcome, PathUse, PortLosses, PortName, Samples, Totals};
pub use simulate::{Next, Progress, SimError, simulate};
pub use unloaded::unloaded_fct;
