//! Compiles the parts of the balancer's program that need no kernel, with the compiler that makes
//! the program.

use std::env;

use heddle_bpf_build::{SOURCES, compiler};

fn main() {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed={SOURCES}");
    println!("cargo::rerun-if-env-changed=CLANG");
    let mut build = cc::Build::new();
    build.compiler(compiler());
    build.include(SOURCES).file("c/balancer.c").warnings(true).warnings_into_errors(true);
    // The fuzzer's programs have the switch's C, too, with the same parser.
    for shared in ["find_option", "read_mptcp"] {
        build.define(shared, format!("balancer_{shared}").as_str());
    }
    for check in checks() {
        build.flag(check);
    }
    build.compile("balancer");
}

/// For the fuzzer: coverage; undefined behaviour, and with Rust's sanitizer a bad access, is a
/// crash. The runtime is Rust's, which has no reports of undefined behaviour: it traps. Alignment
/// is not checked: headers lie in frames as they come, which the program relies on.
fn checks() -> impl Iterator<Item = &'static str> {
    let is_set = |name, word| env::var(name).is_ok_and(|value| value.contains(word));
    let fuzzing = is_set("CARGO_CFG_FUZZING", "").then_some([
        "-fsanitize=fuzzer-no-link,undefined",
        "-fsanitize-trap=undefined",
        "-fno-sanitize=alignment",
    ]);
    let address = is_set("CARGO_CFG_SANITIZE", "address").then_some("-fsanitize=address");
    fuzzing.into_iter().flatten().chain(address)
}
