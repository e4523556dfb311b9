//! `heddle lb backend`.

use std::path::Path;

use heddle_program::{Common, Failure, output::counted};
use heddled::admin::{BackendStatus, Named, NewBackend, NewBackends, Request, SharedEdit};
use heddled::config::{BackendEntry, BackendState};

use super::notes::{self, until};
use crate::args::{Add, Backend, BackendCommand, Remove};
use crate::daemon::Daemon;

pub(crate) fn backend(args: &Backend, socket: &Path, common: &Common) -> Result<(), Failure> {
    let mut daemon = Daemon::connect(socket)?;
    match &args.command {
        BackendCommand::Add(args) => {
            let added = daemon.changed(&addition(args))?;
            let note = format!("{} is added {}", args.name, until(args.all));
            notes::print(&added, &note, common)
        }
        BackendCommand::Remove(args) => {
            let removed = daemon.changed(&removal(args))?;
            let note = removal_note(&args.name, &removed, args.all);
            notes::print_with_warnings(&mut daemon, &removed, &note, common)
        }
    }
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

fn removal_note(name: &str, removed: &[BackendStatus], all: bool) -> String {
    let flows = match removed.iter().map(|backend| backend.flows).sum() {
        0 => String::new(),
        flows => format!("; {} left, which may end there", counted(flows, "flow")),
    };
    match all {
        true => format!("{name} is removed {}{flows}", until(all)),
        false => format!(
            "{name} is removed{flows}. A file that has it brings it back at the next reload or restart: take it out there, and on the other balancers"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::backends::example;

    #[test]
    fn a_removal_names_the_flows_that_are_left() {
        let idle = BackendStatus { flows: 0, ..example("web", "be1") };
        let note = removal_note("be1", &[idle], false);
        assert!(note.starts_with("be1 is removed. A file that has it brings it back"), "{note}");
        let note = removal_note("be1", &[example("web", "be1"), example("dns", "be1")], true);
        assert!(note.ends_with("; 24 flows left, which may end there"), "{note}");
    }
}
