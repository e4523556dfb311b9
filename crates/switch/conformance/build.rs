//! Compiles the schemes in C for this machine, with the compiler that makes the programs, and makes Rust types of their interface for tests.

use std::env;
use std::process::ExitCode;

use heddle_bpf_build::types::Types;
use heddle_bpf_build::{Error, SOURCES, compiler, exit_code};

fn main() -> ExitCode {
    exit_code(build())
}

fn build() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed={SOURCES}");
    println!("cargo::rerun-if-env-changed=CLANG");
    compile();
    let totals = &[];
    Types { headers: &["switch/abi.h", "switch/step_abi.h"], totals, ..Types::default() }.write()
}

/// Undefined behaviour, an index beyond a table above all, ends the program: the runtime that reports it is not there.
fn compile() {
    let mut build = cc::Build::new();
    build.compiler(compiler());
    build.include(SOURCES).file("c/schemes.c").warnings(true).warnings_into_errors(true);
    build.flag("-fsanitize=undefined").flag("-fsanitize-trap=undefined");
    if is_set("CARGO_CFG_FUZZING", "") {
        build.flag("-fsanitize=fuzzer-no-link");
    }
    if is_set("CARGO_CFG_SANITIZE", "address") {
        build.flag("-fsanitize=address");
    }
    build.compile("schemes");
}

fn is_set(name: &str, word: &str) -> bool {
    env::var(name).is_ok_and(|value| value.contains(word))
}
