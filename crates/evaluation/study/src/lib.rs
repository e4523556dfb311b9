//! Many simulations: grids of scenarios, kept results, sweeps, and the evaluation of papers by
//! simulation.
//!
//! - [`grid`] runs [`cell::Cell`]s on all cores and keeps each result in a [`store::Store`];
//!   [`summary`] has the values that are kept of a run, [`metric`] single values of it.
//! - [`live`] has the figures of runs while they go on.
//! - [`record`] writes captures of links ([`pcap`]) and traces of flows.
//! - [`paired`] compares the rows of a sweep with a baseline, seed by seed.
//! - [`mod@estimate`] says what runs will take; [`plan`] has a sweep before it runs; [`sweep`] and
//!   [`results`] write tables and raw data; [`view`] draws them.
//! - [`paper`] is the evaluation of a paper by simulation: [`point`]s of its figures, experiments,
//!   measures of its claims. [`gather`] runs what some claims need, [`measure`] takes their values,
//!   [`sensitivity`] varies the choices that the paper leaves open.
//! - [`external`] loads schemes from shared libraries.
//! - [`mod@bench`] measures the simulator's speed.

mod batches;
pub mod bench;
pub mod bound;
pub mod cell;
#[cfg(feature = "parquet")]
pub mod columns;
pub mod compare;
pub mod cpu_time;
pub mod estimate;
pub mod external;
pub mod gather;
pub mod grid;
pub mod headline;
pub mod live;
pub mod measure;
pub mod metric;
pub mod overload;
pub mod paired;
pub mod paper;
pub mod pcap;
pub mod plan;
pub mod point;
pub mod provenance;
pub mod record;
pub mod remarks;
pub mod results;
pub mod sensitivity;
pub mod steady;
pub mod store;
pub mod summary;
pub mod sweep;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tidy;
pub mod view;
