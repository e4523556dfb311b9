//! Overrides of a sound scenario's values, as `key=value` lines: it loads, or an error says why.
#![no_main]

use std::io;

use heddle_scenario::{Source, load};
use libfuzzer_sys::fuzz_target;

const SCENARIO: &str = r#"
    scheme = "hula"
    [fabric]
    kind = "two-pod"
    [workload]
    kind = "flows"
    sizes = "websearch"
    load = 0.6
    [measure]
    flows = 20000
"#;

fuzz_target!(|text: &str| {
    let overrides = text.lines().filter_map(|line| line.split_once('='));
    let source = overrides
        .fold(Source::new("fuzz.toml", SCENARIO), |source, (key, value)| source.with(key, value));
    let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
    if let Err(error) = load(&source, &no_files) {
        assert!(!error.to_string().is_empty());
    }
});
