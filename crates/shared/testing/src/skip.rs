//! The decision to skip a test, and its line on standard error.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::panic::Location;
use std::thread;

use crate::Need;

/// Returns true if the calling test has to end now, skipped:
/// `if skip_without(Need::Root) { return; }`.
///
/// # Panics
/// If the requirement is missing and its variable does not allow a skip.
#[must_use]
#[track_caller]
pub fn skip_without(need: Need) -> bool {
    let variable = need.variable();
    let test = test_name(Location::caller());
    if is_set(env::var_os(variable).as_deref()) {
        say(&line(&test, &format!("{variable}=1")));
        return true;
    }
    if let Err(missing) = need.check() {
        panic!("{test}: {missing} ({variable}=1 skips the test)");
    }
    false
}

/// Returns true if the calling test has to end now, skipped, because of what is missing: programs
/// that no distribution's package has, and drivers of the kernel ([`crate::Driver`]), which no machine
/// must have. The line gives the reason. Any other missing program fails the test
/// ([`crate::require_program`]).
#[must_use]
#[track_caller]
pub fn skip_because(missing: Option<&str>) -> bool {
    if let Some(missing) = missing {
        say(&line(&test_name(Location::caller()), missing));
    }
    missing.is_some()
}

/// One write, past the capture of print macros by libtest. If standard error is closed, the line is
/// lost.
fn say(line: &str) {
    let _ = io::stderr().write_all(line.as_bytes());
}

fn is_set(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| value == "1")
}

/// A line of its own, even in the middle of the dots of `cargo test --quiet`.
fn line(test: &str, reason: &str) -> String {
    format!("\ntest skipped: {test}: {reason}\n")
}

/// The test's name, which libtest gives to its thread; with one thread for all tests, the place of
/// the call.
fn test_name(caller: &Location<'_>) -> String {
    match thread::current().name() {
        Some(name) if name != "main" => name.to_string(),
        _ => format!("{}:{}", caller.file(), caller.line()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_value_1_allows_a_skip() {
        let values = [None, Some("0"), Some(""), Some("yes"), Some("1")];
        let set = values.map(|value| is_set(value.map(OsStr::new)));
        assert_eq!(set, [false, false, false, false, true]);
    }

    #[test]
    fn the_line_stands_alone_and_names_test_and_reason() {
        let text = line("some_test", "HEDDLE_WITHOUT_ROOT=1");
        assert_eq!(text, "\ntest skipped: some_test: HEDDLE_WITHOUT_ROOT=1\n");
    }

    #[test]
    fn a_test_that_misses_nothing_is_not_skipped() {
        assert!(!skip_because(None));
    }

    #[test]
    fn a_test_is_named_by_its_thread_or_by_the_place_of_the_call() {
        let here = Location::caller();
        let named = thread::Builder::new().name("a::test".into()).spawn(|| test_name(here));
        assert_eq!(named.unwrap().join().unwrap(), "a::test");
        let main = thread::Builder::new().name("main".into()).spawn(|| test_name(here));
        assert_eq!(main.unwrap().join().unwrap(), format!("{}:{}", here.file(), here.line()));
    }
}
