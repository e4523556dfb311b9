//! clang makes an object of each program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, SOURCES, out_dir};

const FLAGS: [&str; 7] = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror"];

/// Compiles programs, named by their paths below bpf/, into a build script's `OUT_DIR`:
/// `balancer/decap.bpf.c` is `decap.o` there.
///
/// # Errors
/// [`Error::NotABuildScript`] without `OUT_DIR`, and those of [`compile`].
pub fn programs(paths: &[&str]) -> Result<(), Error> {
    for path in paths {
        let name = Path::new(path).file_name().unwrap_or(OsStr::new(path)).to_string_lossy();
        variant(path, &name.replace(".bpf.c", ""), &[])?;
    }
    Ok(())
}

/// Compiles a program with more flags into `OUT_DIR`, as the object `name`.
///
/// # Errors
/// As [`programs`].
pub fn variant(path: &str, name: &str, flags: &[&str]) -> Result<(), Error> {
    println!("cargo::rerun-if-env-changed=CLANG");
    let object = out_dir()?.join(format!("{name}.o"));
    let included = object.with_extension("d");
    let dependencies = format!("-MF{}", included.display());
    let flags = [&["-MMD", &dependencies], flags].concat();
    compile(&Path::new(SOURCES).join(path), &object, &flags)?;
    for file in prerequisites(&included)? {
        println!("cargo::rerun-if-changed={file}");
    }
    Ok(())
}

/// Compiles one eBPF program, with more flags for the compiler. `#include "..."` starts at bpf/.
///
/// # Errors
/// [`Error::Start`] if there is no compiler, [`Error::Compile`] if it refuses the source.
pub fn compile(source: &Path, object: &Path, flags: &[&str]) -> Result<(), Error> {
    let compiler = compiler();
    let output = Command::new(&compiler)
        .args(FLAGS)
        .arg(machine_define())
        .args(machine_headers())
        .args(flags)
        .args(["-I", SOURCES])
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .map_err(|error| Error::Start { compiler: compiler.clone(), error })?;
    if output.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::Compile { compiler, path: source.to_owned(), output })
}

/// As [`compile`] without flags, for tests, each of which is a process: none compiles what another
/// one has, unless a source is newer since.
///
/// # Errors
/// As [`compile`], and [`Error::File`].
pub fn compile_once(source: &Path, object: &Path) -> Result<(), Error> {
    if is_fresh(object) {
        return Ok(());
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        |error| Error::File { path, error }
    };
    // Others see both files whole or not at all, the object last.
    let process = std::process::id();
    let mine = object.with_extension(format!("{process}.o"));
    let included = object.with_extension(format!("{process}.d"));
    compile(source, &mine, &["-MMD", &format!("-MF{}", included.display())])?;
    let rule = object.with_extension("d");
    std::fs::rename(&included, &rule).map_err(failed(&rule))?;
    std::fs::rename(&mine, object).map_err(failed(object))
}

/// False if there is no object, or if it is older than what it was made of.
fn is_fresh(object: &Path) -> bool {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let Some(made) = changed(object) else { return false };
    let Ok(sources) = prerequisites(&object.with_extension("d")) else { return false };
    sources.iter().all(|source| changed(Path::new(source)).is_some_and(|time| time < made))
}

/// The compiler for C: `clang`, or what the environment variable CLANG names.
pub fn compiler() -> String {
    std::env::var("CLANG").unwrap_or_else(|_| "clang".into())
}

/// The macro by which libbpf's headers, and bpf/common/atomic.h, know the machine on which the
/// program will run: the one that the build script builds for, or this one.
fn machine_define() -> String {
    let target = std::env::var("CARGO_CFG_TARGET_ARCH");
    let name = match target.as_deref().unwrap_or(std::env::consts::ARCH) {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        "powerpc64" => "powerpc",
        "riscv64" => "riscv",
        other => other,
    };
    format!("-D__TARGET_ARCH_{name}")
}

/// The flag for the folder of `asm/types.h`: Debian has it below a folder of the machine's own,
/// others need no flag.
fn machine_headers() -> Option<String> {
    let output = Command::new("cc").arg("-print-multiarch").output().ok()?;
    let machine = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let folder = PathBuf::from("/usr/include").join(&machine);
    (!machine.is_empty() && folder.is_dir()).then(|| format!("-I{}", folder.display()))
}

/// The files behind the colon of a make rule.
fn prerequisites(rule: &Path) -> Result<Vec<String>, Error> {
    let text = std::fs::read_to_string(rule)
        .map_err(|error| Error::File { path: rule.to_owned(), error })?;
    let files = text.split_once(": ").map_or("", |(_, files)| files);
    Ok(files.split_whitespace().filter(|file| *file != "\\").map(String::from).collect())
}
