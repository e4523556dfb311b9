//! Packet-level, deterministic simulation of multipath fabrics.
//!
//! [`simulate`] runs one scenario with one seed. The result depends on these two only, on every
//! machine and at any number of threads. Times are integer picoseconds; simultaneous events are
//! handled in the order in which they were scheduled. The crate reads no files. Independent runs can
//! use any number of threads, and [`simulate_on`] divides one run among several.
//!
//! # Example
//!
//! One flow of 1 MB over a leaf-spine fabric:
//!
//! ```
//! use heddle_scenario::{Source, load};
//! use heddle_sim::{Next, simulate};
//!
//! let text = r#"
//!     scheme = "ecmp"
//!     fabric = { kind = "leaf-spine", leaves = 2, hosts_per_leaf = 1 }
//!     workload = { kind = "replay", file = "flows.csv" }
//!     [measure]
//! "#;
//! let files = |_: &str| Ok("at,from,to,size\n0s,host-1,host-2,1MB".to_owned());
//! let scenario = load(&Source::new("example.toml", text), &files)?;
//! let outcome = simulate(&scenario, 1, &mut |_| Next::Continue)?;
//! let flow = outcome.flows[0];
//! assert!(flow.fct >= flow.ideal_fct);
//! assert_eq!(outcome.totals.delivered.0, 1_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrivals;
mod division;
mod engine;
mod engine_digest;
mod five_tuple;
mod forecast;
mod hosts;
mod ideal_fct;
mod look_ahead;
mod network;
mod outcome;
mod path_use;
mod progress;
mod random;
mod recording;
mod sampling;
mod schemes;
mod simulate;
mod simulation;
mod switching;
mod traffic;
mod warm_up;
mod work;

pub use arrivals::{Arrival, Arrivals};
pub use division::{indivisible, simulate_on};
pub use engine_digest::engine_digest;
pub use forecast::{Amount, Forecast, forecast};
pub use ideal_fct::{BestPaths, ideal_fct, wire_bytes};
pub use outcome::{
    FlowRecord, LongFlow, Outcome, PathUse, PortCounters, PortName, RequestRecord, Samples, Totals,
    UnfinishedFlow, WarmUp,
};
pub use progress::{Next, Progress, SimError};
pub use recording::{Frame, Recorder, Recording, TracePoint};
pub use simulate::{simulate, simulate_recorded, simulate_with};
pub use simulation::STALL;
