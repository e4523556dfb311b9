//! Changes that all balancers share: the writes that a command takes, and the configuration that
//! follows from what etcd has.
//!
//! The file is the lowest layer, then the shared changes, then what commands have changed on this
//! balancer alone. A shared change of a backend that comes later than such a command replaces it.

mod in_force;

pub(super) use in_force::Shared;

use std::collections::BTreeSet;

use super::Core;
use super::answers::edit::{text, with_added, with_change};
use super::answers::{named_backends, refused};
use super::event_sources::SourceStatus;
use super::message::Prepared;
use super::state::Inputs;
use crate::admin::{
    BackendChange, Backends, Named, NewBackends, Problem, ProblemKind, Reply, Selection,
    SharedChange, SharedChanges, SharedEdit,
};
use crate::config::{Backend, Config};
use crate::members::Source;
use crate::shared::{Change, Place, Write};
use in_force::listed;

impl Core {
    /// The shared changes.
    pub(super) fn shared_changes(&self) -> SharedChanges {
        let mut list = self.shared.list(self.state.view.source == Source::Current);
        // Those that are not in force are there, too.
        if let Some(error) = &self.shared.error {
            let newer = self.state.view.changes.entries.iter();
            let newer =
                newer.filter(|(key, entry)| self.shared.changes.entries.get(*key) != Some(entry));
            list.changes.extend(newer.map(|(key, entry)| listed(key, &entry.text, Some(error))));
        }
        list
    }

    /// The writes that make a change, after all checks that the command gets on one balancer.
    pub(super) fn prepare(
        &self,
        edit: &SharedEdit,
        sources: &SourceStatus,
    ) -> Result<Prepared, Problem> {
        if self.state.view.source != Source::Current {
            return Err(Problem::new(ProblemKind::Unavailable, without_etcd(edit)));
        }
        let (writes, reply) = match edit {
            SharedEdit::Add(new) => (self.additions(new)?, None),
            SharedEdit::Change { of, change } => (self.modifications(of, *change)?, None),
            SharedEdit::Remove(of) => {
                let Named { service, backend } = of.clone();
                let selection = Selection { service, backend: Some(backend) };
                let before = self.selected(&selection, sources);
                let before = before.unwrap_or(Backends { backends: Vec::new() });
                (self.removals(of)?, Some(Reply::Backends(before)))
            }
            SharedEdit::Reset(of) => {
                let taken_back = self.matching(of)?;
                let changes = &self.state.view.changes;
                let writes = taken_back.iter().map(|change| changes.removal(&change.key)).collect();
                let list = SharedChanges { changes: taken_back, current: true };
                (writes, Some(Reply::Changes(list)))
            }
        };
        self.check_writes(&writes)?;
        Ok(Prepared { writes, reply })
    }

    /// The answer to a change that etcd has since a revision; none until this balancer has read it.
    pub(super) fn confirm(
        &self,
        edit: &SharedEdit,
        revision: i64,
        sources: &SourceStatus,
    ) -> Option<Result<Reply, Problem>> {
        if self.state.view.changes.revision < revision {
            return None;
        }
        if let Some(error) = &self.shared.error {
            let message = format!(
                "the change is in etcd, and other balancers follow it; this one cannot: {error}"
            );
            return Some(Err(refused(message)));
        }
        let selected = |is_meant: &dyn Fn(&str, &str) -> bool| {
            let mut all = self.selected(&Selection::default(), sources)?;
            all.backends.retain(|backend| is_meant(&backend.service, &backend.name));
            Ok(Reply::Backends(all))
        };
        Some(match edit {
            SharedEdit::Add(NewBackends { backends }) => selected(&|service, name| {
                backends.iter().any(|new| (&*new.service, &*new.backend.name) == (service, name))
            }),
            SharedEdit::Change { of, .. } | SharedEdit::Remove(of) => selected(&|service, name| {
                of.backend == name && of.service.as_ref().is_none_or(|named| named == service)
            }),
            SharedEdit::Reset(_) => Ok(Reply::Changes(self.shared_changes())),
        })
    }

    fn additions(&self, NewBackends { backends }: &NewBackends) -> Result<Vec<Write>, Problem> {
        with_added(&self.shared.base, backends)?;
        let writes = backends.iter().map(|new| {
            let (service, backend) = (new.service.clone(), new.backend.name.clone());
            self.write(&Place { service, backend }, Change::Add(new.backend.clone()))
        });
        Ok(writes.collect())
    }

    fn modifications(&self, of: &Named, change: BackendChange) -> Result<Vec<Write>, Problem> {
        let inputs = Inputs::new(self.shared.base.clone(), self.state.inputs.keys);
        with_change(&inputs, of.service.as_deref(), &of.backend, change)?;
        let places = self.places(of)?.into_iter();
        let writes = places.map(|place| {
            let before = self.state.view.changes.get(&place);
            self.write(&place, Change::modified(before, change))
        });
        Ok(writes.collect())
    }

    fn removals(&self, of: &Named) -> Result<Vec<Write>, Problem> {
        let places = self.places(of)?;
        let without = self.shared.base.without_backend(of.service.as_deref(), &of.backend);
        without.map_err(|error| refused(text(&error)))?;
        Ok(places.iter().map(|place| self.write(place, Change::Remove)).collect())
    }

    /// The places of a backend that all balancers have; at least one.
    fn places(&self, Named { service, backend }: &Named) -> Result<Vec<Place>, Problem> {
        let base = &self.shared.base;
        named_backends(base, service.as_deref(), backend)?;
        let with_it = base.owners().filter(|of| {
            service.as_ref().is_none_or(|name| *name == of.name)
                && of.backends.iter().any(|other| other.name == *backend)
        });
        Ok(with_it.map(|of| Place { service: of.name.clone(), backend: backend.clone() }).collect())
    }

