//! Figures 1 and 2: how many paths pairs of servers have, and how often a switch has several next
//! hops.

use heddle_fabric::Stats;
use heddle_report::{Axis, Block, Plot, Section, Series, Table, Unit};

use super::made;
use crate::cflb::Cflb;
use crate::cflb::experiments::{Experiment, Measured, Model};
use heddle_study::paper::Evidence;

/// Both figures; `None` if no fabric was looked at.
pub(super) fn section(evidence: &Evidence<Cflb>) -> Option<Section> {
    let found: Vec<(&str, &Stats)> = Model::ALL
        .into_iter()
        .filter_map(|model| {
            let made = made(evidence, Experiment::Diversity(model))?;
            Some((model.title(), Measured::diversity(made)?))
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    let section = Section::new("diversity", "Choice that fabrics offer (figures 1 and 2)");
    let section = section.block(Block::pair(paths(&found), next_hops(&found)));
    Some(section.block(table(&found)))
}

fn percent_axis(label: &str) -> Axis {
    Axis::new(label, Unit::plain("%")).within(0.0, 100.0)
}

fn paths(found: &[(&str, &Stats)]) -> Plot {
    let x = Axis::new("Load-balanced paths, at least", Unit::None).log();
    let plot = Plot::new("paths", "Pairs of servers by paths", x, percent_axis("Pairs"));
    found.iter().fold(plot, |plot, (name, stats)| {
        let all: u64 = stats.pairs_by_paths.values().sum();
        let at_least = |&paths: &u64| {
            let pairs: u64 = stats.pairs_by_paths.range(paths..).map(|(_, pairs)| pairs).sum();
            (paths as f64, 100.0 * pairs as f64 / all as f64)
        };
        plot.series(Series::line(*name, stats.pairs_by_paths.keys().map(at_least)))
    })
}

fn next_hops(found: &[(&str, &Stats)]) -> Plot {
    let x = percent_axis("Switches, by that share");
    let y = percent_axis("Destinations with several next hops");
    let plot = Plot::new("next-hops", "Destinations for which a switch can choose", x, y);
    found.iter().fold(plot, |plot, (name, stats)| {
        let last = stats.several_next_hops.len().saturating_sub(1).max(1) as f64;
        let point = |(i, share): (usize, &f64)| (100.0 * i as f64 / last, 100.0 * share);
        let points = stats.several_next_hops.iter().enumerate().map(point);
        plot.series(Series::step(*name, points))
    })
}

fn table(found: &[(&str, &Stats)]) -> Table {
    let header = [
        "",
        "servers",
        "pairs with 2 paths or more",
        "most paths",
        "destinations with several next hops",
        "most next hops",
    ];
    found.iter().fold(Table::new(header), |table, (name, stats)| {
        let most = stats.pairs_by_paths.keys().next_back().copied().unwrap_or(0);
        table.row([
            (*name).to_owned(),
            stats.servers.to_string(),
            format!("{:.1} %", 100.0 * stats.several_paths),
            most.to_string(),
            format!("{:.1} %", 100.0 * stats.mean_several_next_hops),
            stats.most_next_hops.to_string(),
        ])
    })
}
