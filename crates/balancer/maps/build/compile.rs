//! clang makes an object of each program.

use std::path::{Path, PathBuf};
use std::process::Command;

const FLAGS: [&str; 7] = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror"];

/// Compiles every `*.bpf.c` of `sources` to `out`/NAME.o.
pub fn programs(sources: &Path, out: &Path) -> Result<(), String> {
    let includes = include_flags();
    for source in program_sources(sources)? {
        let stem = source.file_name().unwrap_or_default().to_string_lossy().replace(".bpf.c", ".o");
        compile(&source, &out.join(stem), &includes)?;
    }
    Ok(())
}

fn program_sources(sources: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = sources.read_dir().map_err(|e| format!("{}: {e}", sources.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".bpf.c"))
        .collect();
    found.sort();
    Ok(found)
}

fn compile(source: &Path, object: &Path, includes: &[String]) -> Result<(), String> {
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let output = Command::new(&clang)
        .args(FLAGS)
        .args(includes)
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .map_err(|e| format!("cannot run {clang}: {e}\n{MEND}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mend = if said.contains("file not found") { MEND } else { "" };
    Err(format!("{clang} cannot compile {}:\n{said}{mend}", source.display()))
}

pub const MEND: &str = "help: the eBPF programs need clang, libclang and libbpf's headers; as root: \
    apt-get install clang libbpf-dev\n\
    help: the environment variable CLANG names another compiler";

/// Where `asm/types.h` is: Debian has it below a directory of the machine's own, others need no flag.
fn include_flags() -> Vec<String> {
    let Ok(output) = Command::new("cc").arg("-print-multiarch").output() else { return vec![] };
    let machine = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let directory = format!("/usr/include/{machine}");
    if machine.is_empty() || !Path::new(&directory).is_dir() {
        return vec![];
    }
    vec![format!("-I{directory}")]
}
