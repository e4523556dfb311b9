//! A folder to work in, and the program run in it.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

pub use heddle_program::testing::{Ran, keys, words};

/// Eight hosts on two leaves; a run takes a few milliseconds. The tests that count lines count
/// these.
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
pub struct Folder(heddle_program::testing::Folder);

impl Folder {
    /// An empty one but for `small.toml`.
    pub fn new() -> Folder {
        let folder = Folder(heddle_program::testing::Folder::of(env!("CARGO_BIN_EXE_heddle")));
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

    pub fn heddle(&self, words: &str) -> Ran {
        self.run(words)
    }
}

impl Deref for Folder {
    type Target = heddle_program::testing::Folder;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The scenarios that come with Heddle.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}
