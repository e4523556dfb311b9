//! A path with its number among those of a pair of hosts. JSON has the terms of the path service.

use heddle_fabric::{Path, Paths};
use heddle_path_encoder::Network;
use serde::Serialize;

use super::name;

/// A path and its number.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    /// Its number among the pair's paths, from 0.
    pub(crate) path: u64,
    /// The sender, the routers, the receiver.
    pub(crate) nodes: Vec<String>,
    /// The next hop that each router chooses, from 0.
    next_hops: Vec<u16>,
    /// The number of next hops at each router.
    out_of: Vec<u16>,
}

impl Listed {
    pub(crate) fn new(
        network: &Network,
        (from, to): (u32, u32),
        path: &Path,
        number: u64,
    ) -> Listed {
        let mut nodes = vec![name(network, from)];
        nodes.extend(network.path_names(path, to));
        nodes.push(name(network, to));
        Listed {
            path: number,
            nodes,
            next_hops: choices_of(path),
            out_of: path.hops.iter().map(|hop| hop.next_hops).collect(),
        }
    }

    /// The routers as `--via` takes them.
    pub(crate) fn routers(&self) -> String {
        self.nodes[1..self.nodes.len() - 1].join(",")
    }

    /// The choice at each router.
    pub(crate) fn choices(&self) -> String {
        let each = self.next_hops.iter().zip(&self.out_of);
        each.map(|(next_hop, out_of)| choice(*next_hop, *out_of)).collect::<Vec<_>>().join(", ")
    }
}

/// The note on numbering, below tables; JSON and `--path` count alike.
pub(crate) const NOTE: &str = "paths, next hops and digits are numbered from 0";

/// `1 of 0-3`; a dash where there is no choice.
pub(crate) fn choice(next_hop: u16, next_hops: u16) -> String {
    match next_hops {
        1 => "-".to_owned(),
        _ => format!("{next_hop} of 0-{}", next_hops.saturating_sub(1)),
    }
}

/// The number of the path with these choices: paths are in the order of their choices, so that it is found by halving.
pub(crate) fn number_of(paths: &Paths<'_>, choices: &[u16]) -> u64 {
    let (mut low, mut high, mut path) = (0, paths.count() - 1, Path::default());
    while low < high {
        let middle = low + (high - low) / 2;
        paths.nth(middle, &mut path);
        match choices_of(&path).as_slice() < choices {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// The number of each next hop that a path takes.
pub(crate) fn choices_of(path: &Path) -> Vec<u16> {
    path.hops.iter().map(|hop| hop.next_hop).collect()
}
