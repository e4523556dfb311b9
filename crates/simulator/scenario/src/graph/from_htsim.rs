//! The fat-trees of csg-htsim (`.topo`): a header, then a section for each tier of switches, ToRs
//! first.
//!
//! ```text
//! Nodes 1024
//! Tiers 3
//! Podsize 64
//! Tier 0
//! Downlink_speed_Gbps 100
//! Radix_Down 8
//! Radix_Up 8
//! Downlink_Latency_ns 1000
//! ```
//!
//! Each tier also has `Switch_Latency_ns`, `Oversubscribed` and `Bundle` (parallel links down), 0,
//! 1 and 1 by default; words may have capitals. Here switches have no latency of their own: half of
//! it is added to each link at both of its ends, so that a path takes as long. Names are those of
//! `kind = "fat-tree"`, counted from 1; with two tiers those of `kind = "leaf-spine"`.

use heddle_config::Problem;
use heddle_units::{Rate, Time};

use super::limits::Counts;
use super::{AGG, CORE, HOST, TOR, check_delay, check_rate};
use crate::source::Files;
use crate::{Graph, Link, Node, Routing};

/// Parses and checks a topology file. Problems name it and the line.
pub(crate) fn from_htsim(name: &str, text: &str, files: &dyn Files) -> Result<Graph, Problem> {
    let mut last = None;
    let note = |notice: String| files.note(format!("{name}:{notice}"));
    let file = parse(text, &mut last, &note).map_err(|problem| problem.in_file(name, last))?;
    let tree = Tree::of(&file).map_err(|problem| problem.in_file(name, None))?;
    Ok(tree.graph())
}

#[derive(Default)]
struct File {
    nodes: Option<u64>,
    tiers: Option<u64>,
    pod: Option<u64>,
    sections: [Option<Section>; 3],
}

/// The keys that are read.
const KEYS: [&str; 11] = [
    "nodes",
    "tiers",
    "podsize",
    "tier",
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "oversubscribed",
    "bundle",
];

/// Keys of htsim's that a scenario has elsewhere.
const QUEUES: [&str; 2] = ["queue_up", "queue_down"];

/// The keys of a tier.
#[derive(Clone, Copy, Default)]
struct Section {
    gbps: Option<u64>,
    radix_down: Option<u64>,
    radix_up: Option<u64>,
    latency: Option<u64>,
    switch_latency: Option<u64>,
    oversubscribed: Option<u64>,
    bundle: Option<u64>,
}

/// `last` is the number of the line that was looked at last.
fn parse(text: &str, last: &mut Option<usize>, note: &dyn Fn(String)) -> Result<File, Problem> {
    let (mut file, mut tier) = (File::default(), None);
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
        *last = Some(number);
        match &words[..] {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            [key, ..] if !KEYS.contains(&key.as_str()) => {
                note(format!("{number}: \"{}\" is not read{}", line.trim(), unknown(key)?));
            }
            [key, value] => line_of(&mut file, &mut tier, key, whole(value)?)?,
            _ => {
                return Err(Problem::new(format!(
                    "\"{}\" is not a key and its value",
                    line.trim()
                ))
                .help("as in `Radix_Down 8`"));
            }
        }
    }
    Ok(file)
}

/// The notice for a key of htsim's that is not read; an error if a known one was meant.
fn unknown(key: &str) -> Result<&'static str, Problem> {
    if QUEUES.contains(&key) {
        return Ok(": `fabric.port_buffer` gives the size of queues");
    }
    match heddle_config::nearest(key, KEYS) {
        Some(_) => {
            Err(Problem::new(format!("\"{key}\" is no key of a topology")).suggest(key, &KEYS))
        }
        None => Ok(""),
    }
}

fn whole(text: &str) -> Result<u64, Problem> {
    let number: Option<u32> = text.parse().ok();
    number.map(u64::from).ok_or_else(|| {
        Problem::new(format!("\"{text}\" is not a whole number")).help("digits alone, as in `8`")
    })
}

