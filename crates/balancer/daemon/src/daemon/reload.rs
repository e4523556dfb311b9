//! Reload of the configuration.

use std::path::Path;
use std::time::SystemTime;

use heddle_balancer_maps::interface_index;
use heddle_daemon::notify;

use super::core::{SEED_CHANGED, Secrets, changes_seed};
use super::event_sources;
use super::shared::Shared;
use super::{Core, DaemonError, tables};
use crate::config::{self, Config, ServiceFault, without_usable_backend};

/// Reads and checks the configuration, whose mistakes are all in the error.
pub(super) fn read(path: &Path) -> Result<Config, DaemonError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| DaemonError::Read { path: path.into(), error })?;
    Ok(config::examine(&path.display().to_string(), &text).into_config()?)
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
        if !self.can_probe_forwarding && event_sources::probes_forwarding(&config) {
            return Err(NOT_OPENED.into());
        }
        let fixed = keep_fixed(&old.config, &mut config);
        let secrets = Secrets::read(&config).map_err(|error| error.to_string())?;
        let keys = secrets.keys(old.keys.seed).map_err(|error| error.to_string())?;
        if changes_seed(old.keys.maglev_seed, keys.maglev_seed) {
            return Err(SEED_CHANGED.into());
        }
        let shared = Shared::new(&config, &self.state.view.changes);
        refuse_unusable(&config, &shared.base)?;
        let mut changes = differences(&old.config, &shared.base);
        changes.extend(fixed.iter().cloned());
        if old.keys.steering != keys.steering {
            changes.push("the secrets of steering messages have changed".into());
        }
        let inputs = old.with(shared.base.clone(), keys);
        let replaced = self.state.replace_inputs(inputs, &mut self.balancer.maps);
        replaced.map_err(|error| error.to_string())?;
        self.file = config;
        self.pending = fixed;
        self.set_shared(shared);
        Ok(changes)
    }
}

/// Sockets that need a capability are opened at the start alone.
const NOT_OPENED: &str = "health.through = \"forwarding\" needs CAP_NET_RAW, which heddled did not have when it started: give it that and restart it, which loses no packet";

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
    for key in changed_keys(&old.balancer, &new.balancer) {
        fixed(&format!("[balancer] {key}"), false);
    }
    fixed("where the balancers are known from", old.membership == new.membership);
    new.sizes = old.sizes;
    new.balancer = old.balancer.clone();
    new.membership = old.membership.clone();
    changes
}

/// The keys of `[balancer]` that differ.
fn changed_keys(old: &config::Balancer, new: &config::Balancer) -> Vec<&'static str> {
    let pairs = [
        ("name", old.name == new.name),
        ("interfaces", old.interfaces == new.interfaces),
        ("addresses", (old.ipv4, old.ipv6) == (new.ipv4, new.ipv6) && old.member == new.member),
        ("accept_macs", old.accept_macs == new.accept_macs),
        ("invalid", old.forwards_invalid == new.forwards_invalid),
        ("admin", old.admin == new.admin),
        ("metrics", old.metrics == new.metrics),
        ("pin", old.pin == new.pin),
        ("state_dir", old.state_dir == new.state_dir),
    ];
    pairs.into_iter().filter(|(_, same)| !same).map(|(key, _)| key).collect()
}

/// Refuses a service without a usable backend, as `heddle lb check` does, unless the changes that all
/// balancers share give it one: a list that came out empty by a mistake drops nothing.
fn refuse_unusable(file: &Config, with_changes: &Config) -> Result<(), String> {
    for (written, in_force) in file.services.iter().zip(&with_changes.services) {
        let fault = without_usable_backend(written).and(without_usable_backend(in_force));
        if let Some(ServiceFault { message, help }) = fault {
            return Err(format!("service {}: {message}\nhelp: {help}", written.name));
        }
    }
    Ok(())
}

fn differences(old: &Config, new: &Config) -> Vec<String> {
    let mut changes = Vec::new();
    for service in &new.services {
        match old.services.iter().find(|other| other.name == service.name) {
            None => changes.push(format!("service {} is new", service.name)),
            Some(before) if before == service => {}
            Some(before) => changes.extend(service_differences(before, service)),
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

/// The changes of a service: of its backends, and whether there are others.
fn service_differences(old: &config::Service, new: &config::Service) -> Vec<String> {
    let mut changes = Vec::new();
    for backend in &new.backends {
        match old.backends.iter().find(|other| other.id == backend.id) {
            None => changes.push(format!("backend {} is new", backend.name)),
            Some(before) => changes.extend(backend_differences(before, backend)),
        }
    }
    let gone = old.backends.iter().filter(|b| new.backends.iter().all(|other| other.id != b.id));
    changes.extend(gone.map(|backend| format!("backend {} is gone", backend.name)));
    let alike = config::Service { backends: old.backends.clone(), ..new.clone() };
    let of_service = (alike != *old).then(|| format!("service {} has changed", new.name));
    let of_backends = changes.into_iter().map(|change| format!("service {}: {change}", new.name));
    of_service.into_iter().chain(of_backends).collect()
}

fn backend_differences(old: &config::Backend, new: &config::Backend) -> Vec<String> {
    let name = &new.name;
    let weighed = (old.weight != new.weight)
        .then(|| format!("backend {name} has weight {}, before {}", new.weight, old.weight));
    let alike = config::Backend { weight: old.weight, ..new.clone() };
    let other = (alike != *old).then(|| format!("backend {name} has changed"));
    weighed.into_iter().chain(other).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::daemon::testing::World;

    #[test]
    fn a_service_without_a_usable_backend_is_refused() {
        let sound = World::start().config;
        assert_eq!(refuse_unusable(&sound, &sound), Ok(()));
        let (mut light, mut empty) = (sound.clone(), sound.clone());
        light.services[0].backends.iter_mut().for_each(|backend| backend.weight = 0);
        empty.services[0].backends.clear();
        for (config, told) in [
            (&light, "service web: all its backends have weight 0: "),
            (&empty, "service web: it has no backend: "),
        ] {
            let refused = refuse_unusable(config, config).unwrap_err();
            assert!(refused.starts_with(told) && refused.contains("\nhelp: "), "{refused}");
            assert_eq!(refuse_unusable(config, &sound), Ok(()), "shared changes have some");
            assert_eq!(refuse_unusable(&sound, config), Ok(()), "the file has some");
        }
    }

    #[test]
    fn a_change_of_a_backend_hides_none_of_its_service() {
        let old = World::start().config;
        let mut new = old.clone();
        assert_eq!(differences(&old, &new), [""; 0]);
        let service = &mut new.services[0];
        service.slow_start = Duration::from_secs(5);
        service.backends[0].weight = 3;
        service.backends[1].sorry = true;
        let wanted = [
            "service web has changed",
            "service web: backend be1 has weight 3, before 1",
            "service web: backend be2 has changed",
        ];
        assert_eq!(differences(&old, &new), wanted);
    }

    #[test]
    fn what_waits_for_the_next_start_is_named_by_its_key() {
        let old = World::start().config;
        let mut new = old.clone();
        assert_eq!(keep_fixed(&old, &mut new), [""; 0]);
        new.balancer.interfaces.push("eth1".into());
        new.balancer.metrics = Some("127.0.0.1:9000".parse().unwrap());
        let wanted = ["interfaces", "metrics"]
            .map(|key| format!("[balancer] {key} changes with the next start"));
        assert_eq!(keep_fixed(&old, &mut new), wanted);
        assert_eq!(new, old);
    }
}
