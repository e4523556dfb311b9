//! The command line, read, and what is said of a wrong one.

use std::ffi::OsString;
use std::{env, process};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error, Parser};

use crate::output::{is_printable, printable};

/// Reads the command line. A wrong one ends the program with exit code 2, and help and version with
/// 0.
#[must_use]
pub fn parse<C: Parser>() -> C {
    C::try_parse().unwrap_or_else(|error| end(&without_hidden(error, &C::command())))
}

/// Ends the program. An error may repeat the command line: where characters of that cannot be
/// printed it is told without colours, which are made of such.
fn end(error: &Error) -> ! {
    let can_be_printed = |argument: OsString| argument.to_string_lossy().chars().all(is_printable);
    if env::args_os().all(can_be_printed) {
        error.exit();
    }
    eprint!("{}", printable(&error.render().to_string()));
    process::exit(error.exit_code());
}

/// A missing sub-command is told with those that there are, of which clap lists hidden ones too.
fn without_hidden(mut error: Error, command: &Command) -> Error {
    if error.kind() != ErrorKind::MissingSubcommand {
        return error;
    }
    let is_hidden = |name: &String| command.find_subcommand(name).is_some_and(Command::is_hide_set);
    if let Some(ContextValue::Strings(mut names)) = error.remove(ContextKind::ValidSubcommand) {
        names.retain(|name| !is_hidden(name));
        error.insert(ContextKind::ValidSubcommand, ContextValue::Strings(names));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_commands_are_not_among_those_that_may_be_meant() {
        let command = || {
            let [run, hidden] = [Command::new("run"), Command::new("manual").hide(true)];
            Command::new("heddle-x").subcommand_required(true).subcommands([run, hidden])
        };
        let error = command().try_get_matches_from(["heddle-x"]).unwrap_err();
        let told = without_hidden(error, &command()).to_string();
        assert!(told.contains("[subcommands: run, help]"), "{told}");
    }
}
