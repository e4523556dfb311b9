//! Compiles the programs that measure, send and pass, and bare ones, and makes Rust types of what
//! they and all programs share with user space.

use std::process::ExitCode;

use heddle_bpf_build::types::Types;
use heddle_bpf_build::{Error, exit_code, programs};

fn main() -> ExitCode {
    exit_code(build())
}

fn build() -> Result<(), Error> {
    programs(&["tools/bench.bpf.c", "tools/bare.bpf.c", "tools/pass.bpf.c"])?;
    let headers = &["include/address.h", "include/count.h", "include/bench.h"];
    Types { headers, ..Types::default() }.write()
}
