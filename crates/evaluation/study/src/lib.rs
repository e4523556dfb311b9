//! Many simulations: grids of scenarios, statistics over seeds, the papers' claims, reports.

pub mod bench;
pub mod cflb;
pub mod evaluation;
pub mod figure;
pub mod grid;
pub mod hula;
pub mod mp_hula;
pub mod report;
pub mod results;
pub mod stats;
pub mod store;
pub mod summary;
pub mod sweep;
#[cfg(test)]
mod testing;
