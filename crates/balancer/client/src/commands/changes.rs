//! `heddle lb changes`, and the requests of other commands with `--all`.

use std::path::Path;

use heddle_program::{
    Common, Failure,
    output::{self, counted},
    table::{self, Table},
};
use heddled::admin::{
    BackendChange, Named, Reply, Request, Selection, SharedChange, SharedChanges, SharedEdit,
    SharedKind,
};
use heddled::config::BackendState;

use crate::args::{Changes, ChangesCommand, Reset};
use crate::daemon::{Daemon, unexpected};

pub(crate) fn changes(args: &Changes, socket: &Path, common: &Common) -> Result<(), Failure> {
    let mut daemon = Daemon::connect(socket)?;
    match &args.command {
        ChangesCommand::List => list(&ask(&mut daemon, &Request::Changes)?, common),
        ChangesCommand::Reset(args) => {
            let taken_back = ask(&mut daemon, &reset(args))?;
            match common.json {
                true => output::json(&taken_back),
                false => output::line(reset_note(&taken_back.changes)),
            }
        }
    }
}

/// A request to weigh or drain a backend, on this balancer or on all.
pub(crate) fn changing(
    backend: &str,
    service: Option<&String>,
    change: BackendChange,
    all: bool,
) -> Request {
    let (service, backend) = (service.cloned(), backend.to_owned());
    match all {
        true => Request::Shared(SharedEdit::Change { of: Named { service, backend }, change }),
        false => Request::Change { service, backend, change },
    }
}

fn ask(daemon: &mut Daemon, request: &Request) -> Result<SharedChanges, Failure> {
    match daemon.ask(request)? {
        Reply::Changes(changes) => Ok(changes),
        other => Err(unexpected(&other)),
    }
}

fn reset(args: &Reset) -> Request {
    let selection = Selection { service: args.service.clone(), backend: args.backend.clone() };
    Request::Shared(SharedEdit::Reset(selection))
}

fn reset_note(taken_back: &[SharedChange]) -> String {
    match taken_back.len() {
        0 => "there are no shared changes".to_owned(),
        number => format!(
            "{} taken back: the file of each balancer counts again",
            counted(number as u64, "change")
        ),
    }
}

fn list(changes: &SharedChanges, common: &Common) -> Result<(), Failure> {
    if common.json {
        return output::json(changes);
    }
    match changes.changes.is_empty() {
        true => output::line("no changes are shared: the file of each balancer counts")?,
        false => output::line(table_of(&changes.changes))?,
    }
    if changes.current || common.quiet {
        return Ok(());
    }
    output::line("etcd does not answer: these are the last that were read, and none can be made")
}

fn table_of(changes: &[SharedChange]) -> Table {
    let mut table = table::of_words(&["service", "backend", "change", "by", "here"]);
    for change in changes {
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".into());
        let (service, backend) = match &change.backend {
            Some(_) => (name(&change.service), name(&change.backend)),
            None => (change.key.clone(), "-".into()),
        };
        let here = match &change.ignored {
            Some(reason) => format!("ignored: {reason}"),
            None => "in force".into(),
        };
        table.add_row([service, backend, words(change), name(&change.by), here]);
    }
    table
}

fn words(change: &SharedChange) -> String {
    let address = change.address.map(|address| format!("added: {address}"));
    let weight = change.weight.map(|weight| format!("weight {weight}"));
    let state = match (change.kind, change.state) {
        (None, _) => Some("unreadable"),
        (Some(SharedKind::Remove), _) => Some("removed"),
        (_, Some(BackendState::Drain)) => Some("drained"),
        (_, Some(BackendState::Maintenance)) => Some("in maintenance"),
        (Some(SharedKind::Modify), Some(BackendState::Up)) => Some("not drained"),
        (_, Some(BackendState::Up) | None) => None,
    };
    let all = [address, weight, state.map(str::to_owned)];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_with_what_this_balancer_makes_of_them() {
        let change = |key: &str, kind, weight, state, ignored: Option<&str>| {
            let names = key.split_once('/');
            SharedChange {
                key: key.into(),
                service: names.map(|(service, _)| service.into()),
                backend: names.map(|(_, backend)| backend.into()),
                kind,
                address: (kind == Some(SharedKind::Add)).then_some([10, 0, 1, 4].into()),
                weight,
                state,
                by: kind.map(|_| "lb1".into()),
                ignored: ignored.map(str::to_owned),
            }
        };
        let (modify, drain) = (Some(SharedKind::Modify), Some(BackendState::Drain));
        let all = [
            change("web/be1", modify, Some(3), drain, None),
            change("web/be2", Some(SharedKind::Remove), None, None, None),
            change("web/be4", Some(SharedKind::Add), Some(1), Some(BackendState::Up), None),
            change("x", None, None, None, Some("the key is not of the form SERVICE/BACKEND")),
        ];
        insta::assert_snapshot!(table_of(&all), @r"
        ┌─────────┬─────────┬───────────────────────────┬─────┬─────────────────────────────────────────────────────┐
        │ service ┆ backend ┆ change                    ┆ by  ┆ here                                                │
        ╞═════════╪═════════╪═══════════════════════════╪═════╪═════════════════════════════════════════════════════╡
        │ web     ┆ be1     ┆ weight 3, drained         ┆ lb1 ┆ in force                                            │
        │ web     ┆ be2     ┆ removed                   ┆ lb1 ┆ in force                                            │
        │ web     ┆ be4     ┆ added: 10.0.1.4, weight 1 ┆ lb1 ┆ in force                                            │
        │ x       ┆ -       ┆ unreadable                ┆ -   ┆ ignored: the key is not of the form SERVICE/BACKEND │
        └─────────┴─────────┴───────────────────────────┴─────┴─────────────────────────────────────────────────────┘
        ");
        let note = reset_note(&all[..1]);
        assert_eq!(note, "1 change taken back: the file of each balancer counts again");
    }
}
