//! Many simulations: grids of scenarios, statistics over seeds, the papers' claims, reports.

pub mod stats;
