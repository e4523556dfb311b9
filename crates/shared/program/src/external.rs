//! Other programs as sub-commands, as git finds its own: beside this executable first, then on the
//! PATH.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::{Common, Failure};

/// A sub-command that is a program of its own.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// The sub-command's words, as in `path serve`.
    pub command: &'static [&'static str],
    /// The program.
    pub program: &'static str,
    /// The program's own sub-command, if it is one of those; otherwise empty.
    pub subcommand: &'static [&'static str],
    /// The help if the program is not installed.
    pub how_to_get: &'static str,
}

impl External {
    /// Runs the program with the global options and further arguments, as [`run`] does.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(&self, common: &Common, arguments: &[OsString]) -> Result<ExitCode, Failure> {
        let subcommand = self.subcommand.iter().map(OsString::from);
        let all = common.arguments().into_iter().chain(subcommand).chain(arguments.iter().cloned());
        run(self.program, all, self.how_to_get)
    }
}

/// Arguments for another program, which alone reads them: `--help` among them.
#[derive(Args, Clone, Debug)]
pub struct Passed {
    /// Arguments of the program.
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Runs a program with these arguments, unchanged. On Unix it takes this process's place.
///
/// `how_to_get` is the help if the program is not installed.
///
/// # Errors
/// If the program is not installed (exit code 127) or cannot be started.
pub fn run<A: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = A>,
    how_to_get: &str,
) -> Result<ExitCode, Failure> {
    let mut command = Command::new(locate(program));
    command.args(arguments);
    replace(&mut command).map_err(|error| not_started(program, error, how_to_get))
}

/// The program beside this executable, if there is one; otherwise its bare name, for the PATH.
#[must_use]
pub fn locate(program: &str) -> PathBuf {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(name)));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| program.into())
}

/// The path of the program beside this executable, or on the PATH; `None` if it is not installed.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let located = locate(program);
    if located.is_absolute() {
        return Some(located);
    }
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

fn not_started(program: &str, error: io::Error, how_to_get: &str) -> Failure {
    match error.kind() {
        ErrorKind::NotFound => {
            Failure::missing_program(format!("the program {program} is not installed"), how_to_get)
        }
        _ => anyhow::Error::new(error).context(program.to_owned()).into(),
    }
}

#[cfg(unix)]
fn replace(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn replace(command: &mut Command) -> io::Result<ExitCode> {
    let code = command.status()?.code();
    Ok(code.map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_the_way_to_get_it() {
        let failure = run("heddle-no-such-program", ["x"], "build it").unwrap_err();
        let report = failure.report(|_| None);
        assert_eq!(report.code, 127);
        assert!(report.text.contains("heddle-no-such-program is not installed\nhelp: build it"));
        assert_eq!(report.json["error"], "missing-program");
        assert_eq!(find("heddle-no-such-program"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_of_the_path_is_found() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
    }
}
