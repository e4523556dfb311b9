//! Help, completions and manual pages.

use heddle_program::testing::Folder;

use super::folder;

const COMMANDS: [&str; 20] = [
    "check",
    "schema",
    "openapi",
    "status",
    "services",
    "backends",
    "backend",
    "drain",
    "weight",
    "changes",
    "connections",
    "members",
    "counters",
    "top",
    "explain",
    "reload",
    "decap",
    "translate",
    "pass",
    "completions",
];

/// Commands that need no example: they take no arguments of their own.
const PLAIN: [&str; 11] = [
    "schema",
    "openapi",
    "status",
    "services",
    "backends",
    "backend",
    "changes",
    "members",
    "reload",
    "top",
    "completions",
];

fn help(folder: &Folder, command: &str) -> String {
    folder.run(&format!("{command} --help")).ok()
}

/// Users type `heddle lb`, so help says that.
#[test]
fn help_names_the_command_as_users_type_it() {
    let folder = folder();
    assert!(help(&folder, "").contains("Usage: heddle lb [OPTIONS] <COMMAND>"));
    assert!(help(&folder, "drain").contains("Usage: heddle lb drain [OPTIONS] <NAME>"));
    for command in COMMANDS {
        assert!(help(&folder, "").contains(&format!("\n  {command} ")), "{command}");
    }
}

#[test]
fn every_option_is_explained() {
    let folder = folder();
    for command in COMMANDS {
        let help = help(&folder, command);
        let lines: Vec<&str> = help.lines().take_while(|line| !line.starts_with("Ex")).collect();
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| is_option(line)) {
            let here = line.trim().split_once("  ").map_or("", |(_, words)| words.trim());
            let next = lines.get(i + 1).map_or("", |line| line.trim());
            let starts = |text: &str| text.starts_with(char::is_uppercase);
            assert!(starts(here) || starts(next), "{command}: {line}");
        }
    }
}

fn is_option(line: &str) -> bool {
    let words = line.trim_start();
    words.starts_with('-') && !words.starts_with("- ")
}

#[test]
fn commands_have_examples() {
    let folder = folder();
    for command in COMMANDS.into_iter().filter(|command| !PLAIN.contains(command)) {
        let help = help(&folder, command);
        let (_, examples) = help.split_once("\nExamples").unwrap_or_else(|| panic!("{command}"));
        assert!(examples.contains(&format!("\n  heddle lb {command} ")), "{command}: {examples}");
    }
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    let folder = folder();
    let script = folder.run("completions bash").ok();
    assert!(script.contains("complete -F _heddle__lb"), "{script}");
    folder.run("manual --out man").ok();
    for command in COMMANDS {
        assert!(script.contains(&format!("heddle__lb,{command})")), "{command}");
        assert!(folder.list("man").contains(&format!("heddle-lb-{command}.1")), "{command}");
    }
    assert!(folder.read("man/heddle-lb-drain.1").contains("heddle lb drain"));
}

/// `heddle` makes completions of it.
#[test]
fn the_command_tree_is_json() {
    let tree = folder().run("command-tree").json();
    let commands = tree["subcommands"].as_array().unwrap();
    assert!(commands.iter().any(|command| command["name"] == "drain"), "{tree}");
}
