//! Files of other simulators, by way of a scenario that names them: topologies of htsim and HPCC,
//! connection matrices.
#![no_main]

use heddle_scenario::{Source, load};
use libfuzzer_sys::fuzz_target;

/// The first byte of an input chooses the kind of the file.
const SCENARIOS: [&str; 4] = [
    r#"
        scheme = "ecmp"
        fabric = { kind = "file", path = "a.topo" }
        workload = { kind = "flows", sizes = "websearch", load = 0.5 }
        measure = { flows = 1000 }
    "#,
    r#"
        scheme = "ecmp"
        fabric = { kind = "file", path = "a.txt", format = "hpcc" }
        workload = { kind = "flows", sizes = "websearch", load = 0.5 }
        measure = { flows = 1000 }
    "#,
    r#"
        scheme = "ecmp"
        fabric = { kind = "two-pod" }
        workload = { kind = "replay", file = "a.cm" }
    "#,
    r#"
        scheme = "ecmp"
        fabric = { kind = "two-pod" }
        workload = { kind = "flow-graph", file = "a.cm" }
    "#,
];

fuzz_target!(|input: (u8, &str)| {
    let (kind, text) = input;
    let files = |_: &str| Ok(text.to_owned());
    let scenario = SCENARIOS[usize::from(kind) % SCENARIOS.len()];
    if let Err(error) = load(&Source::new("fuzz.toml", scenario), &files) {
        assert!(!error.to_string().is_empty());
    }
});
