//! Compiles the parts of the balancer's program that need no kernel, with the compiler that makes the program.

use std::env;

const SOURCES: &str = "../../bpf";

fn main() {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed={SOURCES}");
    println!("cargo::rerun-if-env-changed=CLANG");
    let mut build = cc::Build::new();
    build.compiler(env::var("CLANG").unwrap_or_else(|_| "clang".into()));
    build.include(SOURCES).file("c/balancer.c").warnings(true).warnings_into_errors(true);
    if env::var("CARGO_CFG_FUZZING").is_ok() {
        instrument(&mut build);
    }
    build.compile("balancer");
}

/// For the fuzzer: coverage, and bad accesses and undefined behaviour are crashes. The runtime is Rust's, which has no
/// reports of undefined behaviour: it traps.
fn instrument(build: &mut cc::Build) {
    build.flag("-fsanitize=fuzzer-no-link,address,undefined").flag("-fsanitize-trap=undefined");
}
