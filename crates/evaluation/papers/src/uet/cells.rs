//! Cells of the comparison: traffic and the state of links, and path selection of hosts.

use heddle_scenario::Source;
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Hosts of the fat-tree with k = 8.
pub(super) const HOSTS: u32 = 128;

/// Its scenario, whose buffers and marks are uet-htsim's.
const SCENARIO: &str = include_str!("../../../../../scenarios/uet-permutation.toml");

/// The file of flows that a cell's scenario names.
const FLOWS: &str = "flows.csv";

/// Traffic over links in some state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Id of its claims.
    pub id: &'static str,
    /// In words.
    pub title: &'static str,
    traffic: Traffic,
    /// Megabytes of a flow.
    megabytes: u32,
    /// State of links.
    pub(super) links: Links,
    /// Control of senders.
    pub(super) control: Control,
}

/// Congestion control of senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// A window.
    Nscc,
    /// Receivers' credit.
    Rccc,
    /// Both.
    NsccRccc,
}

impl Control {
    /// Its name in scenarios.
    fn key(self) -> &'static str {
        match self {
            Control::Nscc => "nscc",
            Control::Rccc => "rccc",
            Control::NsccRccc => "nscc-rccc",
        }
    }

    /// uet-htsim's options.
    pub(super) fn htsim(self) -> &'static str {
        match self {
            Control::Nscc => "-sender_cc_only",
            Control::Rccc => "-receiver_cc_only",
            Control::NsccRccc => "-sender_cc -receiver_cc",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traffic {
    /// Each host sends to one other.
    Permutation,
    /// So many hosts send to one.
    Incast(u32),
    /// Each of so many hosts sends to each other one, all at once.
    AllToAll(u32),
}

/// State of links between core and aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// All are as built.
    Healthy,
    /// A quarter of the rate, and of its queue, from one core switch down.
    Slow,
    /// So many lose all packets from 100 us on, and routing does not notice: in as many pods, of as
    /// many core switches.
    Dead(u32),
}

/// Path selection of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// In tables.
    pub name: &'static str,
    /// Texts of the claims about the mean and the worst flow.
    pub(super) texts: [&'static str; 2],
    entropy: &'static str,
    /// Packets of an acknowledgement.
    pub(super) packets_per_ack: u32,
    /// uet-htsim's algorithm, and its number of entropy values.
    pub(super) htsim: [&'static str; 2],
}

macro_rules! selection {
    ($name:literal, $entropy:literal, $packets_per_ack:literal, $htsim:expr) => {
        Selection {
            name: $name,
            texts: [
                concat!($name, ": mean completion over ideal, Heddle's over uet-htsim's"),
                concat!($name, ": worst completion over ideal, Heddle's over uet-htsim's"),
            ],
            entropy: $entropy,
            packets_per_ack: $packets_per_ack,
            htsim: $htsim,
        }
    };
}

/// Each selection. One path a flow is the first: over a dead link such flows do not end.
pub(super) const SELECTIONS: &[Selection] = &[
    selection!("ecmp", "flow", 1, ["oblivious", "1"]),
    selection!("oblivious", "spray", 1, ["oblivious", "128"]),
    selection!("bitmap", "bitmap", 1, ["bitmap", "128"]),
    selection!("reps", "reps", 1, ["reps", "128"]),
    selection!("reps-4", "reps", 4, ["reps", "128"]),
];

const fn permutation(id: &'static str, title: &'static str, megabytes: u32, links: Links) -> Place {
    let (traffic, control) = (Traffic::Permutation, Control::Nscc);
    Place { id, title, traffic, megabytes, links, control }
}

const fn healthy(
    id: &'static str,
    title: &'static str,
    traffic: Traffic,
    control: Control,
) -> Place {
    Place { id, title, traffic, megabytes: 2, links: Links::Healthy, control }
}

/// Each place.
pub(super) const PLACES: &[Place] = &[
    permutation("U1", "permutation, 2 MB", 2, Links::Healthy),
    permutation("U2", "permutation, 2 MB, a slow link", 2, Links::Slow),
    permutation("U3", "permutation, 2 MB, a dead link", 2, Links::Dead(1)),
    permutation("U4", "permutation, 2 MB, 4 dead links", 2, Links::Dead(4)),
    healthy("U5", "incast, 8 to 1", Traffic::Incast(8), Control::Nscc),
    healthy("U6", "incast, 32 to 1", Traffic::Incast(32), Control::Nscc),
    healthy("U7", "all-to-all of 16", Traffic::AllToAll(16), Control::Nscc),
    permutation("U8", "permutation, 8 MB", 8, Links::Healthy),
    healthy("U9", "RCCC: permutation, 2 MB", Traffic::Permutation, Control::Rccc),
    healthy("U10", "RCCC: incast, 8 to 1", Traffic::Incast(8), Control::Rccc),
    healthy("U11", "RCCC: incast, 32 to 1", Traffic::Incast(32), Control::Rccc),
    healthy("U12", "NSCC and RCCC: permutation, 2 MB", Traffic::Permutation, Control::NsccRccc),
    healthy("U13", "NSCC and RCCC: incast, 8 to 1", Traffic::Incast(8), Control::NsccRccc),
    healthy("U14", "NSCC and RCCC: incast, 32 to 1", Traffic::Incast(32), Control::NsccRccc),
];

/// A sender and a receiver, by number from 0.
pub(super) type Pair = (u32, u32);

impl Place {
    /// The first of [`SELECTIONS`] that is compared here.
    pub(super) const fn first_selection(&self) -> usize {
        matches!(self.links, Links::Dead(_)) as usize
    }

    /// Bytes of a flow.
    pub(super) fn bytes(&self) -> u32 {
        self.megabytes * 1_000_000
    }

    /// The pairs of a seed.
    pub(super) fn pairs(&self, seed: u64) -> Vec<Pair> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        match self.traffic {
            Traffic::Permutation => loop {
                let to = shuffled(&mut random);
                let pairs: Vec<Pair> = (0..HOSTS).zip(to).collect();
                if pairs.iter().all(|(from, to)| from != to) {
                    return pairs;
                }
            },
            Traffic::Incast(senders) => {
                let hosts = shuffled(&mut random);
                let senders = hosts[1..].iter().take(senders as usize);
                senders.map(|&sender| (sender, hosts[0])).collect()
            }
            Traffic::AllToAll(count) => {
                let hosts = &shuffled(&mut random)[..count as usize];
                let from = |&from: &u32| hosts.iter().map(move |&to| (from, to));
                hosts.iter().flat_map(from).filter(|(from, to)| from != to).collect()
            }
        }
    }
}

