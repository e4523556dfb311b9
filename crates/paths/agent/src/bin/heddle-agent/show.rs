//! The status, for people and as JSON.

use std::path::Path;

use heddle_agent::{ConnectionStatus, State, Status, admin};
use heddle_program::{Common, Failure, output, table};

pub(crate) fn status(socket: &Path, common: &Common) -> Result<(), Failure> {
    let status = admin::status(socket).map_err(|error| {
        Failure::advised(
            format!("no agent answers at {}: {error}", socket.display()),
            "heddle agent run starts one; --admin names its socket, which is its own user's and root's",
        )
    })?;
    if common.json { output::json(&status) } else { print(&status) }
}

fn print(status: &Status) -> Result<(), Failure> {
    if status.connections.is_empty() {
        output::line("no MPTCP connection of this host")?;
    }
    for one in &status.connections {
        connection(one)?;
    }
    let counters = status.counters;
    output::line(format_args!(
        "since the start: {} connections ({} outside the fabric), {} subflows opened, {} established, {} failed; refused by the kernel {}, by the path service {}",
        counters.connections,
        counters.outside,
        counters.opened,
        counters.established,
        counters.failed,
        counters.refused,
        counters.no_path,
    ))
}

fn connection(one: &ConnectionStatus) -> Result<(), Failure> {
    output::line(format_args!("{:08x}: {} to {}", one.token, one.local, one.remote))?;
    let mut rows = table::new(&["port", "state", "path"]);
    let first = if one.first_works { "first" } else { "first, failed" };
    rows.add_row([one.local.port().to_string(), first.to_owned(), one.first_path.join(" ")]);
    for subflow in &one.subflows {
        let state = match (subflow.state, subflow.disjoint) {
            (State::Opening, _) => "opening",
            (State::Failed, _) => "failed",
            (State::Established, _) if subflow.backup => "established, reserve",
            (State::Established, true) => "established",
            (State::Established, false) => "established, shares links",
        };
        rows.add_row([subflow.source_port.to_string(), state.to_owned(), subflow.path.join(" ")]);
    }
    output::line(rows)?;
    match &one.problem {
        Some(problem) => output::line(format_args!("  {problem}")),
        None => Ok(()),
    }
}
