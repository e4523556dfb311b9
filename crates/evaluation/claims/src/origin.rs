//! The origin of a result: program and command line.

use heddle_report::{Section, Table};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Program and command line that made a result; every file of results has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Heddle's version.
    pub heddle: String,
    /// Digest of golden runs of the simulation engine; `None` where nothing is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// SHA-256 of the program's file, the first 16 hexadecimal digits; empty if it cannot be read.
    pub program: String,
    /// The command line, as a shell reads it.
    pub command: String,
}

impl Origin {
    /// Of the running program with its command line.
    pub fn of_program() -> Origin {
        let words = std::env::args_os();
        let command: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
        Origin {
            heddle: env!("CARGO_PKG_VERSION").to_owned(),
            engine: None,
            program: program_digest().unwrap_or_default(),
            command: command.join(" "),
        }
    }

    /// Adds the digest of the engine.
    #[must_use]
    pub fn with_engine(self, digest: &str) -> Origin {
        Origin { engine: Some(digest.to_owned()), ..self }
    }

    /// Labels and values, for people.
    pub fn facts(&self) -> Vec<(&'static str, &str)> {
        let engine = self.engine.iter().map(|engine| ("Engine (digest of golden runs)", &**engine));
        [("Command", self.command.as_str()), ("Heddle", &self.heddle)]
            .into_iter()
            .chain(engine)
            .chain([("Program (SHA-256)", self.program.as_str())])
            .collect()
    }

    /// A section of a report.
    pub fn section(&self) -> Section {
        let table = Table::new(["", "value"]);
        let row = |table: Table, (label, value): (&str, &str)| {
            table.row([label.to_owned(), value.to_owned()])
        };
        Section::new("origin", "Origin").block(self.facts().into_iter().fold(table, row))
    }

    /// One line of Markdown.
    pub fn markdown(&self) -> String {
        let engine = self.engine.as_ref().map_or_else(String::new, |e| format!(", engine {e}"));
        let Origin { heddle, program, command, .. } = self;
        format!("`{command}` (Heddle {heddle}{engine}, program {program})\n")
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn program_digest() -> Option<String> {
    let bytes = std::fs::read(std::env::current_exe().ok()?).ok()?;
    let digest = Sha256::digest(&bytes);
    Some(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_divide_them() {
        for (word, expected) in [
            ("scheme=ecmp,hula", "scheme=ecmp,hula"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn a_program_knows_itself() {
        let made = Origin::of_program();
        assert_eq!((made.program.len(), made.engine.as_ref()), (16, None));
        assert!(!made.command.is_empty());
        let made = made.with_engine("0123");
        assert!(made.markdown().contains(", engine 0123, program "), "{}", made.markdown());
        assert_eq!(made.facts().len(), 4);
    }
}
