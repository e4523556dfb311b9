//! Skips as a test run shows them, and as `tools/tally.py` counts them.
#![cfg(unix)] // CI's script is one of bash.
#![allow(clippy::unwrap_used)]

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use heddle_testing::{Need, skip_without};

const CHILD: &str = "HEDDLE_TESTING_CHILD";

/// Runs a test of this file in a process of its own, as `cargo test --quiet` does.
fn run(test: &str, without_root: &str) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--quiet", "--exact", test]).env(CHILD, "1");
    command.env(Need::Root.variable(), without_root).output().unwrap()
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The tally's output for one file.
fn tally(cases: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("junit.xml");
    std::fs::write(&file, format!("<testsuites><testsuite>{cases}</testsuite></testsuites>"))
        .unwrap();
    let script = root().join("tools/tally.py");
    let output = Command::new("python3").arg(script).arg(&file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A test as cargo-nextest records it.
fn case(name: &str, contents: &str) -> String {
    format!("<testcase name=\"{name}\" classname=\"crate\">{contents}</testcase>")
}

#[test]
fn a_skip_is_visible_although_libtest_captures_output() {
    const NAME: &str = "a_skip_is_visible_although_libtest_captures_output";
    if env::var_os(CHILD).is_some() {
        assert!(skip_without(Need::Root));
        return;
    }
    let output = run(NAME, "1");
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, format!("\ntest skipped: {NAME}: HEDDLE_WITHOUT_ROOT=1\n"));
    let recorded = case(NAME, &format!("<system-err>{errors}</system-err>"));
    let line = format!("test skipped: crate {NAME}: HEDDLE_WITHOUT_ROOT=1\n");
    assert_eq!(tally(&recorded), line + "0 passed, 0 failed, 1 skipped\n");
}

/// As root the child fails by its own assertion, otherwise by the missing requirement.
#[test]
fn without_the_variable_nothing_is_skipped() {
    if env::var_os(CHILD).is_some() {
        assert!(skip_without(Need::Root), "root is there");
        return;
    }
    let output = run("without_the_variable_nothing_is_skipped", "0");
    assert!(!output.status.success(), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("test skipped"), "{output:?}");
}

#[test]
fn passed_failed_and_skipped_tests_are_told_apart() {
    let said = "<system-err>a line that mentions test skipped: three</system-err>";
    let cases = [
        case("passes", ""),
        case("mentions_a_skip", said),
        case("fails", "<failure/>"),
        case("breaks", "<error/>"),
        case("by_pytest", "<skipped message=\"no BMv2\"/>"),
    ];
    let sum = "test skipped: crate by_pytest: no BMv2\n2 passed, 2 failed, 1 skipped\n";
    assert_eq!(tally(&cases.concat()), sum);
}

#[test]
fn a_file_without_tests_counts_none() {
    assert_eq!(tally(""), "0 passed, 0 failed, 0 skipped\n");
}

/// `.ci/run` over an `x` whose `test` records one test and ends with this status: the last line of
/// its output, and its status.
fn run_ci(contents: &str, status: i32) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    for part in [".ci", "tools"] {
        std::os::unix::fs::symlink(root().join(part), folder.path().join(part)).unwrap();
    }
    let junit = folder.path().join("target/junit");
    std::fs::create_dir_all(&junit).unwrap();
    let suite = format!("<testsuite>{}</testsuite>", case("one", contents));
    std::fs::write(junit.join("rust.xml"), suite).unwrap();
    // Written by the shell: a program that this process has open for writing could not be run.
    let script = format!(
        "printf '#!/bin/sh\\n[ \"$*\" != test ] || exit {status}\\n' > x; chmod +x x; .ci/run"
    );
    let output = Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().last().unwrap().into(), output.status.code())
}

#[test]
fn a_failed_test_fails_the_run_and_the_sum_is_printed() {
    let (sum, status) = run_ci("<failure/>", 101);
    assert_eq!((sum.as_str(), status), ("0 passed, 1 failed, 0 skipped", Some(101)));
    let (sum, status) = run_ci("", 0);
    assert_eq!((sum.as_str(), status), ("1 passed, 0 failed, 0 skipped", Some(0)));
}
