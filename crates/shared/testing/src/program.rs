//! Programs that tests run.

use std::env;

/// Checks that a program is on the PATH.
///
/// # Panics
/// If it is not; the message names Debian's `package` that has it.
pub fn require_program(name: &str, package: &str) {
    if let Err(missing) = check(name, package) {
        panic!("{missing}");
    }
}

pub(crate) fn check(name: &str, package: &str) -> Result<(), String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let missing = || format!("`{name}` was not found: as root, apt-get install {package}");
    if found { Ok(()) } else { Err(missing()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_on_the_path_is_found() {
        require_program("sh", "dash");
    }

    #[test]
    #[should_panic(
        expected = "`no-such-program` was not found: as root, apt-get install its-package"
    )]
    fn a_missing_program_fails_the_test_with_the_package_name() {
        require_program("no-such-program", "its-package");
    }
}
