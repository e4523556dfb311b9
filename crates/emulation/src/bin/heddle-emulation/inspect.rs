//! `heddle lab up`, `down`, `status`, `shell` and `capture`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use heddle_emulation::plane::Options;
use heddle_emulation::state::{self, State};
use heddle_emulation::{EmulationError, Network};
use heddle_program::{Common, Failure, output, table};
use serde::Serialize;

use crate::args::{Capture, Down, Shell, Up};
use crate::prepared::{note, prepare_with};
use crate::run::remove_left_over;

pub(crate) fn up(args: &Up, common: &Common) -> Result<(), Failure> {
    let options = Options { routes: args.routes.into(), ..Options::default() };
    let prepared = prepare_with(&args.source, options)?;
    remove_left_over(common)?;
    let stem = args.source.scenario.file_stem().unwrap_or_default().to_string_lossy();
    let name = args.name.clone().unwrap_or_else(|| stem.into_owned());
    check_name(&name)?;
    crate::output::say_scaling(&prepared, common);
    let mut network = Network::build(&prepared.possible.scenario, &name, None)?;
    let mut plane = prepared.plane.create(prepared.options);
    heddle_emulation::forward(&network, &mut *plane)?;
    plane.keep();
    network.keep();
    let (hosts, switches) = (network.hosts().len(), network.switches().len());
    note(
        common,
        &format!(
            "{name} is up: {hosts} hosts, {switches} switches. heddle lab down {name} removes it"
        ),
    );
    if common.json {
        return output::json(&network.state);
    }
    Ok(())
}

/// Names become parts of file names.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 40 && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(Failure::usage(
        format!("`{name}` is no name for a fabric"),
        "letters, digits, - and _, at most 40; give one by --name",
    ))
}

pub(crate) fn down(args: &Down, common: &Common) -> Result<(), Failure> {
    let chosen: Vec<State> = match &args.name {
        Some(name) => vec![state::find_to_remove(name)?],
        None if args.all => state::labs()?,
        None => {
            let (left, up): (Vec<State>, Vec<State>) = state::labs()?
                .into_iter()
                .filter(|lab| lab.owner.is_none() || lab.is_left_over())
                .partition(State::is_left_over);
            match up.len() {
                0 | 1 => left.into_iter().chain(up).collect(),
                _ => {
                    let names: Vec<&str> = up.iter().map(|lab| lab.name.as_str()).collect();
                    return Err(Failure::usage(
                        "several fabrics are up",
                        format!("give one of {}, or --all", names.join(", ")),
                    ));
                }
            }
        }
    };
    for lab in &chosen {
        lab.remove()?;
        note(common, &format!("removed {}", lab.name));
    }
    if common.json {
        let names: Vec<&str> = chosen.iter().map(|lab| lab.name.as_str()).collect();
        return output::json(&names);
    }
    if chosen.is_empty() {
        note(common, "nothing is up");
    }
    Ok(())
}

#[derive(Serialize)]
struct Row {
    name: String,
    title: String,
    state: &'static str,
    nodes: usize,
    links: usize,
}

pub(crate) fn status(common: &Common) -> Result<(), Failure> {
    let row = |lab: State| Row {
        state: match lab.owner {
            None => "up",
            Some(owner) if owner.is_running() => "running",
            Some(_) => "left over",
        },
        nodes: lab.nodes.len(),
        links: lab.links.len(),
        title: lab.title,
        name: lab.name,
    };
    let rows: Vec<Row> = state::labs()?.into_iter().map(row).collect();
    if common.json {
        return output::json(&rows);
    }
    if rows.is_empty() {
        return output::line("no fabric is up (heddle lab up SCENARIO.toml makes one)");
    }
    let mut listed = table::of_words(&["fabric", "state", "nodes", "links", "scenario"]);
    for row in rows {
        let (nodes, links) = (row.nodes.to_string(), row.links.to_string());
        listed.add_row([row.name.as_str(), row.state, &nodes, &links, &row.title]);
    }
    output::line(listed)
}

