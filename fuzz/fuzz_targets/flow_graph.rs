//! The CSV file of a flow graph, by way of a scenario that names it.
#![no_main]

use heddle_scenario::{Source, load};
use libfuzzer_sys::fuzz_target;

const SCENARIO: &str = r#"
    scheme = "ecmp"
    fabric = { kind = "two-pod" }
    workload = { kind = "flow-graph", file = "job.csv" }
"#;

fuzz_target!(|text: &str| {
    let files = |_: &str| Ok(text.to_owned());
    if let Err(error) = load(&Source::new("fuzz.toml", SCENARIO), &files) {
        assert!(!error.to_string().is_empty());
    }
});
