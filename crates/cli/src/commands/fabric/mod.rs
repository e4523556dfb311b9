//! `heddle fabric`: path counts of fabrics, and fabric files with their defaults.

mod stats;

use heddle_path_files::files;

use crate::args::Common;
use crate::args::fabric::{FabricCommand, ShowFabric};
use crate::commands::check::shorten_graph;
use crate::failure::Failure;
use crate::output;

pub(crate) fn fabric(command: &FabricCommand, common: &Common) -> Result<(), Failure> {
    match command {
        FabricCommand::Stats(args) => stats::stats(args, common),
        FabricCommand::Show(args) => show(args, common),
        FabricCommand::Schema => schema(),
    }
}

/// Prints the resolved file: as TOML with the graph and the addresses as a line each, or whole as
/// JSON.
fn show(args: &ShowFabric, common: &Common) -> Result<(), Failure> {
    let file = files::fabric(&args.fabric)?;
    if common.json {
        return output::json(&file);
    }
    let mut value = toml::Table::try_from(&file).map_err(anyhow::Error::from)?;
    shorten_graph(&mut value, &file.fabric.graph);
    let (all, hosts) = (file.addresses.concat(), file.addresses.len());
    let addresses = format!("{} addresses, {hosts} hosts", all.len());
    value.insert("addresses".into(), addresses.into());
    let text = toml::to_string(&value).map_err(anyhow::Error::from)?;
    output::line(text.trim_end())
}

#[cfg(feature = "schema")]
fn schema() -> Result<(), Failure> {
    output::json(&heddle_scenario::fabric_schema())
}

#[cfg(not(feature = "schema"))]
fn schema() -> Result<(), Failure> {
    Err(crate::features::left_out("JSON Schema"))
}
