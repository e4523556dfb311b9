//! Completion scripts, manual pages and descriptions, made from a program's command line.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context as _, anyhow};
use clap::{Command, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::external::{External, locate};
use crate::{Failure, Tree, output};

/// The sub-commands by which a program describes itself.
#[derive(Clone, Debug, Subcommand)]
pub enum Generate {
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write manual pages (section 1): one for the program and one for each sub-command.
    #[command(hide = true)]
    Manual {
        /// The folder to write them into.
        #[arg(long, default_value = ".")]
        out: PathBuf,
    },
    /// Print a description of the command line (JSON), from which other programs make completions.
    #[command(hide = true)]
    CommandTree,
}

impl Generate {
    /// Prints or writes what is wanted of a program with its sub-commands of other programs.
    ///
    /// # Errors
    /// If standard output or a file cannot be written, or another program that is installed does
    /// not describe its command line.
    pub fn run(&self, command: Command, externals: &[External]) -> Result<(), Failure> {
        let whole = |command| externals.iter().try_fold(command, graft);
        match self {
            Generate::Completions { shell } => completions(*shell, whole(command)?),
            Generate::Manual { out } => manual(command, externals, out),
            Generate::CommandTree => output::json(&Tree::from(&whole(command)?)),
        }
    }
}

/// The command line with a program's own in the place of its sub-command, if the program is
/// installed.
///
/// # Errors
/// If it is, and does not describe its command line, or has no such sub-command.
fn graft(command: Command, external: &External) -> Result<Command, Failure> {
    let Some(json) = output_of(external.program, ["command-tree"])? else { return Ok(command) };
    let said = || format!("{} command-tree: {}", external.program, String::from_utf8_lossy(&json));
    let tree: Tree = serde_json::from_slice(&json).with_context(said)?;
    let missing =
        || anyhow!("{} has no sub-command {}", external.program, external.subcommand.join(" "));
    let tree = tree.descend(external.subcommand).ok_or_else(missing)?;
    Ok(replaced(command, external.command, &tree))
}

/// The standard output of a program; `None` if it is not installed.
///
/// # Errors
/// If it cannot be started, or fails.
fn output_of(program: &str, arguments: [&str; 1]) -> Result<Option<Vec<u8>>, Failure> {
    let output = match process::Command::new(locate(program)).args(arguments).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        output => output.with_context(|| program.to_owned())?,
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let [argument] = arguments;
        return Err(anyhow!("{program} {argument}: {}: {}", output.status, said.trim()).into());
    }
    Ok(Some(output.stdout))
}

/// The command with the sub-command of these words replaced.
fn replaced(command: Command, words: &[&'static str], tree: &Tree) -> Command {
    match words {
        [] => command,
        [last] => command.mut_subcommand(last, |_| tree.command(last)),
        [first, rest @ ..] => {
            command.mut_subcommand(first, |command| replaced(command, rest, tree))
        }
    }
}

fn completions(shell: Shell, mut command: Command) -> Result<(), Failure> {
    let name = command.get_name().to_owned();
    command = with_help(command);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end())
}

/// The command with all others below its own `help`, which completes their names; clap does that
/// for the `help` that it adds.
fn with_help(command: Command) -> Command {
    if command.find_subcommand("help").is_none() {
        return command;
    }
    let names = Tree::from(&command).names().command("help");
    command
        .mut_subcommand("help", |help| names.about(help.get_about().cloned().unwrap_or_default()))
}

fn manual(mut command: Command, externals: &[External], out: &Path) -> Result<(), Failure> {
    fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    command = command.disable_help_subcommand(true);
    command.build();
    let name = command.get_name().to_owned();
    pages(command, &name, &[], externals, out)
}

/// Writes the page of a command, which has these words behind the program's, and those of its
/// sub-commands. Pages of other programs are those programs' own.
fn pages(
    command: Command,
    name: &str,
    words: &[&str],
    externals: &[External],
    out: &Path,
) -> Result<(), Failure> {
    if externals.iter().any(|external| external.command == words) {
        return Ok(());
    }
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let words = [words, &[subcommand.get_name()]].concat();
        let name = format!("{name}-{}", subcommand.get_name());
        pages(subcommand.clone(), &name, &words, externals, out)?;
    }
    let path = out.join(format!("{name}.1"));
    let mut page = Vec::new();
    Man::new(command).title(name.to_uppercase()).render(&mut page)?;
    Ok(fs::write(&path, page).with_context(|| path.display().to_string())?)
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_program_that_fails_or_describes_no_command_line_is_an_error_that_says_so() {
        let failed = output_of("false", ["x"]).unwrap_err().report(|_| None).text;
        assert!(failed.contains("false x: exit status: 1"), "{failed}");
        let echo = External { command: &["a"], program: "echo", subcommand: &[], how_to_get: "" };
        let other = graft(Command::new("b"), &echo).unwrap_err().report(|_| None).text;
        assert!(other.contains("echo command-tree: command-tree"), "{other}");
    }

    #[test]
    fn a_program_that_is_not_installed_describes_nothing() {
        assert!(matches!(output_of("heddle-no-such-program", ["x"]), Ok(None)));
    }

    #[test]
    fn help_completes_the_names_of_commands() {
        let find = Command::new("find").arg(Arg::new("limit").long("limit"));
        let path = Command::new("path").subcommand(find);
        let command = with_help(Command::new("heddle").subcommands([path, Command::new("help")]));
        let find = ["help", "path", "find"].iter().try_fold(&command, |c, n| c.find_subcommand(n));
        assert_eq!(find.unwrap().get_arguments().count(), 0);
        assert!(with_help(Command::new("heddle-lb")).find_subcommand("help").is_none());
    }

    #[test]
    fn every_command_has_a_page_but_those_of_other_programs() {
        let run = Command::new("run").about("Run a scenario").arg(Arg::new("file"));
        let lb = Command::new("lb").about("The balancer");
        let path = Command::new("path").subcommand(Command::new("serve"));
        let hidden = Command::new("manual").hide(true);
        let command = Command::new("heddle").subcommands([run, lb, path, hidden]);
        let external =
            |command, program| External { command, program, subcommand: &[], how_to_get: "" };
        let externals =
            [external(&["lb"], "heddle-lb"), external(&["path", "serve"], "heddle-path-service")];
        let folder = tempfile::tempdir().unwrap();
        manual(command, &externals, folder.path()).unwrap();
        let files = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["heddle-path.1", "heddle-run.1", "heddle.1"]);
        let page = fs::read_to_string(folder.path().join("heddle-run.1")).unwrap();
        assert!(page.contains("Run a scenario"), "{page}");
    }
}