/// The hosts in random order (Fisher and Yates).
fn shuffled(random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    let mut hosts: Vec<u32> = (0..HOSTS).collect();
    for last in (1..hosts.len()).rev() {
        let place = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
        hosts.swap(last, place as usize);
    }
    hosts
}

/// A place under a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The place.
    pub place: &'static Place,
    /// The selection.
    pub selection: &'static Selection,
}

impl Cell {
    /// In messages.
    pub(super) fn label(&self, seed: u64) -> String {
        format!("{} under {}, seed {seed}", self.place.title, self.selection.name)
    }

    /// Its scenario.
    pub(super) fn source(&self) -> Source {
        self.source_over(self.place.links)
    }

    /// Its scenario over links in some state.
    pub(super) fn source_over(&self, links: Links) -> Source {
        let Selection { entropy, packets_per_ack, .. } = self.selection;
        let source = Source::new("uet-permutation.toml", SCENARIO)
            .with("title", format!("UET: {}, {}", self.place.title, self.selection.name))
            .with("entropy", *entropy)
            .with("transport.control", self.place.control.key())
            .with("transport.packets_per_ack", packets_per_ack.to_string())
            .with("fabric.trim_above", "178KB")
            .with("fabric.scale_buffers", "100Gbps")
            .with("workload.file", FLOWS)
            .with("measure.time_limit", "50ms");
        let source = match self.place.control {
            Control::Nscc => source,
            Control::Rccc | Control::NsccRccc => source.with("fabric.red.to_hosts", "false"),
        };
        match links {
            Links::Healthy => source,
            Links::Slow => source.with("fabric.link", SLOW_LINK),
            Links::Dead(count) => {
                // Flows start behind a millisecond of probes.
                let links: Vec<String> = (0..count)
                    .map(|nth| format!("\"core-{} agg-{}\"", nth + 1, 4 * nth + 1))
                    .collect();
                let event = format!("[{{ at = \"1100us\", fail = [{}] }}]", links.join(", "));
                source.with("event", event).with("fabric.convergence", "1s")
            }
        }
    }

    /// The file of flows that its scenario names.
    pub(super) fn flows(&self, seed: u64) -> String {
        self.flows_of(&self.place.pairs(seed))
    }

    /// The file of flows of some pairs.
    pub(super) fn flows_of(&self, pairs: &[Pair]) -> String {
        let bytes = self.place.bytes();
        let row = |(from, to): &Pair| format!("0us,host-{},host-{},{bytes}B\n", from + 1, to + 1);
        "at,from,to,size\n".to_owned() + &pairs.iter().map(row).collect::<String>()
    }
}

const SLOW_LINK: &str =
    r#"[{ between = "core-1 agg-1", rate = "25Gbps", reverse_rate = "100Gbps" }]"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_drawn_by_seed_and_no_host_sends_to_itself() {
        for place in PLACES {
            let pairs = place.pairs(1);
            let mut once = pairs.clone();
            once.sort_unstable();
            once.dedup();
            let (from, to): (Vec<u32>, Vec<u32>) = once.iter().copied().unzip();
            let count = match place.traffic {
                Traffic::Permutation => HOSTS,
                Traffic::Incast(senders) => senders,
                Traffic::AllToAll(hosts) => hosts * (hosts - 1),
            };
            assert_eq!((pairs.len(), once.len()), (count as usize, count as usize), "{place:?}");
            assert!(from.iter().zip(&to).all(|(from, to)| from != to));
            assert_eq!((place.pairs(1), place.pairs(2) == pairs), (pairs, false));
        }
    }

    #[test]
    fn every_cell_loads() {
        for cell in PLACES
            .iter()
            .flat_map(|place| SELECTIONS.iter().map(move |selection| Cell { place, selection }))
        {
            let files = |_: &str| Ok(cell.flows(1));
            let scenario = heddle_scenario::load(&cell.source(), &files).unwrap();
            assert_eq!(
                scenario.events.len(),
                usize::from(matches!(cell.place.links, Links::Dead(_)))
            );
        }
    }
}
