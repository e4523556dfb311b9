//! `heddle path find`: the load-balanced paths of a pair.

use heddle_path_encoder::ListedPath;
use serde_json::json;

use super::listed::{self, Listed, NOTE};
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
    let total = network.find(from, to)?.count();
    let listed = match args.disjoint {
        Some(most) => network.disjoint_paths(from, to, most.get()),
        None => network.first_paths(from, to, args.limit.get()),
    }?;
    if common.json {
        let (from, to) = (name(&network, from), name(&network, to));
        let paths: Vec<Listed<'_>> = listed.iter().map(Listed::new).collect();
        return output::json(&json!({ "from": from, "to": to, "total": total, "paths": paths }));
    }
    print(&listed, total)?;
    if !common.quiet && args.disjoint.is_none() && (listed.len() as u64) < total {
        eprintln!("listed: the first {}; --limit lists more", listed.len());
    }
    Ok(())
}

fn print(listed: &[ListedPath], total: u64) -> Result<(), Failure> {
    let Some(ListedPath { nodes, .. }) = listed.first() else { return Ok(()) };
    let (from, to, routers) = (&nodes[0], &nodes[nodes.len() - 1], nodes.len() - 2);
    let each = if total == 1 { "" } else { " each" };
    let (paths, routers) = (counted(total, "path"), counted(routers as u64, "router"));
    output::line(format_args!("{from} to {to}: {paths}, {routers}{each}"))?;
    let mut table = table::of_words(&["path", "routers", "next hop at each"]);
    for path in listed {
        table.add_row([path.number.to_string(), listed::routers(path), listed::choices(path)]);
    }
    output::line(table)?;
    output::line(NOTE)
}
