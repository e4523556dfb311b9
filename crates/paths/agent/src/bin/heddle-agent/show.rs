//! The status, for people and as JSON.

use std::io::{self, ErrorKind};
use std::path::Path;

use heddle_agent::{ConnectionStatus, State, Status, admin};
use heddle_program::{Common, Failure, output, table};

pub(crate) fn status(socket: &Path, common: &Common) -> Result<(), Failure> {
    let status = admin::status(socket).map_err(|error| told(&error, socket))?;
    if common.json { output::json(&status) } else { print(&status) }
}

fn told(error: &io::Error, socket: &Path) -> Failure {
    let socket = socket.display();
    match error.kind() {
        ErrorKind::PermissionDenied => Failure::advised(
            format!("{socket}: {error}"),
            "the socket is root's and the agent's own user's: try it with sudo",
        ),
        _ => Failure::advised(
            format!("no agent answers at {socket}: {error}"),
            "heddle agent run starts one; --admin names its socket",
        ),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_of_another_user_is_not_an_agent_that_is_missing() {
        let text = |kind: ErrorKind| told(&kind.into(), Path::new("a.sock")).report(|_| None).text;
        assert_eq!(
            text(ErrorKind::PermissionDenied),
            "error: a.sock: permission denied\nhelp: the socket is root's and the agent's own user's: try it with sudo"
        );
        assert!(text(ErrorKind::NotFound).starts_with("error: no agent answers at a.sock"));
    }
}
