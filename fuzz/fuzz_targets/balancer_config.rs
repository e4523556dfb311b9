//! The balancer daemon's configuration: it loads, or an error says what is wrong and where.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = heddled::config::load("fuzz.toml", text) {
        assert!(error.to_string().starts_with("fuzz.toml"));
    }
});
