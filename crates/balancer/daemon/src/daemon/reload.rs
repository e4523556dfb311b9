//! Reload of the configuration.

use std::path::Path;
use std::time::SystemTime;

use heddle_balancer_maps::interface_index;
use heddle_daemon::notify;

use super::core::{SEED_CHANGED, Secrets, changes_seed};
use super::event_sources;
use super::shared::Shared;
use super::{Core, DaemonError, tables};
use crate::config::{self, Config};

/// Reads and checks the configuration.
pub(super) fn read(path: &Path) -> Result<Config, DaemonError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| DaemonError::Read { path: path.into(), error })?;
    Ok(config::load(&path.display().to_string(), &text)?)
}

impl Core {
    /// Replaces the configuration by the file's, and returns the changes in words. Settings that
    /// need a restart are among them, and stay as they are.
    ///
    /// # Errors
    /// The reason why the configuration, keys, health, drains and maps have all stayed as they
    /// were: a wrong file, an unreadable secret, no room in the maps, or a write that the kernel
    /// refused.
    pub fn reload(&mut self) -> Result<Vec<String>, String> {
        // Before it is ready, the end of a reload would be taken for the end of the start.
        if self.ready {
            notify::reloading();
        }
        let result = self.try_reload();
        if self.ready {
            notify::reloaded(result.as_ref().err().map(String::as_str));
        }
        match &result {
            Ok(changes) => {
                self.counts.reloads += 1;
                self.loaded = SystemTime::now();
                tracing::info!(?changes, "the configuration was read again");
            }
            Err(error) => {
                self.counts.failed_reloads += 1;
                tracing::error!(%error, "the configuration stays as it was");
            }
        }
        result
    }

    /// Everything new is made first, and takes the old one's place when the maps have it.
    fn try_reload(&mut self) -> Result<Vec<String>, String> {
        let mut config = read(&self.path).map_err(|error| error.to_string())?;
        let old = &self.state.inputs;
        check_interfaces(&old.config, &config)?;
        if !self.probes_forwarding && event_sources::probes_forwarding(&config) {
            return Err(NOT_OPENED.into());
        }
        let fixed = keep_fixed(&old.config, &mut config);
        let secrets = Secrets::read(&config).map_err(|error| error.to_string())?;
        let keys = secrets.keys(old.keys.seed).map_err(|error| error.to_string())?;
        if changes_seed(old.keys.maglev_seed, keys.maglev_seed) {
            return Err(SEED_CHANGED.into());
        }
        let shared = Shared::new(&config, &self.state.view.changes);
        let mut changes = differences(&old.config, &shared.base);
        changes.extend(fixed);
        changes.extend(without_backend(&shared.base));
        if old.keys.steering != keys.steering {
            changes.push("the secrets of steering messages have changed".into());
        }
        let inputs = old.with(shared.base.clone(), keys);
        let replaced = self.state.replace_inputs(inputs, &mut self.balancer.maps);
        replaced.map_err(|error| error.to_string())?;
        self.file = config;
        self.set_shared(shared);
        Ok(changes)
    }
}

/// Sockets that need a capability are opened at the start alone.
const NOT_OPENED: &str = "health.through = \"forwarding\" is new, and its sockets are opened at the start only: restart heddled, which loses no packet";

/// Refuses interfaces that are new in the file and not there: the next start would fail.
fn check_interfaces(old: &Config, new: &Config) -> Result<(), String> {
    let known = &old.balancer.interfaces;
    let added = new.balancer.interfaces.iter().filter(|name| !known.contains(name));
    for name in added {
        interface_index(name)
            .map_err(|error| format!("balancer.interfaces: {error}\nhelp: ip link lists them"))?;
    }
    Ok(())
}

/// Gives settings that are only read at the start their old values.
fn keep_fixed(old: &Config, new: &mut Config) -> Vec<String> {
    let tables = tables::differences(&old.sizes.entries(), &new.sizes.entries());
    let emptied =
        |key| format!("[tables] {key} changes with the next start, which empties the tables");
    let mut changes: Vec<String> = tables.into_iter().map(emptied).collect();
    let mut fixed = |what: &str, same: bool| {
        if !same {
            changes.push(format!("{what} changes with the next start"));
        }
    };
    fixed("[balancer]", old.balancer == new.balancer);
    fixed("where the balancers are known from", old.membership == new.membership);
    new.sizes = old.sizes;
    new.balancer = old.balancer.clone();
    new.membership = old.membership.clone();
    changes
}

/// Services that drop their packets until a command adds a backend.
fn without_backend(config: &Config) -> impl Iterator<Item = String> + use<'_> {
    let empty = config.services.iter().filter(|service| service.backends.is_empty());
    empty.map(|service| format!("service {} has no backend: its packets are dropped", service.name))
}

fn differences(old: &Config, new: &Config) -> Vec<String> {
    let mut changes = Vec::new();
    for service in &new.services {
        match old.services.iter().find(|other| other.name == service.name) {
            None => changes.push(format!("service {} is new", service.name)),
            Some(before) if before == service => {}
            Some(before) => changes.extend(backend_differences(before, service)),
        }
    }
    let gone =
        old.services.iter().filter(|s| new.services.iter().all(|other| other.name != s.name));
    changes.extend(gone.map(|service| format!("service {} is gone", service.name)));
    if old.timeouts != new.timeouts || old.limits != new.limits {
        changes.push("timeouts or limits have changed".into());
    }
    if old.drain_udp != new.drain_udp {
        changes.push("the limit of draining UDP flows has changed".into());
    }
    changes
}

fn backend_differences(old: &config::Service, new: &config::Service) -> Vec<String> {
    let mut changes = Vec::new();
    let name = &new.name;
    for backend in &new.backends {
        match old.backends.iter().find(|other| other.id == backend.id) {
            None => changes.push(format!("service {name}: backend {} is new", backend.name)),
            Some(before) if before != backend => {
                changes.push(format!("service {name}: backend {} has changed", backend.name));
            }
            Some(_) => {}
        }
    }
    let gone = old.backends.iter().filter(|b| new.backends.iter().all(|other| other.id != b.id));
    changes.extend(gone.map(|backend| format!("service {name}: backend {} is gone", backend.name)));
    if changes.is_empty() {
        changes.push(format!("service {name} has changed"));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::testing::World;

    #[test]
    fn a_service_without_a_backend_is_told() {
        let mut config = World::start().config;
        assert_eq!(without_backend(&config).count(), 0);
        config.services[0].backends.clear();
        let told: Vec<String> = without_backend(&config).collect();
        assert_eq!(told, ["service web has no backend: its packets are dropped"]);
    }
}
