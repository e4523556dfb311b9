//! Standard output. A reader that leaves early, as `head` does, is no failure: what it wanted it has.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};

use anyhow::Context as _;

use crate::failure::Failure;

/// Prints some text and ends the line.
pub(crate) fn line(text: impl Display) -> Result<(), Failure> {
    let mut text = text.to_string();
    text.push('\n');
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written.context("standard output")?),
    }
}

/// Things and how many: `1 router`, `5 routers`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
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
        let told = [0, 1, 5].map(|number| counted(number, "router"));
        assert_eq!(told, ["0 routers", "1 router", "5 routers"]);
    }
}
