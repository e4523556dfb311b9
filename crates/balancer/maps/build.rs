//! Compiles the eBPF programs, and makes Rust's types of what they share with the daemon.

#[path = "build/abi.rs"]
mod abi;
#[path = "build/compile.rs"]
mod compile;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let directory = |name| std::env::var_os(name).ok_or(format!("{name} is not set: cargo does"));
    let (package, out) = (directory("CARGO_MANIFEST_DIR")?, directory("OUT_DIR")?);
    let (sources, out) = (Path::new(&package).join("../../../bpf"), Path::new(&out));
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    compile::programs(&sources, out)?;
    let headers =
        ["abi.h", "bench.h", "decap_abi.h"].map(|name| sources.join("include").join(name));
    abi::types(&headers, out)
}
