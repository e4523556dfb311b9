//! Help and completions.

use crate::support::Folder;

fn is_option(line: &str) -> bool {
    let words = line.trim_start();
    words.starts_with('-') && !words.starts_with("- ")
}

const COMMANDS: [&str; 13] = [
    "demo",
    "run",
    "sweep",
    "reproduce",
    "study",
    "validate",
    "show",
    "schema",
    "bench",
    "path",
    "fabric",
    "lb",
    "completions",
];

const SUBCOMMANDS: [&str; 20] = [
    "path find",
    "path encode",
    "path decode",
    "path keygen",
    "path serve",
    "fabric stats",
    "fabric show",
    "fabric schema",
    "lb check",
    "lb schema",
    "lb status",
    "lb backends",
    "lb drain",
    "lb connections",
    "lb members",
    "lb counters",
    "lb top",
    "lb explain",
    "lb reload",
    "lb decap",
];

/// Those of them that need no example: nothing can be said to them.
const PLAIN: [&str; 7] =
    ["fabric schema", "lb schema", "lb status", "lb backends", "lb members", "lb reload", "lb top"];

#[test]
fn help_names_every_command_and_every_exit_code() {
    let folder = Folder::new();
    let help = folder.heddle("--help").ok();
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    for code in ["0 ", "1 ", "2 ", "3 ", "130 "] {
        assert!(help.contains(&format!("\n  {code}")), "{code}");
    }
}

/// A line that names an option has words behind it, or the next line is its sentence.
#[test]
fn every_option_is_explained() {
    let folder = Folder::new();
    for command in COMMANDS.into_iter().chain(SUBCOMMANDS) {
        let help = folder.heddle(&format!("{command} --help")).ok();
        let lines: Vec<&str> =
            help.lines().take_while(|line| !line.starts_with("Examples")).collect();
        let options: Vec<usize> = (0..lines.len()).filter(|&i| is_option(lines[i])).collect();
        assert!(options.len() >= 4, "{command}: {help}");
        for i in options {
            let here = lines[i].trim().split_once("  ").map_or("", |(_, words)| words.trim());
            let next = lines.get(i + 1).map_or("", |line| line.trim());
            let starts = |text: &str| text.starts_with(char::is_uppercase);
            assert!(starts(here) || starts(next), "{command}: {}", lines[i]);
        }
    }
    for command in ["run", "sweep", "reproduce", "study"] {
        let help = folder.heddle(&format!("{command} --help")).ok();
        assert!(help.contains(&format!("Examples:\n  heddle {command} ")), "{command}");
    }
}

#[test]
fn subcommands_are_taught_by_examples() {
    let folder = Folder::new();
    for command in SUBCOMMANDS.into_iter().filter(|command| !PLAIN.contains(command)) {
        let help = folder.heddle(&format!("{command} --help")).ok();
        let (_, examples) = help.split_once("\nExamples").unwrap_or_else(|| panic!("{command}"));
        assert!(examples.contains(&format!("\n  heddle {command} ")), "{command}: {examples}");
    }
}

#[test]
fn completions_are_a_script() {
    let folder = Folder::new();
    let script = folder.heddle("completions bash").ok();
    assert!(script.starts_with("_heddle()") && script.contains("complete -F _heddle"));
    assert!(script.contains("--destination-port"), "subcommands' options too");
    assert!(folder.heddle("completions zsh").ok().starts_with("#compdef heddle"));
}
