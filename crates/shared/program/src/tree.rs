//! The description of a command line that one program gives another, so that completions reach
//! through.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, ValueHint};
use serde::{Deserialize, Serialize};

/// A command, its arguments and its sub-commands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    name: String,
    about: String,
    arguments: Vec<Argument>,
    subcommands: Vec<Tree>,
}

/// An option or a positional argument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Argument {
    id: String,
    long: Option<String>,
    short: Option<char>,
    help: String,
    /// Names of its value, as in `--socket PATH`; none for a flag.
    value_names: Vec<String>,
    /// The values that it can have and their help; none if it can have any.
    values: Vec<(String, String)>,
    /// True if its value is a path of the file system.
    path: bool,
    repeated: bool,
    /// True if sub-commands have it too.
    global: bool,
}

impl From<&Command> for Tree {
    fn from(command: &Command) -> Tree {
        Tree {
            name: command.get_name().to_owned(),
            about: command.get_about().map(ToString::to_string).unwrap_or_default(),
            arguments: command.get_arguments().filter(|a| is_own(a)).map(Argument::from).collect(),
            subcommands: visible(command).map(Tree::from).collect(),
        }
    }
}

/// The sub-commands that help lists.
fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// True for an argument that is listed, and that clap does not add itself.
fn is_own(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

/// The names of an argument's values; as clap does it, its own if none are given.
fn value_names(arg: &Arg) -> Vec<String> {
    match arg.get_value_names() {
        Some(names) => names.iter().map(ToString::to_string).collect(),
        None => vec![arg.get_id().as_str().to_uppercase()],
    }
}

impl From<&Arg> for Argument {
    fn from(arg: &Arg) -> Argument {
        let takes_value = arg.get_action().takes_values();
        let values = if takes_value { arg.get_possible_values() } else { Vec::new() };
        let help = |value: &PossibleValue| value.get_help().map(ToString::to_string);
        let value =
            |value: &PossibleValue| (value.get_name().to_owned(), help(value).unwrap_or_default());
        Argument {
            id: arg.get_id().to_string(),
            long: arg.get_long().map(str::to_owned),
            short: arg.get_short(),
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
            value_names: if takes_value { value_names(arg) } else { Vec::new() },
            values: values.iter().filter(|value| !value.is_hide_set()).map(value).collect(),
            path: matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath),
            repeated: matches!(arg.get_action(), ArgAction::Append),
            global: arg.is_global_set(),
        }
    }
}

impl Tree {
    /// The sub-command of these words; `None` if there is none.
    pub(crate) fn descend(self, words: &[&str]) -> Option<Tree> {
        words.iter().try_fold(self, |tree, word| {
            tree.subcommands.into_iter().find(|subcommand| subcommand.name == *word)
        })
    }

    /// The same commands without their arguments.
    pub(crate) fn names(&self) -> Tree {
        Tree {
            name: self.name.clone(),
            about: self.about.clone(),
            arguments: Vec::new(),
            subcommands: self.subcommands.iter().map(Tree::names).collect(),
        }
    }

    /// The command under another name, for completion scripts: it checks nothing.
    #[must_use]
    pub fn command(&self, name: &str) -> Command {
        let arguments = self.arguments.iter().map(Argument::arg);
        let subcommands = self.subcommands.iter().map(|tree| tree.command(&tree.name));
        Command::new(name.to_owned())
            .about(self.about.clone())
            .args(arguments)
            .subcommands(subcommands)
    }
}

impl Argument {
    fn arg(&self) -> Arg {
        let action = match (self.value_names.is_empty(), self.repeated) {
            (true, _) => ArgAction::SetTrue,
            (_, true) => ArgAction::Append,
            (_, false) => ArgAction::Set,
        };
        let mut arg = Arg::new(self.id.clone()).action(action).help(self.help.clone());
        if let Some(long) = &self.long {
            arg = arg.long(long.clone());
        }
        if let Some(short) = self.short {
            arg = arg.short(short);
        }
        if self.value_names.is_empty() {
            return arg.global(self.global);
        }
        if !self.values.is_empty() {
            let values = self.values.iter().cloned();
            let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
            arg = arg.value_parser(values.collect::<Vec<_>>());
        }
        if self.path {
            arg = arg.value_hint(ValueHint::AnyPath);
        }
        arg.value_names(self.value_names.clone()).global(self.global)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balancer() -> Command {
        let socket = Arg::new("socket").long("socket").value_name("PATH").global(true);
        let state = Arg::new("state").long("state").value_parser(["up", "down"]);
        let wait = Arg::new("wait").long("wait").short('w').action(ArgAction::SetTrue);
        let drain = Command::new("drain").about("Drain a backend").args([state, wait]);
        let hidden = Command::new("manual").hide(true);
        Command::new("heddle-lb").arg(socket).subcommands([drain, hidden])
    }

    #[test]
    fn a_tree_makes_the_same_command_again() {
        let tree = Tree::from(&balancer());
        let text = serde_json::to_string(&tree).unwrap();
        let read: Tree = serde_json::from_str(&text).unwrap();
        assert_eq!(Tree::from(&read.command("heddle-lb")), tree);
        assert_eq!(tree.subcommands.len(), 1, "what is hidden stays hidden");
    }

    #[test]
    fn values_and_flags_are_kept() {
        let command = Tree::from(&balancer()).command("lb");
        let parsed = command.clone().try_get_matches_from(["lb", "drain", "--state", "up", "-w"]);
        assert!(parsed.is_ok(), "{parsed:?}");
        assert!(command.try_get_matches_from(["lb", "drain", "--state", "off"]).is_err());
    }
}
