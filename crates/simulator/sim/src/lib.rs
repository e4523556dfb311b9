//! Packet-level, deterministic simulation of multipath fabrics.
//!
//! [`simulate`] runs one scenario with one seed. The result depends on nothing else: not on the machine, the time of day
//! or what runs beside it. Times are integer picoseconds; simultaneous events happen in the order in which they were
//! scheduled. The crate reads no files and starts no threads; independent runs can go to as many threads as there are.

mod engine;
mod five_tuple;
mod hosts;
mod ideal_fct;
mod look_ahead;
mod network;
mod outcome;
mod path_use;
mod progress;
mod random;
mod sampling;
mod schemes;
mod simulate;
mod simulation;
mod switching;
mod traffic;

pub use ideal_fct::ideal_fct;
pub use outcome::{FlowRecord, Outcome, PathUse, PortCounters, PortName, Samples, Totals};
pub use progress::{Next, Progress, SimError};
pub use simulate::simulate;
