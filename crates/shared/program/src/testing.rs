//! Programs run as their users run them, for tests of command lines.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use serde_json::Value;

/// An empty folder for a program to work in, removed at the end.
#[derive(Debug)]
pub struct Folder {
    folder: tempfile::TempDir,
    program: PathBuf,
}

/// Its methods panic where something is not as the test expects.
#[allow(clippy::missing_panics_doc)]
impl Folder {
    /// A folder for a program: `env!("CARGO_BIN_EXE_...")`.
    #[must_use]
    pub fn of(program: impl Into<PathBuf>) -> Folder {
        Folder { folder: tempfile::tempdir().unwrap(), program: program.into() }
    }

    /// The folder with another program.
    #[must_use]
    pub fn with_program(self, program: impl Into<PathBuf>) -> Folder {
        Folder { program: program.into(), ..self }
    }

    /// The path of a file in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Reads a file.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file of JSON.
    #[must_use]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Names of the files in a folder, sorted; none if it is not there.
    #[must_use]
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The time at which each file of a folder was written.
    #[must_use]
    pub fn written(&self, name: &str) -> Vec<(String, SystemTime)> {
        let time =
            |file: &str| fs::metadata(self.path(name).join(file)).unwrap().modified().unwrap();
        self.list(name).into_iter().map(|file| (file.clone(), time(&file))).collect()
    }

    /// The program with some words, to be started in this folder.
    #[must_use]
    pub fn command(&self, words: &str) -> Command {
        self.command_of(&self.program, words)
    }

    /// Another program, to be started in this folder.
    #[must_use]
    pub fn command_of(&self, program: &Path, words: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).args(words.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program with arguments that may have spaces.
    #[must_use]
    pub fn run_words(&self, words: &[&str]) -> Ran {
        Ran::from(self.command("").args(words).output().unwrap())
    }

    /// Runs the program with some words.
    #[must_use]
    pub fn run(&self, words: &str) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }
}

/// The end of a program.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Its methods panic where something is not as the test expects.
#[allow(clippy::missing_panics_doc)]
impl Ran {
    /// Standard output of a program that ended well.
    #[allow(clippy::must_use_candidate)]
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }

    /// Standard output as exactly one JSON value.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    /// Standard error of a program that failed with a code.
    #[allow(clippy::must_use_candidate)]
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self.err
    }
}

/// Keys of a JSON object, sorted.
#[must_use]
pub fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Words of a JSON list.
#[must_use]
pub fn words<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    value[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}
