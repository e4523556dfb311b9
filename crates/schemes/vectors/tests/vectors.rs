//! The implementation in Rust on all traces; files of random traces are up to date.
//!
//! `HEDDLE_WRITE_VECTORS=1 cargo test -p heddle-vectors` draws the random traces again, and writes
//! states and counters into those written by hand. Decisions written by hand are never changed.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use heddle_vectors::{FOLDER, Kind, VectorFile, record, reference, replay};

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn is_writing() -> bool {
    std::env::var_os("HEDDLE_WRITE_VECTORS").is_some_and(|value| value == "1")
}

/// Writes or compares a file.
fn hold(name: &str, expected: &VectorFile) {
    if is_writing() {
        expected.write(&path(name)).unwrap();
    }
    assert!(
        expected.is_in(&path(name)),
        "{name} is not up to date: HEDDLE_WRITE_VECTORS=1 cargo test -p heddle-vectors"
    );
}

#[test]
fn traces_written_by_hand_hold() {
    for kind in Kind::ALL {
        let name = format!("{}.json", kind.name);
        let mut file = VectorFile::read(&path(&name)).unwrap();
        for trace in &mut file.traces {
            *trace = record::fill(trace).unwrap();
            let mut target = reference(&trace.switch, &trace.config).unwrap();
            if let Err(mismatch) = replay(trace, target.as_mut()) {
                panic!("{name}, {}: {mismatch}", trace.name);
            }
        }
        hold(&name, &file);
    }
}

#[test]
fn random_traces_are_up_to_date() {
    for kind in Kind::ALL {
        hold(&format!("{}-random.json.gz", kind.name), &record::random_file(kind).unwrap());
    }
}