fn line_of(
    file: &mut File,
    tier: &mut Option<usize>,
    key: &str,
    value: u64,
) -> Result<(), Problem> {
    if key == "tier" {
        let section = file.sections.get_mut(value as usize);
        let Some(section) = section.filter(|section| section.is_none()) else {
            return Err(Problem::new(format!("tier {value} is listed twice, or is none"))
                .help("0 for ToRs, 1, and 2 where there are three"));
        };
        *section = Some(Section::default());
        *tier = Some(value as usize);
        return Ok(());
    }
    let place = match key {
        "nodes" => &mut file.nodes,
        "tiers" => &mut file.tiers,
        "podsize" => &mut file.pod,
        _ => key_of(file, *tier, key)?,
    };
    match place.replace(value) {
        Some(_) => Err(Problem::new(format!("{key} is given twice")).help("once in each tier")),
        None => Ok(()),
    }
}

/// The place of a key of a tier's section.
fn key_of<'a>(
    file: &'a mut File,
    tier: Option<usize>,
    key: &str,
) -> Result<&'a mut Option<u64>, Problem> {
    let section = tier.and_then(|tier| file.sections[tier].as_mut());
    let outside = || {
        Problem::new(format!("{key} stands before the first `Tier`"))
            .help("behind the line `Tier 0`, `Tier 1` or `Tier 2` that it belongs to")
    };
    let section = section.ok_or_else(outside)?;
    Ok(match key {
        "downlink_speed_gbps" => &mut section.gbps,
        "radix_down" => &mut section.radix_down,
        "radix_up" => &mut section.radix_up,
        "downlink_latency_ns" => &mut section.latency,
        "switch_latency_ns" => &mut section.switch_latency,
        "oversubscribed" => &mut section.oversubscribed,
        "bundle" => &mut section.bundle,
        _ => {
            return Err(
                Problem::new(format!("\"{key}\" is no key of a topology")).suggest(key, &KEYS)
            );
        }
    })
}

/// A tier of switches and the links down from it.
#[derive(Clone, Copy)]
struct Tier {
    rate: Rate,
    /// Of a link down, without switches.
    delay: Time,
    switch_latency: Time,
    radix_down: u64,
    radix_up: u64,
    bundle: u64,
}

/// A tree whose numbers fit each other.
struct Tree {
    hosts: u64,
    pods: u64,
    /// ToRs of a pod, and switches of the second tier.
    tors: u64,
    aggs: u64,
    cores: u64,
    tiers: Vec<Tier>,
}

impl Tree {
    fn of(file: &File) -> Result<Tree, Problem> {
        let missing = |key: &str| Problem::new(format!("{key} is missing"));
        let hosts = file.nodes.ok_or_else(|| missing("Nodes"))?;
        let count = file.tiers.ok_or_else(|| missing("Tiers"))?;
        if !(2..=3).contains(&count) {
            return Err(Problem::new(format!("{count} tiers")).help("2 or 3"));
        }
        let tiers: Result<Vec<Tier>, Problem> =
            (0..count as usize).map(|tier| of_tier(file, tier, count as usize)).collect();
        let tiers = tiers?;
        // With two tiers all is one pod, as there.
        let pod = if count == 2 { hosts } else { file.pod.ok_or_else(|| missing("Podsize"))? };
        let pods = exact(hosts, pod, "Nodes by Podsize")?;
        let tors = exact(pod, tiers[0].radix_down, "hosts of a pod by Radix_Down of tier 0")?;
        let uplinks = tors * tiers[0].radix_up;
        let aggs =
            exact(uplinks, tiers[1].radix_down, "uplinks of a pod's ToRs by Radix_Down of tier 1")?;
        check_mesh(tiers[0].radix_up, aggs, tiers[1].bundle, 1)?;
        let mut tree = Tree { hosts, pods, tors, aggs, cores: 0, tiers };
        if let [_, agg, core] = tree.tiers[..] {
            let uplinks = pods * aggs * agg.radix_up;
            tree.cores =
                exact(uplinks, core.radix_down, "uplinks of tier 1 by Radix_Down of tier 2")?;
            let of_agg =
                exact(agg.radix_up, core.bundle, "Radix_Up of tier 1 by Bundle of tier 2")?;
            if of_agg * aggs != tree.cores {
                let message = format!(
                    "{of_agg} core switches of each of {aggs} in a pod are not the {} there are",
                    tree.cores
                );
                return Err(Problem::new(message)
                    .help("Radix_Down of tier 2 is the number of pods, times Bundle"));
            }
        }
        tree.check_oversubscription(file)?;
        tree.check_size()?;
        Ok(tree)
    }

