//! A folder to work in, and the binary run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use serde_json::Value;

/// Eight hosts on two leaves; a run takes a few milliseconds. The tests that count lines count these.
pub const SMALL: &str = r#"title = "A small leaf-spine"
seeds = [1, 2]
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "1Gbps"
spine_rate = "1Gbps"
[scheme]
kind = "ecmp"
[workload]
kind = "flows"
sizes = "fixed:20KB"
load = 0.4
[measure]
warm_up = "1ms"
flows = 100
sample_every = "100us"
"#;

/// A folder of its own for each test, removed at the end.
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// An empty one but for `small.toml`.
    pub fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.put("small.toml", SMALL);
        folder
    }

    /// With `fabric.toml`, the fat-tree of 128 hosts that comes with Heddle, and its new key.
    pub fn with_fabric() -> Folder {
        let folder = Folder::new();
        let text = fs::read_to_string(examples().join("fabrics/fat-tree-8.toml")).unwrap();
        folder.put("fabric.toml", &text);
        folder.heddle("path keygen fat-tree-8.key").ok();
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Names of the files in a folder, sorted; none if it is not there.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// When each file of a folder was written.
    pub fn written(&self, name: &str) -> Vec<(String, SystemTime)> {
        let time =
            |file: &String| fs::metadata(self.path(name).join(file)).unwrap().modified().unwrap();
        self.list(name).into_iter().map(|file| (file.clone(), time(&file))).collect()
    }

    /// `heddle` with some words, to be started in this folder.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        command.current_dir(self.0.path()).args(words.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn heddle(&self, words: &str) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }
}

/// What a command left.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// It went well: what it printed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }

    /// Standard output as exactly one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    /// It failed with a code: what it said.
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self.err
    }
}

/// The scenarios that come with Heddle.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Keys of a JSON object, sorted.
pub fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Words of a JSON list.
pub fn words<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    value[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}
