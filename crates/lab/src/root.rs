//! Tests that need root: without it they fail, unless one said that they may be left out.

use std::io::{self, Write};

/// Set to 1 where there is no root: the tests that need it are then left out, loudly.
pub const WITHOUT_ROOT: &str = "HEDDLE_WITHOUT_ROOT";

/// Whether this process is root.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The first line of a test that needs root: `if skipped("name") { return }`.
///
/// # Panics
/// Without root, unless [`WITHOUT_ROOT`] is 1: a skip must not look like a pass.
#[must_use]
pub fn skipped(test: &str) -> bool {
    if is_root() {
        return false;
    }
    let allowed = std::env::var_os(WITHOUT_ROOT).is_some_and(|value| value == "1");
    assert!(allowed, "{test} needs root (or {WITHOUT_ROOT}=1 to leave it out)");
    // Past the test harness, which keeps what passing tests print.
    let _ = writeln!(io::stderr(), "SKIPPED: {test} needs root");
    true
}
