//! The one place that runs clang on bpf/: for build scripts, and for tests that compile a program of their own.
//!
//! [`programs`] compiles eBPF programs into a build script's `OUT_DIR`, [`variant`] one with flags, [`compile`] one source to one object. With the feature
//! `types`, bindgen makes Rust types of the C types that both share (`types::Types`). The dependencies are reported to Cargo: the
//! sources with all that they include, and the environment variable CLANG, which names another compiler.

mod compile;
mod error;
#[cfg(feature = "types")]
pub mod types;

use std::path::PathBuf;
use std::process::ExitCode;

pub use compile::{compile, compiler, programs, variant};
pub use error::Error;

/// The folder bpf/ of this workspace: sources of programs, and the root of `#include "..."`.
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bpf");

/// A build script's exit code, with each line of an error as an error of cargo's.
pub fn exit_code(result: Result<(), Error>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    for line in error.to_string().lines() {
        println!("cargo::error={line}");
    }
    ExitCode::FAILURE
}

/// The build script's folder for results.
fn out_dir() -> Result<PathBuf, Error> {
    std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or(Error::NotABuildScript)
}
