//! Reasons why C did not become an object or Rust types.

use std::io;
use std::path::PathBuf;

/// Packages that are needed, for errors that come of a missing one.
const HELP: &str = "help: the eBPF programs need clang, libclang and libbpf's headers; as root: \
    apt-get install clang libbpf-dev\n\
    help: the environment variable CLANG names another compiler";

/// A failed build step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `OUT_DIR` is not set.
    #[error("OUT_DIR is not set: this is no build script of cargo's")]
    NotABuildScript,
    /// The compiler could not be started.
    #[error("cannot run {compiler}: {error}\n{HELP}")]
    Start {
        /// Its name.
        compiler: String,
        /// The system's error.
        error: io::Error,
    },
    /// The compiler refused the source.
    #[error("{compiler} cannot compile {}:\n{output}{}", path.display(), help_for(output))]
    Compile {
        /// The compiler's name.
        compiler: String,
        /// The source.
        path: PathBuf,
        /// The compiler's errors and warnings.
        output: String,
    },
    /// bindgen made no types of the headers.
    #[error("bindgen: {0}\n{HELP}")]
    Types(String),
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// A missing header is a missing package.
fn help_for(output: &str) -> &'static str {
    if output.contains("file not found") { HELP } else { "" }
}
