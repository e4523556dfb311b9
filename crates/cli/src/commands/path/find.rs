//! `heddle path find`: the load-balanced paths of a pair.

use std::num::NonZeroUsize;

use heddle_fabric::Paths;
use heddle_path_encoder::Network;
use serde_json::json;

use super::listed::{Listed, NOTE, choices_of, number_of};
use super::name;
use crate::args::Common;
use crate::args::path::Find;
use crate::failure::Failure;
use crate::output::counted;
use crate::{output, table};
use heddle_path_files::{files, network};

pub(crate) fn find(args: &Find, common: &Common) -> Result<(), Failure> {
    let network = network::without_key(&files::fabric(&args.fabric)?)?;
    let (from, to) = (network.host(&args.from)?, network.host(&args.to)?);
    let paths = network.find(from, to)?;
    let listed = match args.disjoint {
        Some(most) => disjoint(&network, (from, to), &paths, most),
        None => first(&network, (from, to), &paths, args.limit),
    };
    if common.json {
        let (from, to) = (name(&network, from), name(&network, to));
        return output::json(
            &json!({ "from": from, "to": to, "total": paths.count(), "paths": listed }),
        );
    }
    print(&listed, paths.count())?;
    if !common.quiet && args.disjoint.is_none() && (listed.len() as u64) < paths.count() {
        eprintln!("listed: the first {}; --limit lists more", listed.len());
    }
    Ok(())
}

/// The first paths, in the order of their numbers.
fn first(
    network: &Network,
    hosts: (u32, u32),
    paths: &Paths<'_>,
    most: NonZeroUsize,
) -> Vec<Listed> {
    let numbered = (0..).zip(paths).take(most.get());
    numbered.map(|(number, path)| Listed::new(network, hosts, &path, number)).collect()
}

/// Paths that share no link between routers.
fn disjoint(
    network: &Network,
    hosts: (u32, u32),
    paths: &Paths<'_>,
    most: NonZeroUsize,
) -> Vec<Listed> {
    let found = paths.disjoint(most.get());
    let listed = found
        .iter()
        .map(|path| Listed::new(network, hosts, path, number_of(paths, &choices_of(path))));
    listed.collect()
}

fn print(listed: &[Listed], total: u64) -> Result<(), Failure> {
    let Some(Listed { nodes, .. }) = listed.first() else { return Ok(()) };
    let (from, to, routers) = (&nodes[0], &nodes[nodes.len() - 1], nodes.len() - 2);
    let each = if total == 1 { "" } else { " each" };
    let (paths, routers) = (counted(total, "path"), counted(routers as u64, "router"));
    output::line(format_args!("{from} to {to}: {paths}, {routers}{each}"))?;
    let mut table = table::of_words(&["path", "routers", "next hop at each"]);
    for path in listed {
        table.add_row([path.path.to_string(), path.routers(), path.choices()]);
    }
    output::line(table)?;
    output::line(NOTE)
}
