//! `heddle lb backend`.

use std::path::Path;

use heddle_program::{
    Common, Failure,
    output::{self, counted},
};
use heddled::admin::{BackendStatus, Named, NewBackend, NewBackends, Request, SharedEdit};
use heddled::config::{BackendEntry, BackendState};

use super::backends::table_of;
use crate::args::{Add, Backend, BackendCommand, Remove};
use crate::daemon::Daemon;

/// The end of what these commands do.
const UNTIL: &str =
    "until the next reload or restart: change the configuration, and the other balancers, too";

/// The same of changes on all balancers.
const UNTIL_RESET: &str = "on all balancers, until heddle lb changes reset";

pub(crate) fn backend(args: &Backend, socket: &Path, common: &Common) -> Result<(), Failure> {
    let mut daemon = Daemon::connect(socket)?;
    let (changed, note) = match &args.command {
        BackendCommand::Add(args) => {
            let added = daemon.changed(&addition(args))?;
            (added, format!("{} is added {}", args.name, until(args.all)))
        }
        BackendCommand::Remove(args) => {
            let removed = daemon.changed(&removal(args))?;
            let note = removal_note(&args.name, &removed, until(args.all));
            (removed, note)
        }
    };
    if common.json {
        return output::json(&changed);
    }
    output::line(table_of(&changed))?;
    if common.quiet { Ok(()) } else { output::line(note) }
}

fn addition(args: &Add) -> Request {
    let new = |(service, address): &(String, std::net::IpAddr)| NewBackend {
        service: service.clone(),
        backend: BackendEntry {
            name: args.name.clone(),
            address: *address,
            weight: args.weight,
            state: if args.drain { BackendState::Drain } else { BackendState::Up },
            sorry: args.sorry,
            join_address: args.join_address,
            server_id: args.server_id.clone(),
            id: args.id,
        },
    };
    let new = NewBackends { backends: args.places.iter().map(new).collect() };
    if args.all { Request::Shared(SharedEdit::Add(new)) } else { Request::Add(new) }
}

fn removal(args: &Remove) -> Request {
    let (service, backend) = (args.service.clone(), args.name.clone());
    match args.all {
        true => Request::Shared(SharedEdit::Remove(Named { service, backend })),
        false => Request::Remove { service, backend },
    }
}

/// The end of what a command does, on all balancers or on one.
fn until(all: bool) -> &'static str {
    if all { UNTIL_RESET } else { UNTIL }
}

fn removal_note(name: &str, removed: &[BackendStatus], until: &str) -> String {
    match removed.iter().map(|backend| backend.flows).sum() {
        0 => format!("{name} is removed {until}"),
        flows => {
            let flows = counted(flows, "flow");
            format!("{name} is removed {until}; {flows} left, which may end there")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::backends::example;

    #[test]
    fn a_removal_names_the_flows_that_are_left() {
        let idle = BackendStatus { flows: 0, ..example("web", "be1") };
        assert!(
            removal_note("be1", &[idle], UNTIL).starts_with("be1 is removed until the next reload")
        );
        let note =
            removal_note("be1", &[example("web", "be1"), example("dns", "be1")], UNTIL_RESET);
        assert!(note.ends_with("; 24 flows left, which may end there"), "{note}");
    }
}
