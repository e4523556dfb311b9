//! A fabric file's text: it loads, with an address for each host, or an error says why.
#![no_main]

use std::io;

use heddle_scenario::{Source, load_fabric};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
    match load_fabric(&Source::new("fuzz.toml", text), &no_files) {
        Ok(file) => assert!(file.addresses.iter().all(|own| !own.is_empty())),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
