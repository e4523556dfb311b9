//! Whether this process may load eBPF programs.

use std::io::Write as _;

/// Whether programs can be loaded. If not, the test fails here, or ends with a shout where HEDDLE_WITHOUT_ROOT=1 says
/// that there is no root.
pub fn is_ours() -> bool {
    let Err(error) = heddle_balancer_maps::pass() else { return true };
    let skip = std::env::var("HEDDLE_WITHOUT_ROOT").is_ok_and(|value| value == "1");
    assert!(skip, "this test needs root and eBPF (HEDDLE_WITHOUT_ROOT=1 skips it): {error}");
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    // Not eprintln, which is not shown of tests that pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: needs root and eBPF: {error}");
    false
}
