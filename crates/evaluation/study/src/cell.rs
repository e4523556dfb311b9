//! One simulation of a grid.

use heddle_scenario::Scenario;

/// One simulation of a grid.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its name in progress messages and results, as in `scheme=hula load=0.6`.
    pub label: String,
    /// The scenario.
    pub scenario: Scenario,
    /// The seed.
    pub seed: u64,
}

/// A cell for each of some seeds.
pub fn seeded(label: &str, scenario: &Scenario, seeds: &[u64]) -> Vec<Cell> {
    let cell = |&seed: &u64| {
        let label = format!("{label} seed {seed}");
        Cell { label, scenario: scenario.clone(), seed }
    };
    seeds.iter().map(cell).collect()
}