pub(crate) fn shell(args: &Shell) -> Result<ExitCode, Failure> {
    let lab = state::find(args.name.as_deref())?;
    let node = node(&lab, &args.node)?;
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let command = if args.command.is_empty() { vec![shell] } else { args.command.clone() };
    replace_in(&lab, node, &command)
}

pub(crate) fn capture(args: &Capture) -> Result<ExitCode, Failure> {
    heddle_lab::tools::require(&[("tcpdump", "tcpdump")]).map_err(EmulationError::from)?;
    let lab = state::find(args.name.as_deref())?;
    let (node, device) = link(&lab, &args.link)?;
    let mut command: Vec<OsString> = ["tcpdump", "-n", "-i", device].map(OsString::from).into();
    command.extend(args.arguments.iter().cloned());
    replace_in(&lab, node, &command)
}

fn node<'a>(lab: &'a State, name: &str) -> Result<&'a str, EmulationError> {
    let found = lab.nodes.iter().find(|node| *node == name);
    let missing = || EmulationError::NoSuch {
        what: "node",
        name: name.to_owned(),
        known: some(&lab.nodes, name),
    };
    found.map(String::as_str).ok_or_else(missing)
}

/// The first end of a link that is named by both.
fn link<'a>(lab: &'a State, name: &str) -> Result<(&'a str, &'a str), EmulationError> {
    let words: Vec<&str> = name.split_whitespace().collect();
    for link in &lab.links {
        let [a, b] = &link.ends;
        for (near, far) in [(a, b), (b, a)] {
            if words == [near.0.as_str(), far.0.as_str()] {
                return Ok((&near.0, &near.1));
            }
        }
    }
    let known: Vec<String> =
        lab.links.iter().map(|l| format!("'{} {}'", l.ends[0].0, l.ends[1].0)).collect();
    Err(EmulationError::NoSuch { what: "link", name: name.to_owned(), known: some(&known, name) })
}

/// A few names, those most like the wanted one first, and how many more there are.
fn some(names: &[String], wanted: &str) -> String {
    const SHOWN: usize = 12;
    // In a link's name as in `agg-1 core-2` each word counts.
    let is_word = |word: &str| wanted.split_whitespace().any(|one| one == word);
    let kind =
        |name: &str| name.trim_matches('\'').split('-').next().unwrap_or_default().to_owned();
    let likeness = |name: &&String| {
        let words = name.trim_matches('\'').split_whitespace().filter(|word| is_word(word)).count();
        std::cmp::Reverse((words, kind(name) == kind(wanted)))
    };
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_by_key(likeness);
    let shown: Vec<&str> = sorted.into_iter().take(SHOWN).map(String::as_str).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Runs a program in a node's namespace in the place of this one.
fn replace_in(lab: &State, node: &str, command: &[OsString]) -> Result<ExitCode, Failure> {
    let namespace = heddle_lab::names::path(&lab.namespace(node));
    if !Path::new(&namespace).exists() {
        return Err(Failure::advised(
            format!("the namespace of {node} is gone"),
            format!("heddle lab down {}", lab.name),
        ));
    }
    let mut nsenter = Command::new("nsenter");
    nsenter.arg(format!("--net={}", namespace.display())).args(command);
    Err(nsenter.exec()).context("nsenter").map_err(Failure::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_most_like_the_wanted_one_come_first() {
        let names: Vec<String> =
            (1..=13).map(|i| format!("host-{i}")).chain(["tor-1".into()]).collect();
        assert!(
            some(&names, "tor-11").starts_with("tor-1, host-1, "),
            "{}",
            some(&names, "tor-11")
        );
        assert!(some(&names, "tor-11").ends_with("host-11 and 2 more"));
        let links = ["'host-1 tor-1'", "'agg-1 core-1'"].map(str::to_owned);
        assert!(some(&links, "core-1 agg-9").starts_with("'agg-1 core-1'"));
    }
}
