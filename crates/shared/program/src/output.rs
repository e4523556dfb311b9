//! Standard output. A reader that leaves early, as `head` does, is no failure: it has what it
//! wanted. Characters that a terminal obeys or hides are escaped, as they may be a stranger's.

use std::borrow::Cow;
use std::fmt::Display;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write as _};

use anyhow::Context as _;
use serde::Serialize;

use crate::Failure;

/// Prints text and a line feed.
///
/// # Errors
/// If standard output cannot be written, but for a closed pipe.
pub fn line(text: impl Display) -> Result<(), Failure> {
    let mut text = printable(&text.to_string()).into_owned();
    text.push('\n');
    write(&text)
}

/// Clears the terminal.
///
/// # Errors
/// As [`line()`].
pub fn clear_screen() -> Result<(), Failure> {
    write("\u{1b}[H\u{1b}[2J\n")
}

fn write(text: &str) -> Result<(), Failure> {
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

/// True of a character that shows as what it is: no control character, and none that is invisible
/// or turns the direction of those around it (Unicode's default ignorables and separators).
#[must_use]
pub fn is_printable(character: char) -> bool {
    let hidden = matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !hidden && !character.is_control()
}

/// A text, of lines too, with all characters but printable ones as JSON escapes them: `\u001b`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let stays = |character| matches!(character, '\n' | '\t') || is_printable(character);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if stays(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // A string takes everything.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped.into()
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
    use super::*;

    #[test]
    fn one_is_no_plural() {
        let counts = [0, 1, 5].map(|number| counted(number, "router"));
        assert_eq!(counts, ["0 routers", "1 router", "5 routers"]);
    }

    #[test]
    fn what_a_terminal_obeys_or_hides_is_escaped() {
        assert_eq!(printable("a\tb\n│ é ü 日本 🐎 │"), "a\tb\n│ é ü 日本 🐎 │");
        assert_eq!(printable("\u{1b}[31m\0\u{9b}\r"), "\\u001b[31m\\u0000\\u009b\\u000d");
        assert_eq!(printable("be\u{202e}1\u{200b}"), "be\\u202e1\\u200b");
        let json = printable("[\n\"\u{e0041}\u{7f}\"]").into_owned();
        let read: Vec<String> = serde_json::from_str(&json).unwrap();
        assert_eq!(read, ["\u{e0041}\u{7f}"], "it stays JSON: {json}");
    }
}
