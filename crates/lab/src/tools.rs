//! The machine's programs: a check that they are installed, and runs with an input and a time
//! limit.

use std::env;
use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::LabError;

/// Seconds after which a program is killed. Building the largest lab takes about one on an idle
/// machine.
const LIMIT: &str = "600";

/// Programs and Debian's packages that have them.
pub(crate) const FOR_LABS: &[(&str, &str)] = &[
    ("ip", "iproute2"),
    ("bridge", "iproute2"),
    ("tc", "iproute2"),
    ("nsenter", "util-linux"),
    ("ethtool", "ethtool"),
    ("sysctl", "procps"),
    ("timeout", "coreutils"),
];

/// Fails with the name of the package if one of `programs` (with Debian's packages that have them)
/// is not on the PATH.
///
/// # Errors
/// [`LabError::Missing`] names the first that is not there.
pub fn require(programs: &[(&'static str, &'static str)]) -> Result<(), LabError> {
    let missing = programs.iter().find(|(program, _)| !is_installed(program));
    missing.map_or(Ok(()), |&(program, package)| Err(LabError::Missing { program, package }))
}

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Runs a program to its end with this input, and returns its output.
///
/// # Errors
/// [`LabError::Failed`] if its status is not 0, or after ten minutes.
pub fn run<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
    input: &str,
) -> Result<String, LabError> {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", LIMIT, program]).args(arguments);
    let line = line_of(&command);
    let output = run_with_input(&mut command, input).map_err(LabError::system(&*line))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let output_text = format!("{printed}{errors}").trim().to_string();
    Err(LabError::Failed { line, status: output.status.to_string(), output: output_text })
}

/// The command as one would type it, without the time limit.
fn line_of(command: &Command) -> String {
    let words: Vec<_> = command.get_args().skip(2).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}

fn run_with_input(command: &mut Command, input: &str) -> std::io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends early has its status to show for it.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let error = require(&[("ls", "coreutils"), ("no-such-program", "its-package")]);
        let text = error.unwrap_err().to_string();
        assert!(text.contains("`no-such-program`"), "{text}");
        assert!(text.contains("apt-get install its-package"), "{text}");
    }

    #[test]
    fn a_program_gets_its_input_and_its_errors_are_reported() {
        assert_eq!(run("cat", [] as [&str; 0], "a\nb\n").unwrap(), "a\nb\n");
        let error = run("sh", ["-c", "echo no >&2; exit 3"], "").unwrap_err().to_string();
        assert!(error.contains("sh -c") && error.contains('3') && error.ends_with("no"), "{error}");
    }
}
