//! Helpers to set up runs.

use heddle_scenario::{Files, Scenario, Source};
use heddle_sim::{Next, Outcome, simulate};

/// Keys and values that override those of a file.
pub type Overrides<'a> = &'a [(&'a str, &'a str)];

/// The scenario of a file's text.
pub fn scenario(text: &str, overrides: Overrides) -> Scenario {
    load(text, overrides, &|path: &str| Err(std::io::Error::other(path.to_owned())))
}

/// The same with a workload that replays `flows`: lines of time, sender, receiver and size.
pub fn replay(text: &str, overrides: Overrides, flows: &str) -> Scenario {
    let workload = [("workload", r#"{ kind = "replay", file = "flows.csv" }"#)];
    let list = format!("at,from,to,size\n{flows}");
    load(text, &[overrides, &workload].concat(), &|_: &str| Ok(list.clone()))
}

fn load(text: &str, overrides: Overrides, files: &dyn Files) -> Scenario {
    let source = Source::new("test.toml", text);
    let source = overrides.iter().fold(source, |source, (key, value)| source.with(*key, *value));
    heddle_scenario::load(&source, files).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scenario that can be run.
pub fn run(scenario: &Scenario, seed: u64) -> Outcome {
    simulate(scenario, seed, &mut |_| Next::Continue).unwrap_or_else(|error| panic!("{error}"))
}
