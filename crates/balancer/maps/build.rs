//! Compiles the balancer's eBPF programs, and makes Rust types of what they share with the daemon.

use std::process::ExitCode;

use heddle_bpf_build::types::Types;
use heddle_bpf_build::{Error, exit_code, programs};

fn main() -> ExitCode {
    exit_code(build())
}

fn build() -> Result<(), Error> {
    programs(&[
        "balancer/balancer.bpf.c",
        "balancer/decap.bpf.c",
        "balancer/tick.bpf.c",
        "balancer/translate.bpf.c",
    ])?;
    Types {
        headers: &["include/abi.h", "include/decap_abi.h", "include/translate_abi.h"],
        foreign: &["address", "count"],
        whole_names: &["counter"],
        totals: &["VERDICTS", "ALL_COUNTERS", "DECAP_COUNTERS", "TRANSLATE_COUNTERS"],
    }
    .write()
}
