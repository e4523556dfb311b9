//! Programs of other packages of the workspace, which `cargo test --workspace` builds before it
//! runs any test.
//!
//! Cargo tells a test the programs of its own package alone. Of another package's program a test
//! can see whether it is older than the sources from which it is built: those of the package and of
//! the packages of the workspace on which it depends, and the C.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folders of `bpf/` that go into a program, by the package that compiles them. Most of
/// `include` is the balancer's; the switch takes two small headers of it.
const C_FOLDERS: [(&str, &str); 4] = [
    ("heddle-bpf-build", "common"),
    ("heddle-balancer-maps", "balancer"),
    ("heddle-balancer-maps", "include"),
    ("heddle-switch-maps", "switch"),
];

/// Checks that the program of another package was built beside `own`, the test's own program
/// (`env!("CARGO_BIN_EXE_...")`). Its package has the program's name and integration tests, for
/// which cargo builds it.
///
/// # Panics
/// If the program was not built, or a file that it is built from has changed since: then
/// `cargo test --workspace` was not what ran the test. The message names the command that builds
/// it.
pub fn require_built(own: &str, name: &str) {
    let program = Path::new(own).with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    if let Some(problem) = problem(&program, &sources(&root, name)) {
        panic!("{problem}: cargo build --package {name} (cargo test --workspace does it)");
    }
}

/// The reason for which a program is not what its sources say.
fn problem(program: &Path, sources: &[PathBuf]) -> Option<String> {
    let Some(built) = modified(program) else {
        return Some(format!("{} was not built", program.display()));
    };
    let newer = |file: &&PathBuf| modified(file).is_none_or(|changed| changed > built);
    let changed = sources.iter().find(newer)?;
    Some(format!("{} is older than {}", program.display(), changed.display()))
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// The files from which a package's program is built.
fn sources(root: &Path, name: &str) -> Vec<PathBuf> {
    let packages = packages(&root.join("crates"));
    let mut wanted = vec![name.to_owned()];
    let mut found = BTreeSet::new();
    let mut files = Vec::new();
    while let Some(next) = wanted.pop() {
        let Some(package) = packages.get(&next) else { continue };
        if found.insert(next.clone()) {
            // Of a library its programs are no part.
            let programs = package.folder.join("src/bin");
            let is_part = |file: &PathBuf| next == name || !file.starts_with(&programs);
            files.extend(below(&package.folder.join("src"), &["rs"]).into_iter().filter(is_part));
            wanted.extend(package.dependencies.iter().cloned());
        }
    }
    let is_compiled = |(package, _): &&(&str, &str)| found.contains(*package);
    for (_, folder) in C_FOLDERS.iter().filter(is_compiled) {
        files.extend(below(&root.join("bpf").join(folder), &["c", "h"]));
    }
    files
}

struct Package {
    folder: PathBuf,
    /// Packages on which its programs depend, those of other workspaces among them.
    dependencies: Vec<String>,
}

/// All packages below a folder, by name.
fn packages(folder: &Path) -> BTreeMap<String, Package> {
    let manifests = below(folder, &["toml"]);
    let is_manifest = |path: &&PathBuf| path.file_name() == Some(OsStr::new("Cargo.toml"));
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).ok()?;
        let name = text.lines().find_map(|line| line.strip_prefix("name = \""))?;
        let name = name.trim_end_matches('"').to_owned();
        let folder = path.parent()?.to_owned();
        Some((name, Package { folder, dependencies: dependencies(&text) }))
    };
    manifests.iter().filter(is_manifest).filter_map(read).collect()
}

/// The names in a manifest's sections of dependencies, but for those of tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_wanted = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_wanted = line.ends_with("dependencies]") && !line.ends_with("dev-dependencies]");
        } else if let Some(end) = line.find([' ', '.', '=']).filter(|_| is_wanted) {
            names.push(line[..end].to_owned());
        }
    }
    names
}

/// Files with one of these endings in a folder and in those below it, but for unit tests' own.
fn below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let has_ending = |ending: &&str| path.extension() == Some(OsStr::new(ending));
        if path.file_stem() == Some(OsStr::new("tests")) {
            continue;
        } else if path.is_dir() {
            files.extend(below(&path, endings));
        } else if endings.iter().any(has_ending) {
            files.push(path);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_program_that_is_older_than_its_sources_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let (program, source) = (folder.path().join("program"), folder.path().join("main.rs"));
        let says = |part: &str| {
            problem(&program, std::slice::from_ref(&source)).is_some_and(|text| text.contains(part))
        };
        assert!(says("was not built"));
        fs::write(&program, "").unwrap();
        assert!(says("is older than"), "a file that is gone has changed");
        fs::write(&source, "").unwrap();
        let built = modified(&program).unwrap();
        let set = |time| File::options().write(true).open(&source).unwrap().set_modified(time);
        set(built + Duration::from_secs(1)).unwrap();
        assert!(says("main.rs"));
        set(built).unwrap();
        assert_eq!(problem(&program, std::slice::from_ref(&source)), None);
    }

    #[test]
    fn dependencies_are_those_of_programs() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nc = { path = \"c\" }\n\
            [build-dependencies]\nd.workspace = true\n[dev-dependencies]\ne.workspace = true\n";
        assert_eq!(dependencies(manifest), ["b", "c", "d"]);
    }

    /// The switch's program has the schemes' C and the configuration's Rust in it, and neither the
    /// lab nor unit tests.
    #[test]
    fn sources_are_those_of_the_package_and_of_what_it_depends_on() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let files = sources(&root, "heddle-switch");
        let has = |part: &str| files.iter().any(|file| file.to_string_lossy().contains(part));
        for part in ["switch/daemon/src/bin/", "shared/config/src/", "bpf/switch/"] {
            assert!(has(part), "{part}");
        }
        assert!(!has("crates/emulation/") && !has("/tests.rs"), "{files:?}");
        assert!(!has("bpf/balancer/"), "the balancer's programs are not the switch's");
    }
}
