//! Programs of other packages of the workspace, which `cargo test --workspace` builds before it runs any test.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Checks that the program of another package was built beside `own`, the test's own program (`env!("CARGO_BIN_EXE_...")`). Its package has
/// the program's name and integration tests, for which cargo builds it.
///
/// # Panics
/// If the program was not built, or a file that it was built from has changed since: then `cargo test --workspace` was not what ran the
/// test. The message names the command that builds it.
pub fn require_built(own: &str, name: &str) {
    let program = Path::new(own).with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if let Some(problem) = problem(&program) {
        panic!("{problem}: cargo build --package {name} (cargo test --workspace does it)");
    }
}

/// The reason for which a program is not what its sources say.
fn problem(program: &Path) -> Option<String> {
    let Some(built) = modified(program) else {
        return Some(format!("{} was not built", program.display()));
    };
    // Cargo lists there the files of all of the workspace's crates from which it built the program.
    let list = program.with_extension("d");
    let Ok(list) = fs::read_to_string(&list) else {
        return Some(format!("{} is missing", list.display()));
    };
    let newer = |file: &PathBuf| modified(file).is_none_or(|changed| changed > built);
    let changed = files(&list).into_iter().find(newer)?;
    Some(format!("{} is older than {}", program.display(), changed.display()))
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// The files behind the colon of a makefile's rule, where a space within a name has a backslash.
fn files(rule: &str) -> Vec<PathBuf> {
    let (_, names) = rule.split_once(": ").unwrap_or_default();
    let names = names.replace("\\ ", "\0");
    names.split_whitespace().map(|name| name.replace('\0', " ").into()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_may_have_spaces() {
        let rule = "/a/program: /a/b.rs /with\\ space/c.rs\n";
        assert_eq!(files(rule), ["/a/b.rs", "/with space/c.rs"].map(PathBuf::from));
    }

    #[test]
    fn a_program_without_its_sources_state_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let (program, source) = (file("program"), file("main.rs"));
        let says = |part: &str| problem(&program).is_some_and(|problem| problem.contains(part));
        assert!(says("was not built"));
        fs::write(&program, "").unwrap();
        assert!(says("program.d is missing"));
        fs::write(file("program.d"), format!("x: {}\n", source.display())).unwrap();
        assert!(says("is older than"), "a file that is gone has changed");
        fs::write(&source, "").unwrap();
        let built = modified(&program).unwrap();
        let set = |time| File::options().write(true).open(&source).unwrap().set_modified(time);
        set(built + Duration::from_secs(1)).unwrap();
        assert!(says("main.rs"));
        set(built).unwrap();
        assert_eq!(problem(&program), None);
    }
}
