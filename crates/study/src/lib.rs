//! Many simulations: grids of scenarios, statistics over seeds, the papers' claims, reports.

pub mod grid;
pub mod stats;
pub mod store;
pub mod summary;
