//! The simulator for a page in a browser, compiled to WebAssembly.
//!
//! Nothing here decides anything: scenarios are resolved, run, summed up and drawn by the same
//! crates as in `heddle`, so that a scenario and a seed give the command line's results to the bit.
//! A module has no clock, no files and no network; it reports the progress of a run to the page
//! ([`live`]).

mod bindings;
pub mod choice;
pub mod compare;
pub mod live;
pub mod prepare;
pub mod presets;
pub mod run;

/// The name of the scenario file in messages and when it is saved.
pub const FILE: &str = "scenario.toml";

/// The message of a wrong scenario, as the command line prints it.
fn message(error: &heddle_scenario::ScenarioError) -> String {
    format!("error: {error}")
}
