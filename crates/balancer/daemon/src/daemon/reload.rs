//! The configuration, read again.

use std::path::Path;
use std::time::SystemTime;

use super::{Core, DaemonError};
use crate::config::{self, Config};

/// Reads and checks the configuration.
pub(super) fn read(path: &Path) -> Result<Config, DaemonError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| DaemonError::Read { path: path.into(), error })?;
    Ok(config::load(&path.display().to_string(), &text)?)
}

impl Core {
    /// Takes the file's new state over, or says why not and leaves all as it was. What needs a restart is said, and stays as it is.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn reload(&mut self) -> Result<Vec<String>, String> {
        let result = self.try_reload();
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

    fn try_reload(&mut self) -> Result<Vec<String>, String> {
        let mut new = read(&self.path).map_err(|error| error.to_string())?;
        let mut said = differences(&self.config, &new);
        said.extend(keep_fixed(&self.config, &mut new));
        self.read_keys(&new).map_err(|error| error.to_string())?;
        self.config = new;
        self.forget_gone();
        self.apply_settings().map_err(|error| error.to_string())?;
        Ok(said)
    }

    /// What was said of backends that are gone does not count for others that may get their names.
    fn forget_gone(&mut self) {
        let ids: Vec<_> =
            self.config.services.iter().flat_map(|s| &s.backends).map(|b| b.id).collect();
        self.health.retain(|id, _| ids.contains(id));
        self.drained.retain(|id, _| ids.contains(id));
    }
}

/// What is only read at start keeps its old value.
fn keep_fixed(old: &Config, new: &mut Config) -> Vec<String> {
    let mut said = Vec::new();
    let mut fixed = |what: &str, same: bool| {
        if !same {
            said.push(format!("{what} changes with the next start"));
        }
    };
    fixed("[tables]", old.sizes == new.sizes);
    fixed("[balancer]", old.balancer == new.balancer);
    fixed("where the balancers are known from", old.membership == new.membership);
    new.sizes = old.sizes;
    new.balancer = old.balancer.clone();
    new.membership = old.membership.clone();
    said
}

fn differences(old: &Config, new: &Config) -> Vec<String> {
    let mut said = Vec::new();
    for service in &new.services {
        match old.services.iter().find(|other| other.name == service.name) {
            None => said.push(format!("service {} is new", service.name)),
            Some(before) if before == service => {}
            Some(before) => said.extend(backend_differences(before, service)),
        }
    }
    let gone =
        old.services.iter().filter(|s| new.services.iter().all(|other| other.name != s.name));
    said.extend(gone.map(|service| format!("service {} is gone", service.name)));
    if old.timeouts != new.timeouts || old.limits != new.limits {
        said.push("timeouts or limits have changed".into());
    }
    said
}

fn backend_differences(old: &config::Service, new: &config::Service) -> Vec<String> {
    let mut said = Vec::new();
    let name = &new.name;
    for backend in &new.backends {
        match old.backends.iter().find(|other| other.id == backend.id) {
            None => said.push(format!("service {name}: backend {} is new", backend.name)),
            Some(before) if before != backend => {
                said.push(format!("service {name}: backend {} has changed", backend.name));
            }
            Some(_) => {}
        }
    }
    let gone = old.backends.iter().filter(|b| new.backends.iter().all(|other| other.id != b.id));
    said.extend(gone.map(|backend| format!("service {name}: backend {} is gone", backend.name)));
    if said.is_empty() {
        said.push(format!("service {name} has changed"));
    }
    said
}
