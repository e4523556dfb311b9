//! The program that makes the page, from its command line.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Output};

fn page(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_heddle-browser-page")).args(arguments).output().unwrap()
}

#[test]
fn a_wrong_number_of_arguments_gets_the_usage() {
    let output = page(&["module.wasm"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("usage: heddle-browser-page MODULE.wasm PAGE.html"), "{errors}");
}

#[test]
fn a_module_that_is_not_there_is_named_and_no_page_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join("page.html");
    let output = page(&["no-such.wasm", written.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("no-such.wasm"), "{errors}");
    assert!(!written.exists());
}