    /// The ratio that a file gives beside its radices must be theirs.
    fn check_oversubscription(&self, file: &File) -> Result<(), Problem> {
        for (number, pair) in self.tiers.windows(2).enumerate() {
            let said =
                file.sections[number].and_then(|section| section.oversubscribed).unwrap_or(1);
            let down = u128::from(pair[0].radix_down) * u128::from(pair[0].rate.0);
            let up = u128::from(pair[0].radix_up) * u128::from(pair[1].rate.0);
            if down != up * u128::from(said) {
                let found = down as f64 / up as f64;
                let message = format!(
                    "tier {number} is oversubscribed {found} to 1 by its radices and rates, and {said} to 1 by Oversubscribed"
                );
                return Err(
                    Problem::new(message).help("`Oversubscribed` of that tier, or other radices")
                );
            }
        }
        Ok(())
    }

    fn check_size(&self) -> Result<(), Problem> {
        let (tors, upper) = (self.pods * self.tors, self.pods * self.aggs + self.cores);
        let of_tors = tors * self.tiers[0].radix_up;
        let of_aggs = self.pods * self.aggs * self.tiers[1].radix_up;
        Counts { hosts: self.hosts, tors, upper, links: self.hosts + of_tors + of_aggs }
            .check(u64::MAX)
    }

    fn graph(&self) -> Graph {
        let names = match self.tiers.len() {
            2 => ["leaf", "spine", ""],
            _ => ["tor", "agg", "core"],
        };
        let has_pods = self.tiers.len() == 3;
        let (tors, aggs) = (self.pods * self.tors, self.pods * self.aggs);
        let mut graph = Graph { nodes: Vec::new(), links: Vec::new(), routing: Routing::UpDown };
        let rows = [
            ("host", HOST, self.hosts, self.hosts / self.pods),
            (names[0], TOR, tors, self.tors),
            (names[1], AGG, aggs, self.aggs),
            (names[2], CORE, self.cores, 0),
        ];
        for (name, tier, count, per_pod) in rows {
            let pod = |index: u64| (has_pods && per_pod > 0).then(|| (index / per_pod) as u16 + 1);
            let node =
                |index| Node { name: format!("{name}-{}", index + 1), tier, pod: pod(index) };
            graph.nodes.extend((0..count).map(node));
        }
        let (first_tor, first_agg) = (self.hosts, self.hosts + tors);
        let first_core = first_agg + aggs;
        for host in 0..self.hosts {
            self.link(&mut graph, 0, (host, first_tor + host / self.tiers[0].radix_down));
        }
        for tor in 0..tors {
            for agg in 0..self.aggs {
                let agg = tor / self.tors * self.aggs + agg;
                self.link(&mut graph, 1, (first_tor + tor, first_agg + agg));
            }
        }
        for agg in (0..aggs).filter(|_| has_pods) {
            // The core switches of a place in the pods: every so many.
            for core in (agg % self.aggs..self.cores).step_by(self.aggs as usize) {
                self.link(&mut graph, 2, (first_agg + agg, first_core + core));
            }
        }
        graph
    }

    /// Adds the parallel links down from a tier between two nodes.
    fn link(&self, graph: &mut Graph, tier: usize, (low, high): (u64, u64)) {
        let Tier { rate, delay, switch_latency, bundle, .. } = self.tiers[tier];
        let below =
            tier.checked_sub(1).map_or(Time::ZERO, |below| self.tiers[below].switch_latency);
        let delay = delay + Time((switch_latency.0 + below.0) / 2);
        let link = Link::new((low as u32, high as u32), rate, delay);
        let parallel = if tier == 0 { 1 } else { bundle };
        graph.links.extend((0..parallel).map(|_| link));
    }
}

