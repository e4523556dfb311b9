//! The shared changes that a balancer uses.

use std::collections::BTreeMap;

use crate::admin::{BackendChange, SharedChange, SharedChanges, SharedKind};
use crate::config::{BackendState, Config, Membership};
use crate::members::Known;
use crate::shared::{Change, Changes, Place, Value};

/// The shared changes that are in force.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct Shared {
    pub(in crate::daemon) changes: Changes,
    /// The file with these changes.
    pub(in crate::daemon) base: Config,
    /// The reasons why some have no effect, by key.
    pub(in crate::daemon) ignored: BTreeMap<String, String>,
    /// The reason why newer ones are not in force, if so.
    pub(super) error: Option<String>,
}

impl Shared {
    /// Changes on top of a file.
    pub(in crate::daemon) fn new(file: &Config, changes: &Changes) -> Shared {
        let (base, ignored) = file.with_changes(changes);
        Shared { changes: changes.clone(), base, ignored, error: None }
    }

    /// Those that the daemon before knew.
    pub(in crate::daemon) fn known(file: &Config, known: Option<&Known>) -> Shared {
        match (&file.membership, known) {
            (Membership::Etcd(_), Some(known)) => Shared::new(file, &known.changes),
            _ => Shared::new(file, &Changes::default()),
        }
    }

    /// The number of changes that have an effect.
    pub(in crate::daemon) fn used(&self) -> usize {
        self.changes.entries.len().saturating_sub(self.ignored.len())
    }

    /// The fault in them, in words.
    pub(in crate::daemon) fn warnings(&self) -> Vec<String> {
        let ignored = self.ignored.iter();
        let ignored = ignored.map(|(key, reason)| {
            format!("the shared change {key} is ignored: {reason}; to remove it: heddle lb changes reset '{key}'")
        });
        let error = self.error.iter();
        error
            .map(|error| format!("the shared changes in etcd are not in force: {error}"))
            .chain(ignored)
            .collect()
    }

    /// All of them, as a command lists them.
    pub(super) fn list(&self, current: bool) -> SharedChanges {
        let entries = self.changes.entries.iter();
        let changes = entries.map(|(key, entry)| listed(key, &entry.text, self.ignored.get(key)));
        SharedChanges { changes: changes.collect(), current }
    }
}

/// A shared change as a command lists it.
pub(super) fn listed(key: &str, value: &str, ignored: Option<&String>) -> SharedChange {
    let (place, value) = (Place::of(key), Value::read(value).ok());
    let (service, backend) = place.map(|place| (place.service, place.backend)).unzip();
    let (change, by) = value.map(|value| (value.change, value.by)).unzip();
    let unknown = SharedChange {
        key: key.to_owned(),
        service,
        backend,
        kind: None,
        address: None,
        weight: None,
        state: None,
        by,
        ignored: ignored.cloned(),
    };
    match change {
        None => unknown,
        Some(Change::Remove) => SharedChange { kind: Some(SharedKind::Remove), ..unknown },
        Some(Change::Add(backend)) => SharedChange {
            kind: Some(SharedKind::Add),
            address: Some(backend.address),
            weight: Some(backend.weight),
            state: Some(backend.state),
            ..unknown
        },
        Some(Change::Modify(BackendChange { weight, draining })) => SharedChange {
            kind: Some(SharedKind::Modify),
            weight,
            state: draining.map(|on| if on { BackendState::Drain } else { BackendState::Up }),
            ..unknown
        },
    }
}
