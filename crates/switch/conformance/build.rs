//! Compiles the schemes in C for this machine, with the compiler that makes the programs, and makes
//! Rust types of their interface for tests.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use heddle_bpf_build::types::Types;
use heddle_bpf_build::{Error, SOURCES, Scheme, compiler, exit_code, schemes};

fn main() -> ExitCode {
    exit_code(build())
}

fn build() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed={SOURCES}");
    println!("cargo::rerun-if-env-changed=CLANG");
    compile();
    packets()?;
    let totals = &[];
    Types {
        headers: &["switch/abi.h", "switch/step_abi.h", "switch/handshake.h"],
        foreign: &[
            "hula_config",
            "shuttle_config",
            "mp_hula_config",
            "cflb_constants",
            "scheme_counters",
            "conga_config",
        ],
        totals,
        ..Types::default()
    }
    .write()
}

/// Undefined behaviour, an index beyond a table above all, ends the program: the runtime that
/// reports it is not there.
fn checked() -> cc::Build {
    let mut build = cc::Build::new();
    build.compiler(compiler());
    build.include(SOURCES).warnings(true).warnings_into_errors(true);
    build.flag("-fsanitize=undefined").flag("-fsanitize-trap=undefined");
    if is_set("CARGO_CFG_FUZZING", "") {
        build.flag("-fsanitize=fuzzer-no-link");
    }
    if is_set("CARGO_CFG_SANITIZE", "address") {
        build.flag("-fsanitize=address");
    }
    build
}

fn compile() {
    checked().file("c/schemes.c").compile("schemes");
}

/// The XDP program of each scheme, an object each: all symbols but the two entry points are made
/// local, as they are the same in all. Alignment is not checked: headers lie in frames as they
/// come.
fn packets() -> Result<(), Error> {
    let mut all = cc::Build::new();
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let (mut declared, mut listed) = (String::new(), String::new());
    for Scheme { name, flag } in schemes()? {
        let mut build = checked();
        build.flag("-fno-sanitize=alignment").file("c/packet.c");
        build.flag(flag).define("HEDDLE_XDP", None).define("SCHEME_NAME", name.as_str());
        // The folder of the object, so that the next one does not take its place.
        build.out_dir(folder.join(&name));
        for object in build.compile_intermediates() {
            localise(&object, &name)?;
            all.object(object);
        }
        let (reset, run) =
            (format!("switch_packet_{name}_reset"), format!("switch_packet_{name}_run"));
        declared += &format!("fn {reset}(is_tor: i32, choice: u32); fn {run}(run: *mut RawRun);\n");
        listed += &format!("Scheme {{ name: \"{name}\", reset: {reset}, run: {run} }},\n");
    }
    all.compile("packets");
    let path = folder.join("packet_schemes.rs");
    let text = format!(
        "unsafe extern \"C\" {{\n{declared}}}\nconst SCHEMES: &[Scheme] = &[\n{listed}];\n"
    );
    std::fs::write(&path, text).map_err(|error| Error::File { path, error })
}

fn localise(object: &Path, name: &str) -> Result<(), Error> {
    let keep = |end: &str| format!("--keep-global-symbol=switch_packet_{name}_{end}");
    let output = Command::new("objcopy").args([keep("reset"), keep("run")]).arg(object).output();
    let output = output.map_err(|error| Error::Start { compiler: "objcopy".into(), error })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::Compile { compiler: "objcopy".into(), path: object.to_owned(), output: said })
}

fn is_set(name: &str, word: &str) -> bool {
    env::var(name).is_ok_and(|value| value.contains(word))
}
