//! Standard output. A reader that leaves early, as `head` does, is no failure: it has what it
//! wanted.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};

use anyhow::Context as _;
use serde::Serialize;

use crate::Failure;

/// Prints text and a line feed.
///
/// # Errors
/// If standard output cannot be written, but for a closed pipe.
pub fn line(text: impl Display) -> Result<(), Failure> {
    let mut text = text.to_string();
    text.push('\n');
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written.context("standard output")?),
    }
}

/// Prints a value as JSON.
///
/// # Errors
/// As [`line()`], or if the value has no JSON form.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).context("results cannot be written as JSON")?;
    line(text)
}

/// A number of things: `1 router`, `5 routers`.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_no_plural() {
        let counts = [0, 1, 5].map(|number| counted(number, "router"));
        assert_eq!(counts, ["0 routers", "1 router", "5 routers"]);
    }
}
