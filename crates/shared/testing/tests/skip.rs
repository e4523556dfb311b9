//! Skips as a test run shows them, and as `.ci/tally` counts them.
#![cfg(unix)] // The tally is an awk script.
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

/// The folder with CI's scripts.
fn ci() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.ci")
}

fn tally(log: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    std::fs::write(&file, log).unwrap();
    let output = Command::new(ci().join("tally")).arg(&file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
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
    let log = errors + &String::from_utf8(output.stdout).unwrap();
    assert_eq!(tally(&log), "0 passed, 0 failed, 1 skipped\n");
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
    let log = String::from_utf8(output.stdout).unwrap();
    assert_eq!(tally(&log), "0 passed, 1 failed, 0 skipped\n");
}

#[test]
fn results_are_summed_over_all_test_binaries() {
    let log = "\
running 5 tests
..
test skipped: one: HEDDLE_WITHOUT_ROOT=1
.
test skipped: two: HEDDLE_WITHOUT_ETCD=1

test skipped: two: HEDDLE_WITHOUT_ETCD=1
..
test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 5 tests

test skipped: one: HEDDLE_WITHOUT_ROOT=1
..iF.
test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.00s
a line that mentions test skipped: three: does not count
";
    assert_eq!(tally(log), "5 passed, 1 failed, 4 skipped\n");
}

#[test]
fn a_log_without_tests_counts_none() {
    assert_eq!(tally("error: could not compile\n"), "0 passed, 0 failed, 0 skipped\n");
}

/// `.ci/run` over an `x` whose `test --no-fail-fast` ends with this result and status: the last line of its output, and its status.
fn run_ci(result: &str, status: i32) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(ci(), folder.path().join(".ci")).unwrap();
    let x = format!(
        "if [ $1$2 = test--no-fail-fast ]; then echo 'test result: {result}'; exit {status}; fi"
    );
    // Written by the shell: a program that this process has open for writing could not be run.
    let script = format!("printf '#!/bin/sh\\n%s\\n' \"{x}\" > x; chmod +x x; .ci/run");
    let script = script.replace('$', "\\$");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().last().unwrap().into(), output.status.code())
}

#[test]
fn a_failed_test_fails_the_run_and_the_sum_is_printed() {
    let (sum, status) = run_ci("FAILED. 1 passed; 1 failed; 0 ignored; 0 measured", 101);
    assert_eq!((sum.as_str(), status), ("1 passed, 1 failed, 0 skipped", Some(101)));
    let (sum, status) = run_ci("ok. 2 passed; 0 failed; 0 ignored; 0 measured", 0);
    assert_eq!((sum.as_str(), status), ("2 passed, 0 failed, 0 skipped", Some(0)));
}
