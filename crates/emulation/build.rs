//! Compiles the program that passes everything, which the switches' ports to hosts have.

use std::process::ExitCode;

use heddle_bpf_build::{exit_code, programs};

fn main() -> ExitCode {
    exit_code(programs(&["tools/pass.bpf.c"]))
}
