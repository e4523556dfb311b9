//! The balancer's tables under threads and a race checker: c/stress.c, compiled with
//! ThreadSanitizer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(compile);

/// The compiler is the one that links Rust's programs: its runtime of ThreadSanitizer comes with it
/// (Debian: gcc, libtsan2).
fn compile() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/stress.c");
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stress-{}", std::process::id()));
    let output = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
        .args(["-std=gnu11", "-O1", "-g", "-fsanitize=thread", "-pthread"])
        .args(["-I", heddle_bpf_build::SOURCES, "-o"])
        .args([&program, &source])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// ThreadSanitizer wants its own places in memory: where the kernel took one of them, once more
/// with addresses that are not random.
fn run(arguments: &[&str]) -> (Output, String) {
    let start = |program: &mut Command| {
        program.env("TSAN_OPTIONS", "halt_on_error=1").args(arguments).output().unwrap()
    };
    let mut output = start(&mut Command::new(&*PROGRAM));
    if String::from_utf8_lossy(&output.stderr).contains("unexpected memory mapping") {
        output = start(Command::new("setarch").arg("--addr-no-randomize").arg(&*PROGRAM));
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

#[test]
fn processors_share_the_tables_without_races() {
    let (output, text) = run(&[]);
    assert!(output.status.success(), "{text}");
}

/// A write that may end another processor's claim: what the flow table once did with each packet.
#[test]
fn a_write_without_an_exchange_is_found() {
    let (output, text) = run(&["unclaimed-touch"]);
    assert!(!output.status.success(), "nothing was found");
    assert!(text.contains("data race") && text.contains("touch_unclaimed"), "{text}");
}
