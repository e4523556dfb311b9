//! `fabric.routing` and `fabric.intermediate`.

use std::collections::BTreeSet;

use heddle_config::Problem;

use crate::raw::{self, GroupRouting, Options};
use crate::{Fabric, Graph, GroupDraw, NonMinimal, PathChoice, Routing, Scheme};

/// Routing between the groups of `graph`.
pub(super) fn resolve(options: &Options, graph: &Graph) -> Result<Option<NonMinimal>, Problem> {
    if options.routing.is_some() && graph.routing != Routing::Minimal {
        return Err(Problem::at("routing", "packets of this fabric do not go from group to group")
            .help("leave it out, or take `kind = \"dragonfly\"` or a file with `routing = \"minimal\"`"));
    }
    let choice = match options.routing {
        None | Some(GroupRouting::Minimal) => None,
        Some(GroupRouting::Valiant) => Some(PathChoice::Valiant),
        Some(GroupRouting::UgalL) => Some(PathChoice::UgalL),
        Some(GroupRouting::UgalG) => Some(PathChoice::UgalG),
    };
    let groups: BTreeSet<u16> = graph.nodes.iter().filter_map(|node| node.pod).collect();
    if let (Some(choice), 0..=2) = (choice, groups.len()) {
        let message = format!("{} needs a third group, between those of both ends", choice.name());
        return Err(Problem::at("routing", message).help("`routing = \"minimal\"`, or more groups"));
    }
    // With `routing = "minimal"` it waits for another value, as in a sweep.
    if options.routing.is_none() && options.intermediate.is_some() {
        return Err(Problem::at(
            "intermediate",
            "the default routing, \"minimal\", has no intermediate group",
        )
        .help("`routing = \"valiant\"`, or leave it out"));
    }
    let draw = match options.intermediate {
        None | Some(raw::Intermediate::Flow) => GroupDraw::Flow,
        Some(raw::Intermediate::Packet) => GroupDraw::Packet,
    };
    Ok(choice.map(|choice| NonMinimal { choice, draw }))
}

/// Schemes that have tables of destinations, or encode paths, know minimal paths only.
pub(super) fn check(fabric: &Fabric, scheme: &Scheme) -> Result<(), Problem> {
    let Some(NonMinimal { choice, .. }) = fabric.non_minimal else { return Ok(()) };
    match scheme {
        Scheme::Ecmp
        | Scheme::EcmpNs2
        | Scheme::Spray
        | Scheme::Drill(_)
        | Scheme::LetItFlow(_)
        | Scheme::Ideal => Ok(()),
        _ => {
            let (scheme, routing) = (scheme.name(), choice.name());
            let message =
                format!("{scheme} knows minimal paths only; this fabric's routing is {routing}");
            let help = "\"ecmp\", \"letitflow\", \"drill\" or \"spray\", or `fabric.routing = \"minimal\"`";
            Err(Problem::at("scheme.kind", message).help(help))
        }
    }
}