fn of_tier(file: &File, number: usize, count: usize) -> Result<Tier, Problem> {
    let missing = |key: &str| Problem::new(format!("{key} of tier {number} is missing"));
    let help = format!("`Tier {number}`, and its keys in the lines behind it");
    let section = file.sections[number].ok_or_else(|| missing("the section").help(help))?;
    let is_top = number + 1 == count;
    let radix_up = match (is_top, section.radix_up) {
        (true, _) => 0,
        (false, Some(radix)) => radix,
        (false, None) => return Err(missing("Radix_Up")),
    };
    let bundle = section.bundle.unwrap_or(1);
    if bundle == 0 || (number == 0 && bundle > 1) {
        return Err(Problem::new(format!("Bundle {bundle} of tier {number}")).help(
            "1 or more; 1 at tier 0, where hosts have one link (`fabric.interfaces` gives more)",
        ));
    }
    let gbps = section.gbps.ok_or_else(|| missing("Downlink_speed_Gbps"))?;
    let tier = Tier {
        rate: Rate(gbps.saturating_mul(1_000_000_000)),
        delay: Time::nanos(section.latency.ok_or_else(|| missing("Downlink_Latency_ns"))?),
        switch_latency: Time::nanos(section.switch_latency.unwrap_or(0)),
        radix_down: section.radix_down.ok_or_else(|| missing("Radix_Down"))?,
        radix_up,
        bundle,
    };
    check_rate("Downlink_speed_Gbps", tier.rate)?;
    check_delay("Downlink_Latency_ns", tier.delay)?;
    check_delay("Switch_Latency_ns", tier.switch_latency)?;
    Ok(tier)
}

/// A quotient that leaves no rest and is not 0.
fn exact(whole: u64, part: u64, what: &str) -> Result<u64, Problem> {
    if part == 0 || whole == 0 || !whole.is_multiple_of(part) {
        let message = format!("{what}: {whole} by {part} is not a whole number above 0");
        return Err(Problem::new(message).help("numbers that divide each other"));
    }
    Ok(whole / part)
}

