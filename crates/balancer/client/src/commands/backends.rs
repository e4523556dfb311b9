//! `heddle lb backends`.

use std::path::Path;

use heddle_program::{
    Common, Failure, output,
    table::{self, Table},
};
use heddled::admin::BackendStatus;
use heddled::health::State;

use crate::daemon::Daemon;
use crate::format;

pub(crate) fn backends(socket: &Path, common: &Common) -> Result<(), Failure> {
    let backends = Daemon::connect(socket)?.backends()?;
    if common.json {
        return output::json(&backends);
    }
    output::line(table_of(&backends))
}

pub(crate) fn table_of(backends: &[BackendStatus]) -> Table {
    let header =
        ["service", "backend", "address", "weight", "state", "since", "flows", "packets", "bytes"];
    let mut table = table::new(&header);
    for column in 1..5 {
        if let Some(column) = table.column_mut(column).filter(|_| column != 3) {
            column.set_cell_alignment(table::CellAlignment::Left);
        }
    }
    for backend in backends {
        table.add_row([
            backend.service.clone(),
            backend.name.clone(),
            backend.address.to_string(),
            backend.weight.to_string(),
            state(backend),
            format::age(backend.since),
            backend.flows.to_string(),
            format::short(backend.packets as f64),
            format::short(backend.bytes as f64),
        ]);
    }
    table
}

/// The backend's state, with the reason if it is down or unreachable.
pub(crate) fn state(backend: &BackendStatus) -> String {
    let word = state_word(backend);
    let reason = match word {
        "down" => backend.reason.as_ref(),
        "unreachable" => backend.unreachable.as_ref(),
        _ => None,
    };
    let word = if backend.sorry { format!("{word} (sorry)") } else { word.into() };
    match reason {
        Some(reason) => format!("{word}: {reason}"),
        None => word,
    }
}

/// The backend's state; of several, the worst.
pub(crate) fn state_word(backend: &BackendStatus) -> &'static str {
    match (backend.health, backend.unreachable.is_some(), backend.draining) {
        (State::Down, ..) => "down",
        (_, true, _) => "unreachable",
        (_, _, true) => "draining",
        (State::Unknown, ..) => "not checked yet",
        (State::Up, ..) => "up",
    }
}

/// A healthy backend.
#[cfg(test)]
pub(crate) fn example(service: &str, name: &str) -> BackendStatus {
    BackendStatus {
        service: service.into(),
        name: name.into(),
        address: [10, 0, 1, 1].into(),
        weight: 1,
        health: State::Up,
        since: std::time::Duration::from_secs(90),
        reason: None,
        draining: false,
        sorry: false,
        unreachable: None,
        flows: 12,
        packets: 123_456,
        bytes: 98_765_432,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_follows_the_state() {
        let down = BackendStatus {
            health: State::Down,
            reason: Some("connection refused".into()),
            ..example("web", "be2")
        };
        let drained = BackendStatus { draining: true, ..example("web", "be3") };
        let sorry = BackendStatus { sorry: true, ..example("web", "be4") };
        insta::assert_snapshot!(table_of(&[example("web", "be1"), down, drained, sorry]), @r"
        ┌─────────┬─────────┬──────────┬────────┬──────────────────────────┬────────┬───────┬─────────┬───────┐
        │ service ┆ backend ┆ address  ┆ weight ┆ state                    ┆  since ┆ flows ┆ packets ┆ bytes │
        ╞═════════╪═════════╪══════════╪════════╪══════════════════════════╪════════╪═══════╪═════════╪═══════╡
        │ web     ┆ be1     ┆ 10.0.1.1 ┆      1 ┆ up                       ┆ 1m 30s ┆    12 ┆    123k ┆ 98.8M │
        │ web     ┆ be2     ┆ 10.0.1.1 ┆      1 ┆ down: connection refused ┆ 1m 30s ┆    12 ┆    123k ┆ 98.8M │
        │ web     ┆ be3     ┆ 10.0.1.1 ┆      1 ┆ draining                 ┆ 1m 30s ┆    12 ┆    123k ┆ 98.8M │
        │ web     ┆ be4     ┆ 10.0.1.1 ┆      1 ┆ up (sorry)               ┆ 1m 30s ┆    12 ┆    123k ┆ 98.8M │
        └─────────┴─────────┴──────────┴────────┴──────────────────────────┴────────┴───────┴─────────┴───────┘
        ");
    }

    #[test]
    fn the_worst_state_counts() {
        let all = BackendStatus {
            health: State::Down,
            unreachable: Some("no route leads there".into()),
            draining: true,
            ..example("web", "be1")
        };
        assert_eq!(state_word(&all), "down");
        assert_eq!(
            state(&BackendStatus { health: State::Up, ..all }),
            "unreachable: no route leads there"
        );
    }
}
