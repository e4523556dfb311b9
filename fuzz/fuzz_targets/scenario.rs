//! A scenario's text: it loads, or an error says why.
#![no_main]

use std::io;

use heddle_scenario::{Source, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
    if let Err(error) = load(&Source::new("fuzz.toml", text), &no_files) {
        assert!(!error.to_string().is_empty());
    }
});
