//! Figures 6 to 8: spread of flows that are not steered, and cost of a decision.

use heddle_report::{Axis, Block, Plot, Section, Series, Table, Unit};

use super::made;
use crate::cflb::Cflb;
use crate::cflb::experiments::{Experiment, Measured, Routers};
use crate::cflb::mix::Mix;
use crate::cflb::speed::Cost;
use crate::cflb::spread::{Deviations, Spread};
use heddle_study::paper::Evidence;

/// Choosers whose curves are drawn; the tables have all.
const DRAWN: [&str; 7] = [
    "crc16",
    "crc32",
    "toeplitz",
    "xxh64",
    "md5",
    "rc5, B = 4, as published",
    "skip32, B = 4, as published",
];

/// Choosers whose shares are drawn over time.
const OVER_TIME: [&str; 2] = ["md5", "rc5, B = 4, as published"];

/// A section for each mix and row of routers that was measured.
pub(super) fn sections(evidence: &Evidence<Cflb>) -> Vec<Section> {
    let each = Mix::ALL.into_iter().flat_map(|mix| {
        [Routers::One, Routers::FourInARow, Routers::OneOfFour].map(|routers| (mix, routers))
    });
    let section = |(mix, routers): (Mix, Routers)| {
        let spreads =
            made(evidence, Experiment::Spread(mix, routers)).and_then(Measured::spread)?;
        let section = spread_section(mix.name(), routers, spreads);
        Some(section.block("Plot and table are of the first seed; the claims have all."))
    };
    each.filter_map(section).collect()
}

/// Evenness of each chooser on a trace: the deviations' distribution or the shares over time, and a
/// table.
pub fn spread_section(trace: &str, routers: Routers, spreads: &[Spread]) -> Section {
    let (number, what) = match routers {
        Routers::One => ("6a", "one router, 2 next hops"),
        Routers::FourInARow => ("6b", "four routers in a row, 2 next hops each"),
        Routers::OneOfFour => ("7", "one router, 4 next hops"),
    };
    let id = format!("spread-{trace}-{number}");
    let title = format!("Flows that nobody steers: {trace}, {what} (figure {number})");
    let section = Section::new(id.clone(), title);
    let section = match routers {
        Routers::One => section.block(distribution(&id, spreads, |spread| &spread.links)),
        Routers::FourInARow => section.block(distribution(&id, spreads, |spread| &spread.paths)),
        Routers::OneOfFour => {
            let mut plots = OVER_TIME.into_iter().filter_map(|name| over_time(&id, name, spreads));
            match (plots.next(), plots.next()) {
                (Some(left), Some(right)) => section.block(Block::pair(left, right)),
                _ => section,
            }
        }
    };
    section.block(table(routers, spreads))
}

fn distribution(id: &str, spreads: &[Spread], of: fn(&Spread) -> &Deviations) -> Plot {
    let x = Axis::new("Largest deviation from an even share", Unit::plain("points"));
    let y = Axis::new("Intervals", Unit::None).within(0.0, 1.0);
    let plot = Plot::new(format!("{id}-cdf"), "Deviation of the packets on a path", x, y);
    let drawn = DRAWN.iter().filter_map(|name| spreads.iter().find(|s| s.chooser == *name));
    drawn.fold(plot, |plot, spread| {
        plot.series(Series::step(spread.chooser.clone(), of(spread).distribution()))
    })
}

fn over_time(id: &str, chooser: &str, spreads: &[Spread]) -> Option<Plot> {
    let (index, spread) =
        spreads.iter().enumerate().find(|(_, spread)| spread.chooser == chooser)?;
    let links = spread.shares.first()?.len();
    let x = Axis::new("Interval", Unit::None);
    let y = Axis::new("Share of the packets", Unit::plain("%")).within(20.0, 30.0);
    let title = format!("Share of each link over time, {chooser}");
    let plot = Plot::new(format!("{id}-time-{index}"), title, x, y);
    let plot = plot.horizontal(22.0, "the paper's interval").horizontal(28.0, "");
    Some((0..links).fold(plot, |plot, link| {
        let points = (1..).zip(&spread.shares).map(|(i, shares)| (f64::from(i), shares[link]));
        plot.series(Series::line(format!("link {}", link + 1), points))
    }))
}

fn table(routers: Routers, spreads: &[Spread]) -> Table {
    // With one router its links are the paths.
    let has_paths = routers == Routers::FourInARow;
    let paths: &[&str] = if has_paths { &["mean deviation of paths", "largest"] } else { &[] };
    let links = ["chooser", "mean deviation of links", "largest"];
    let header = [&links, paths, &["chi-square of flows", "degrees", "p"]].concat();
    let points = |value: f64| format!("{value:.2} points");
    let table = spreads.iter().fold(Table::new(header), |table, spread| {
        let Spread { chooser, links, paths, flows, .. } = spread;
        let mut row = vec![chooser.clone(), points(links.mean), points(links.max)];
        if has_paths {
            row.extend([points(paths.mean), points(paths.max)]);
        }
        row.extend([format!("{:.1}", flows.statistic), flows.degrees.to_string()]);
        row.push(format!("{:.3}", flows.p_value));
        table.row(row)
    });
    table.caption(
        "Deviations are of packets, in percentage points from an even share, the largest over the links (paths) of each interval. Chi-square \
         is of flows over paths: a hash can spread no more than these. p near 0: some paths are preferred.",
    )
}

/// Cost of a decision.
pub(super) fn cost(evidence: &Evidence<Cflb>) -> Option<Section> {
    let costs = made(evidence, Experiment::Cost).and_then(Measured::cost)?;
    let section = Section::new("cost", "What a decision costs (figure 8)");
    let text = "Processor time of one decision on this machine, one core, and the rate that the paper's router would have if a decision \
                took it so much longer than choosing by turns, at which it forwarded 600 kpps: the first of the measurements that the claims have.";
    Some(section.block(text).block(cost_table(costs)))
}

fn cost_table(costs: &[Cost]) -> Table {
    costs.iter().fold(Table::new(["chooser", "decision", "rate"]), |table, cost| {
        table.row([
            cost.chooser.clone(),
            format!("{:.1} ns", cost.nanoseconds),
            format!("{:.1} kpps", cost.papers_rate / 1e3),
        ])
    })
}