/// Each switch below has a bundle to each switch above.
fn check_mesh(radix_up: u64, above: u64, bundle: u64, tier: usize) -> Result<(), Problem> {
    if radix_up == above * bundle {
        return Ok(());
    }
    let below = tier - 1;
    let message = format!(
        "Radix_Up {radix_up} of tier {below} is not {above} switches of tier {tier} by Bundle {bundle}"
    );
    Err(Problem::new(message).help("as many uplinks as there are switches above, by their bundles"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Noting;
    use heddle_config::ConfigError;

    fn load(text: &str) -> Result<Graph, String> {
        noted(text).map(|(graph, _)| graph)
    }

    fn noted(text: &str) -> Result<(Graph, Vec<String>), String> {
        let none = |_: &str| Ok(String::new());
        let noting = Noting::new(&none);
        let graph = from_htsim("t.topo", text, &noting);
        graph.map(|graph| (graph, noting.notices())).map_err(|p| ConfigError::from(p).to_string())
    }

    /// 16 hosts: k = 4, with switches of 200 ns.
    const THREE: &str = "# k = 4\nNodes 16\nTiers 3\nPodsize 4\n\nTier 0\nOversubscribed 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n\
                         Downlink_Latency_ns 1000\nSwitch_Latency_ns 200\n\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\n\
                         Switch_Latency_ns 200\n\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 200\n";

    /// Al-Fares et al.: k^3/4 hosts, 5 k^2 / 4 switches, as many links in each tier as hosts.
    #[test]
    fn a_fat_tree_has_its_counts_and_its_switches_latency() {
        let graph = load(THREE).unwrap();
        let count = |tier: u8| graph.nodes.iter().filter(|node| node.tier == tier).count();
        assert_eq!([0, 1, 2, 3].map(count), [16, 8, 8, 4]);
        assert_eq!(graph.links.len(), 3 * 16);
        let across = [&graph.links[0], &graph.links[16], &graph.links[32]].map(|link| link.delay);
        assert_eq!(across, [Time::nanos(1100), Time::nanos(1200), Time::nanos(1200)]);
        // Six links and five switches: 6 x 1 us + 5 x 0.2 us.
        let path = (across[0] + across[1] + across[2]) * 2;
        assert_eq!(path, Time::nanos(7000));
        let of_core: Vec<u32> =
            graph.links[32..].iter().filter(|l| l.ends.1 == 32).map(|l| l.ends.0).collect();
        assert_eq!(of_core, [24, 26, 28, 30], "one of each pod, in the same place");
        assert_eq!(
            (graph.nodes[4].pod, graph.nodes[24].pod, graph.nodes[32].pod),
            (Some(2), Some(1), None)
        );
    }

    #[test]
    fn two_tiers_are_leaves_and_spines_with_bundles() {
        let text = "nodes 32\ntiers 2\npodsize 32\ntier 0\ndownlink_speed_gbps 100\nradix_down 8\nradix_up 4\noversubscribed 2\ndownlink_latency_ns 500\n\
                    tier 1\ndownlink_speed_gbps 100\nradix_down 8\nbundle 2\ndownlink_latency_ns 500\n";
        let graph = load(text).unwrap();
        assert_eq!((graph.nodes.len(), graph.links.len()), (32 + 4 + 2, 32 + 16));
        assert_eq!(graph.nodes[36].name, "spine-1");
        assert_eq!(graph.links[32].ends, graph.links[33].ends, "two parallel links");
    }

    #[test]
    fn keys_of_others_are_noted() {
        let queues = THREE.replace("Radix_Up 2\n", "Radix_Up 2\nQueue_Up 100\nPacket_Colour red\n");
        let (_, notices) = noted(&queues).unwrap();
        let (queue, other) = (&notices[0], &notices[1]);
        assert_eq!(
            queue,
            "t.topo:11: \"Queue_Up 100\" is not read: `fabric.port_buffer` gives the size of queues"
        );
        assert_eq!(other, "t.topo:12: \"Packet_Colour red\" is not read");
        assert_eq!(notices.len(), 4, "two in each tier with uplinks");
    }

    #[test]
    fn numbers_that_do_not_fit_are_named() {
        let spoiled = |from: &str, to: &str| load(&THREE.replacen(from, to, 1)).unwrap_err();
        assert_eq!(
            spoiled("Nodes 16", "Nodes x"),
            "t.topo:2: \"x\" is not a whole number\nhelp: digits alone, as in `8`"
        );
        assert_eq!(
            spoiled("Tier 1", "Tier 0"),
            "t.topo:14: tier 0 is listed twice, or is none\nhelp: 0 for ToRs, 1, and 2 where there are three"
        );
        assert!(
            spoiled("Radix_Down 2\n", "Radix_Dwn 2\n")
                .ends_with("help: did you mean `radix_down`?")
        );
        assert_eq!(
            spoiled("Nodes 16", "Radix_Up 16"),
            "t.topo:2: radix_up stands before the first `Tier`\n\
             help: behind the line `Tier 0`, `Tier 1` or `Tier 2` that it belongs to"
        );
        assert_eq!(
            spoiled("Podsize 4", "Podsize 5"),
            "t.topo: Nodes by Podsize: 16 by 5 is not a whole number above 0\nhelp: numbers that divide each other"
        );
        assert_eq!(
            spoiled("Oversubscribed 1", "Oversubscribed 2"),
            "t.topo: tier 0 is oversubscribed 1 to 1 by its radices and rates, and 2 to 1 by Oversubscribed\n\
             help: `Oversubscribed` of that tier, or other radices"
        );
        assert_eq!(spoiled("Tiers 3", "Tiers 4"), "t.topo: 4 tiers\nhelp: 2 or 3");
        assert!(
            spoiled("Radix_Down 4", "Radix_Down 8").contains("core switches of each"),
            "two pods share a core"
        );
    }
}