    fn write(&self, place: &Place, change: Change) -> Write {
        self.state.view.changes.write(place, change, &self.config().balancer.name)
    }

    /// The changes that a command takes back. Without a name all of them, those that cannot be read
    /// included.
    fn matching(&self, of: &Selection) -> Result<Vec<SharedChange>, Problem> {
        let is_named =
            |wanted: &Option<String>, name: &Option<String>| wanted.is_none() || wanted == name;
        let mut changes = self.shared_changes().changes;
        changes.retain(|change| {
            let by_key = of.service.is_none() && of.backend.as_ref() == Some(&change.key);
            let is_at = is_named(&of.service, &change.service);
            by_key || is_at && is_named(&of.backend, &change.backend)
        });
        if changes.is_empty() && *of != Selection::default() {
            let message = "there is no such shared change; heddle lb changes list has all of them";
            return Err(Problem::new(ProblemKind::NotFound, message));
        }
        Ok(changes)
    }

    /// Refuses writes that would have no effect, would take that of others away, or for which this
    /// balancer has no room.
    fn check_writes(&self, writes: &[Write]) -> Result<(), Problem> {
        let changes = self.state.view.changes.with(writes);
        let after = Shared::new(&self.file, &changes);
        let newly = after.ignored.iter().find(|(key, reason)| {
            let is_written = writes.iter().any(|write| write.key == **key);
            is_written || self.shared.ignored.get(*key) != Some(reason)
        });
        if let Some((key, reason)) = newly {
            return Err(refused(format!("the shared change {key} would be ignored: {reason}")));
        }
        let inputs = self.inputs_with(&after);
        let room = self.state.check_room(&inputs, &self.balancer.maps);
        room.map_err(|error| refused(error.to_string()))
    }

    /// The inputs with other shared changes.
    fn inputs_with(&self, shared: &Shared) -> Inputs {
        let changed = shared.changes.differences(&self.shared.changes);
        let old = &self.state.inputs;
        let mut inputs = old.with(merged(&old.config, &shared.base, &changed), old.keys);
        for (place, backend) in placed(&shared.base) {
            if changed.contains(&place) {
                inputs.drained.remove(&backend.id);
            }
        }
        inputs
    }

    /// Makes the maps follow the shared changes that are known now. A failure is logged; the next
    /// call tries again.
    pub(super) fn follow_shared(&mut self) {
        if self.shared.error.is_none() && self.state.view.changes == self.shared.changes {
            return;
        }
        let shared = Shared::new(&self.file, &self.state.view.changes);
        let inputs = self.inputs_with(&shared);
        match self.state.replace_inputs(inputs, &mut self.balancer.maps) {
            Ok(()) => {
                let changed = shared.changes.differences(&self.shared.changes);
                for Place { service, backend } in changed {
                    tracing::info!(service, backend, "a shared change was read from etcd");
                }
                self.set_shared(shared);
            }
            Err(error) => {
                let error = error.to_string();
                if self.shared.error.as_ref() != Some(&error) {
                    tracing::error!(%error, "the shared changes in etcd are not in force");
                }
                self.shared.error = Some(error);
            }
        }
    }

    /// Notes the shared changes that are in force, and logs those that are newly ignored.
    pub(super) fn set_shared(&mut self, shared: Shared) {
        for (key, reason) in &shared.ignored {
            if self.shared.ignored.get(key) != Some(reason) {
                tracing::warn!(key, reason, "a shared change in etcd is ignored");
            }
        }
        self.shared = shared;
    }
}

/// The reason why a change is refused while etcd does not answer, and what can be done instead.
fn without_etcd(edit: &SharedEdit) -> &'static str {
    match edit {
        SharedEdit::Reset(_) => {
            "nothing is taken back: etcd does not answer. The shared changes stay in force; try again when heddle lb status no longer warns of it"
        }
        _ => {
            "no balancer is changed, this one included: etcd does not answer. Without --all (scope=cluster) a change is made on this balancer alone"
        }
    }
}

/// The configuration in which the backends at these places are those of `base`, and all others stay
/// as they are in `current`. If that contradicts itself, `base`: what commands have changed on this
/// balancer alone gives way.
fn merged(current: &Config, base: &Config, places: &BTreeSet<Place>) -> Config {
    let mut config = base.clone();
    for service in &mut config.services {
        let Some(now) = current.services.iter().find(|other| other.name == service.name) else {
            continue;
        };
        let is_changed = |backend: &Backend| {
            let (service, backend) = (service.name.clone(), backend.name.clone());
            places.contains(&Place { service, backend })
        };
        let (changed, unchanged): (Vec<_>, Vec<_>) =
            std::mem::take(&mut service.backends).into_iter().partition(&is_changed);
        drop(unchanged);
        let kept = now.backends.iter().filter(|backend| !is_changed(backend)).cloned();
        service.backends = kept.chain(changed).collect();
    }
    config.checked().unwrap_or_else(|error| {
        tracing::warn!(
            error = error.message(),
            "changes on this balancer alone give way to those of all balancers"
        );
        base.clone()
    })
}

/// All backends, and their places.
fn placed(config: &Config) -> impl Iterator<Item = (Place, &Backend)> {
    config.services.iter().flat_map(|service| {
        service.backends.iter().map(|backend| {
            let (service, backend_name) = (service.name.clone(), backend.name.clone());
            (Place { service, backend: backend_name }, backend)
        })
    })
}
