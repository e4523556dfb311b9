//! The commands in README and the book are commands of this program, and the scenarios that they name exist.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;

use super::Cli;

/// The words of a line of a shell, up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' => words.extend(word.take()),
            None if matches!(c, '#' | '|' | '>') && word.is_none() => return words,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The lines of a page's blocks of code that run `heddle`.
fn commands(page: &str) -> Vec<Vec<String>> {
    let page = page.replace("\\\n", " ");
    let blocks = page.split("\n```").skip(1).step_by(2);
    let start = |line: &'_ str| {
        let line = line.trim_start_matches("$ ");
        let line = ["./x ", "target/release/", "target/dist/"]
            .iter()
            .fold(line, |line, prefix| line.strip_prefix(prefix).unwrap_or(line));
        line.starts_with("heddle ").then(|| words(line))
    };
    blocks.flat_map(|block| block.lines().filter_map(start).collect::<Vec<_>>()).collect()
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn the_books_commands_are_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    pages(&root.join("docs/src"), &mut files);
    let mut count = 0;
    for file in files {
        for command in commands(&fs::read_to_string(&file).unwrap()) {
            let page = file.display();
            Cli::try_parse_from(&command).unwrap_or_else(|e| panic!("{page}: {command:?}: {e}"));
            let scenarios = command.iter().filter(|w| w.starts_with("scenarios/"));
            for name in scenarios.filter(|word| word.ends_with(".toml")) {
                assert!(root.join(name).is_file(), "{page}: {name}");
            }
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn words_end_at_comments_and_pipes() {
    let line = "heddle run a.toml --set 'scheme={ kind = \"hula\" }' --json | jq .x # text";
    let expected = ["heddle", "run", "a.toml", "--set", "scheme={ kind = \"hula\" }", "--json"];
    assert_eq!(words(line), expected);
}
