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
    "import",
    "schema",
    "bench",
    "path",
    "fabric",
    "completions",
];

const SUBCOMMANDS: [&str; 7] = [
    "path find",
    "path encode",
    "path decode",
    "path keygen",
    "fabric stats",
    "fabric show",
    "fabric schema",
];

/// Commands that need no example: they take no arguments.
const PLAIN: [&str; 1] = ["fabric schema"];

#[test]
fn help_names_every_command_and_every_exit_code() {
    let folder = Folder::new();
    let help = folder.heddle("--help").ok();
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    for code in ["0 ", "1 ", "2 ", "3 ", "127 ", "130 "] {
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

/// `help` comes before a command, `--help` behind it.
#[test]
fn help_is_had_in_two_ways() {
    let folder = Folder::new();
    for command in ["", "run", "path find", "help"] {
        let help = folder.heddle(&format!("help {command}")).ok();
        assert_eq!(help, folder.heddle(&format!("{command} --help")).ok(), "{command}");
    }
    assert!(folder.heddle("help nothing").failed(2).contains("unrecognized subcommand"));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    folder.heddle("manual --out man").ok();
    for command in COMMANDS.into_iter().chain(SUBCOMMANDS) {
        let page = format!("heddle-{}.1", command.replace(' ', "-"));
        assert!(folder.list("man").contains(&page), "{page}");
    }
    assert!(folder.read("man/heddle-run.1").contains("heddle run scenarios/hula\\-fig5.toml"));
    assert!(!folder.list("man").contains(&"heddle-lb.1".to_owned()), "heddle-lb has its own");
}

#[test]
fn completions_are_a_script() {
    let folder = Folder::new();
    let script = folder.heddle("completions bash").ok();
    assert!(script.starts_with("_heddle()") && script.contains("complete -F _heddle"));
    assert!(script.contains("--destination-port"), "subcommands' options too");
    assert!(folder.heddle("completions zsh").ok().starts_with("#compdef heddle"));
}
