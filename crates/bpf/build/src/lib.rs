//! The one place that runs clang on bpf/: for build scripts, and for tests that compile a program
//! of their own.
//!
//! [`programs`] compiles eBPF programs into a build script's `OUT_DIR`, [`variant`] one with flags,
//! [`compile`] one source to one object. With the feature `types`, bindgen makes Rust types of the
//! C types that both share (`types::Types`). The dependencies are reported to Cargo: the sources
//! with all that they include, and the environment variable CLANG, which names another compiler.

mod compile;
mod error;
#[cfg(feature = "types")]
pub mod types;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use compile::{compile, compile_once, compiler, programs, variant};
pub use error::Error;

/// The folder bpf/ of this workspace: sources of programs, and the root of `#include "..."`.
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bpf");

/// The names of the switch's schemes in alphabetical order, and the flag that selects each: there
/// is a `bpf/switch/scheme_<name>.h` for each.
///
/// # Errors
/// [`Error::File`] if the folder cannot be read.
pub fn schemes() -> Result<Vec<Scheme>, Error> {
    let folder = Path::new(SOURCES).join("switch");
    let failed = |error| Error::File { path: folder.clone(), error };
    let mut schemes = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let file = entry.map_err(failed)?.file_name();
        let name = file.to_str().and_then(|file| file.strip_prefix("scheme_")?.strip_suffix(".h"));
        if let Some(name) = name {
            let flag = format!("-DSCHEME_HEADER=\"switch/scheme_{name}.h\"");
            schemes.push(Scheme { name: name.to_owned(), flag });
        }
    }
    schemes.sort();
    Ok(schemes)
}

/// The headers of the schemes that have tables (`struct <name>_tables`), as paths below bpf/.
///
/// # Errors
/// [`Error::File`] if a file cannot be read.
pub fn headers_of_tables() -> Result<Vec<String>, Error> {
    let mut headers = Vec::new();
    for Scheme { name, .. } in schemes()? {
        let header = format!("switch/{name}.h");
        let path = Path::new(SOURCES).join(&header);
        let text = std::fs::read_to_string(&path).map_err(|error| Error::File { path, error })?;
        if text.contains(&format!("struct {name}_tables {{")) {
            headers.push(header);
        }
    }
    Ok(headers)
}

/// A scheme of the switch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scheme {
    /// Its name in C.
    pub name: String,
    /// The compiler's flag for its program.
    pub flag: String,
}

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
