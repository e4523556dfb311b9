//! `heddle fabric stats`: paths and next hops of all pairs of hosts.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use heddle_fabric::{Fabric, Stats};
use heddle_path_files::files::{read, resolve_fabric};
use heddle_scenario::{Fabric as Resolved, Source};
use serde::Serialize;

use crate::args::Common;
use crate::args::fabric::Stats as Arguments;
use crate::failure::Failure;
use crate::{files, output, table};

/// Keys that a scenario has and a fabric file has not.
const SCENARIO_KEYS: [&str; 4] = ["workload", "scheme", "transport", "measure"];

/// Most lines of a distribution.
const MOST_LINES: usize = 12;

/// A fabric and its figures.
#[derive(Debug, Serialize)]
struct Counted {
    fabric: String,
    switches: u32,
    /// Hosts' links included, failed ones as well.
    links: usize,
    #[serde(flatten)]
    stats: Stats,
}

pub(crate) fn stats(args: &Arguments, common: &Common) -> Result<(), Failure> {
    let files = args.files.iter().map(|path| of_file(path));
    let shapes = args.shape.iter().map(|shape| of_shape(shape));
    let counted = files.chain(shapes).collect::<Result<Vec<_>, _>>()?;
    if common.json {
        return output::json(&counted);
    }
    print(&counted)
}

/// Of a fabric file or a scenario.
fn of_file(path: &Path) -> Result<Counted, Failure> {
    let source = read(path, &[])?;
    let table = source.text.parse::<toml::Table>().unwrap_or_default();
    let fabric = match SCENARIO_KEYS.iter().any(|key| table.contains_key(*key)) {
        true => files::resolve(&source)?.fabric,
        false => resolve_fabric(&source)?.fabric,
    };
    count(source.name, &fabric)
}

/// Of the keys and values of `[fabric]`.
fn of_shape(shape: &str) -> Result<Counted, Failure> {
    let source = Source::new("--shape", format!("fabric = {{ {shape} }}"));
    count(shape.to_owned(), &resolve_fabric(&source)?.fabric)
}

fn count(name: String, resolved: &Resolved) -> Result<Counted, Failure> {
    let fabric = Fabric::new(&resolved.graph).context(name.clone())?;
    let routes = fabric.routes(|link| !is_failed(resolved, link)).context(name.clone())?;
    Ok(Counted {
        fabric: name,
        switches: fabric.switches(),
        links: resolved.graph.links.len(),
        stats: heddle_fabric::stats(&fabric, &routes),
    })
}

/// True if a link is down from the start.
fn is_failed(resolved: &Resolved, link: u32) -> bool {
    let (a, b) = resolved.graph.links[link as usize].ends;
    let [a, b] = [a, b].map(|node| resolved.graph.nodes[node as usize].name.as_str());
    let mut failed = resolved.failed.iter().map(|(x, y)| (x.as_str(), y.as_str()));
    failed.any(|ends| ends == (a, b) || ends == (b, a))
}

fn print(counted: &[Counted]) -> Result<(), Failure> {
    let mut header = vec![""];
    header.extend(counted.iter().map(|counted| counted.fabric.as_str()));
    let mut table = table::new(&header);
    for (figure, of) in FIGURES {
        let mut row = vec![(*figure).to_owned()];
        row.extend(counted.iter().map(of));
        table.add_row(row);
    }
    output::line(table)
}

/// A row's name, and the figure of a fabric in it.
type Figure = (&'static str, fn(&Counted) -> String);

const FIGURES: &[Figure] = &[
    ("hosts", |of| of.stats.servers.to_string()),
    ("switches", |of| of.switches.to_string()),
    ("links", |of| of.links.to_string()),
    ("pairs with 2 paths or more", |of| percent(of.stats.several_paths)),
    ("most paths", |of| of.stats.pairs_by_paths.keys().max().copied().unwrap_or(0).to_string()),
    ("pairs by paths", |of| distribution(&by_paths(&of.stats.pairs_by_paths))),
    ("pairs by switches on the way", |of| {
        let by_switches = of.stats.pairs_by_switches.iter();
        distribution(&by_switches.map(|(n, pairs)| (n.to_string(), *pairs)).collect::<Vec<_>>())
    }),
    ("destinations with several next hops, mean of switches", |of| {
        percent(of.stats.mean_several_next_hops)
    }),
    ("the same over the switches of each tier", |of| {
        let by_tier = of.stats.mean_by_tier.iter();
        lines(by_tier.map(|(tier, share)| format!("{tier}: {}", percent(*share))))
    }),
    ("most next hops", |of| of.stats.most_next_hops.to_string()),
];

/// Pairs by paths; by powers of two where there are many different counts.
fn by_paths(pairs_by_paths: &BTreeMap<u64, u64>) -> Vec<(String, u64)> {
    if pairs_by_paths.len() <= MOST_LINES {
        return pairs_by_paths.iter().map(|(paths, pairs)| (paths.to_string(), *pairs)).collect();
    }
    let mut by_powers: BTreeMap<u64, u64> = BTreeMap::new();
    for (paths, pairs) in pairs_by_paths {
        *by_powers.entry(paths.checked_ilog2().map_or(0, |power| 1 << power)).or_default() += pairs;
    }
    let range = |low: u64| match low {
        0 | 1 => low.to_string(),
        _ => format!("{low} to {}", low + (low - 1)),
    };
    by_powers.into_iter().map(|(low, pairs)| (range(low), pairs)).collect()
}

/// Shares of all pairs, a line each.
fn distribution(pairs: &[(String, u64)]) -> String {
    let all: u64 = pairs.iter().map(|(_, pairs)| pairs).sum();
    let share = |pairs: u64| percent(pairs as f64 / all as f64);
    lines(pairs.iter().map(|(of, pairs)| format!("{of}: {}", share(*pairs))))
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_counts_are_told_by_powers_of_two() {
        let few = BTreeMap::from([(1, 10), (49, 90)]);
        assert_eq!(distribution(&by_paths(&few)), "1: 10.0 %\n49: 90.0 %");
        let many: BTreeMap<u64, u64> = (0..20).map(|paths| (paths, 5)).collect();
        assert_eq!(
            distribution(&by_paths(&many)),
            "0: 5.0 %\n1: 5.0 %\n2 to 3: 10.0 %\n4 to 7: 20.0 %\n8 to 15: 40.0 %\n16 to 31: 20.0 %"
        );
    }
}
