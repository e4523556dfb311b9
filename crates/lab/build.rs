//! Compiles the program that passes everything, which ports of the lab's bridge need.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

const MEND: &str = "apt-get install clang libbpf-dev linux-libc-dev";

fn main() -> ExitCode {
    match compile() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}; the lab needs clang and libbpf's headers: {MEND}");
            ExitCode::FAILURE
        }
    }
}

fn compile() -> Result<(), String> {
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let source = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../bpf/pass.bpf.c");
    let object = Path::new(&variable("OUT_DIR")?).join("pass.o");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    let clang = variable("CLANG").unwrap_or("clang".into());
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"])
        // Where Debian keeps asm/types.h.
        .args([
            "-idirafter",
            &format!("/usr/include/{}-linux-gnu", variable("CARGO_CFG_TARGET_ARCH")?),
        ])
        .arg("-c")
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .status()
        .map_err(|error| format!("{clang}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{clang} failed")) }
}
