//! A fabric file.

use heddle_config::Problem;
use heddle_transport::Control;

use super::{addresses, cflb_network, fabric, in_fabric};
use crate::graph::check_reachable;
use crate::source::Files;
use crate::{FabricFile, raw};

/// Resolves a fabric file.
pub(crate) fn fabric_file(
    file: &raw::FabricFile,
    files: &dyn Files,
) -> Result<FabricFile, Problem> {
    let resolved = fabric::resolve(&file.fabric, Control::NewReno, files).map_err(in_fabric)?;
    let graph = &resolved.fabric.graph;
    if graph.interfaces() > 1 {
        return Err(in_fabric(
            Problem::at("interfaces", "a host of a fabric file has one address")
                .help("one link a host; scenarios can have more"),
        ));
    }
    if resolved.fabric.non_minimal.is_some() {
        return Err(in_fabric(
            Problem::at("routing", "paths of a fabric file are minimal")
                .help("leave it out; scenarios can have other routing"),
        ));
    }
    check_reachable(graph, |link| !resolved.down.contains(&link)).map_err(in_fabric)?;
    let cflb = cflb_network::resolve(&file.cflb, graph)?;
    let addresses = addresses::resolve(&file.addresses, graph, cflb.constants.field)?;
    Ok(FabricFile { fabric: resolved.fabric, cflb, addresses })
}
