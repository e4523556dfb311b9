//! Failures of commands: the message, its JSON form, and the exit code.

use std::fmt;

use serde_json::{Value, json};

/// Exit code when a command failed while it ran.
const FAILED: u8 = 1;
/// Exit code when the command line is wrong.
const USAGE: u8 = 2;
/// Exit code when an input file is wrong.
const INPUT: u8 = 3;
/// Exit code when a program is not installed, as a shell has it.
const NOT_FOUND: u8 = 127;
/// Exit code after SIGINT, as a shell has it.
const INTERRUPTED: u8 = 130;

/// A failed command: any error, as `?` makes it, or one of the kinds below.
///
/// It is described at the program's end ([`crate::exit`]): the program adds descriptions of its own error
/// types there.
pub struct Failure(anyhow::Error);

/// An error with a suggested fix.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Advised {
    kind: &'static str,
    code: u8,
    message: String,
    help: String,
}

/// Stopped by the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Interrupted(String);

impl Failure {
    /// Something that went wrong, and its fix.
    pub fn advised(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::of_kind("failed", FAILED, message, help)
    }

    /// A command line that is wrong for the files that it names, and its fix.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::of_kind("usage", USAGE, message, help)
    }

    /// A program that is not installed, and how to get it.
    pub fn missing_program(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::of_kind("missing-program", NOT_FOUND, message, help)
    }

    /// A command that the user stopped.
    pub fn interrupted(message: impl Into<String>) -> Failure {
        Failure(Interrupted(message.into()).into())
    }

    fn of_kind(
        kind: &'static str,
        code: u8,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Failure {
        Failure(Advised { kind, code, message: message.into(), help: help.into() }.into())
    }

    /// The failure as it is reported. `own` describes a program's own error types; anything else is
    /// a plain failure.
    pub fn report(&self, own: impl Fn(&anyhow::Error) -> Option<Report>) -> Report {
        let Failure(error) = self;
        if let Some(advised) = error.downcast_ref::<Advised>() {
            return Report::advised(advised);
        }
        if let Some(Interrupted(message)) = error.downcast_ref() {
            return Report::interrupted(message);
        }
        own(error).unwrap_or_else(|| Report::failed(error))
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

/// A failure as it is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The exit code.
    pub code: u8,
    /// The text for standard error.
    pub text: String,
    /// The JSON object for standard output.
    pub json: Value,
}

impl Report {
    /// An input file that is wrong: `kind` names it in JSON, and `text` has all the rest of it.
    pub fn input(
        kind: &str,
        text: impl fmt::Display,
        (file, line): (&str, Option<usize>),
        key: &str,
        (message, help): (&str, Option<&str>),
    ) -> Report {
        let json = json!({
            "error": kind, "file": file, "line": line, "key": key, "message": message, "help": help,
        });
        Report { code: INPUT, text: format!("error: {text}"), json }
    }

    /// A command that the user stopped.
    pub fn interrupted(message: &str) -> Report {
        let json = json!({ "error": "interrupted", "message": message });
        Report { code: INTERRUPTED, text: message.to_owned(), json }
    }

    fn failed(error: &anyhow::Error) -> Report {
        let message = format!("{error:#}");
        let json = json!({ "error": "failed", "message": message });
        Report { code: FAILED, text: format!("error: {message}"), json }
    }

    fn advised(Advised { kind, code, message, help }: &Advised) -> Report {
        let json = json!({ "error": kind, "message": message, "help": help });
        Report { code: *code, text: format!("error: {message}\nhelp: {help}"), json }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(failure: &Failure) -> Report {
        failure.report(|_| None)
    }

    #[test]
    fn an_advised_failure_has_help() {
        let usage = report(&Failure::usage("--x is missing", "give it"));
        assert_eq!((usage.code, &*usage.text), (2, "error: --x is missing\nhelp: give it"));
        let advised = report(&Failure::advised("k: mode 644", "chmod 600 k")).json;
        assert_eq!(
            advised,
            json!({ "error": "failed", "message": "k: mode 644", "help": "chmod 600 k" })
        );
    }

    #[test]
    fn causes_are_listed_from_the_outside_in() {
        let failed = report(&anyhow::anyhow!("not found").context("a.toml").into());
        assert_eq!((failed.code, &*failed.text), (1, "error: a.toml: not found"));
        assert_eq!(failed.json["message"], "a.toml: not found");
    }

    #[test]
    fn a_program_describes_its_own_errors() {
        let interruption = |error: &anyhow::Error| {
            error.downcast_ref::<fmt::Error>().map(|_| Report::interrupted("stopped"))
        };
        let failure = Failure::from(anyhow::Error::from(fmt::Error).context("while writing"));
        assert_eq!((failure.report(interruption).code, report(&failure).code), (130, 1));
    }
}
