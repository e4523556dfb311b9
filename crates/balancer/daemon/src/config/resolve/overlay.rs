//! Shared changes on top of the file, with the checks that the file gets.

use std::collections::BTreeMap;

use heddle_config::{ConfigError, Problem};

use super::super::resolved::{Config, MAX_WEIGHT, Service};
use super::edit::{checked, own};
use super::services;
use crate::shared::{Change, Changes, Place, Value};

/// A key, the backend that it names, and its change.
type Readable = (String, Place, Change);

/// The configuration with all changes that can be made, and the reasons why others are not, by key.
/// The changes of the backends of one name are made together or not at all: services of one group
/// have backends of the same names.
pub(in crate::config) fn apply(
    config: &Config,
    changes: &Changes,
) -> (Config, BTreeMap<String, String>) {
    let mut ignored = BTreeMap::new();
    let mut by_name: BTreeMap<String, Vec<Readable>> = BTreeMap::new();
    for (key, entry) in &changes.entries {
        match read(config, key, &entry.text) {
            Ok((place, change)) => {
                by_name.entry(place.backend.clone()).or_default().push((
                    key.clone(),
                    place,
                    change,
                ));
            }
            Err(reason) => drop(ignored.insert(key.clone(), reason)),
        }
    }
    let all: Vec<Readable> = by_name.values().flatten().cloned().collect();
    if let Ok(changed) = changed(config, &all) {
        return (changed, ignored);
    }
    let mut config = config.clone();
    // What is removed makes room for what is added.
    let (removals, others): (Vec<_>, Vec<_>) = by_name
        .into_values()
        .partition(|of_name| of_name.iter().all(|(_, _, change)| *change == Change::Remove));
    for of_name in removals.into_iter().chain(others) {
        match changed(&config, &of_name) {
            Ok(changed) => config = changed,
            Err(problem) => {
                let reason = text(problem);
                ignored.extend(of_name.into_iter().map(|(key, ..)| (key, reason.clone())));
            }
        }
    }
    (config, ignored)
}

/// The place and the change of a key; else the reason why it has no effect.
fn read(config: &Config, key: &str, value: &str) -> Result<(Place, Change), String> {
    let place = Place::of(key).ok_or("the key is not of the form SERVICE/BACKEND")?;
    let change = Value::read(value)?.change;
    if let Change::Add(backend) = &change
        && backend.name != place.backend
    {
        return Err(format!("its value is of a backend called {}", backend.name));
    }
    let Some(service) = config.services.iter().find(|of| of.name == place.service) else {
        return Err(format!("no service of this balancer's file is called {}", place.service));
    };
    own(service).map_err(text)?;
    Ok((place, change))
}

/// The configuration with these changes, all of them or none.
fn changed(config: &Config, changes: &[Readable]) -> Result<Config, Problem> {
    let mut config = config.clone();
    for (_, place, change) in changes {
        if let (Change::Add(_) | Change::Remove, Some(service)) = (change, of(&mut config, place)) {
            service.backends.retain(|backend| backend.name != place.backend);
        }
    }
    let balancer = config.balancer.clone();
    for (_, place, change) in changes {
        let Some(service) = of(&mut config, place) else { continue };
        match change {
            Change::Add(entry) => {
                let backend = services::backend(entry, service, &balancer)?;
                service.backends.push(backend);
            }
            Change::Modify(change) => {
                let backends = &mut service.backends;
                let Some(backend) = backends.iter_mut().find(|b| b.name == place.backend) else {
                    let message = format!("service {} has no such backend", place.service);
                    return Err(Problem::new(message));
                };
                if change.weight.is_some_and(|weight| weight > MAX_WEIGHT) {
                    let problem = Problem::at("weight", "above the maximum");
                    return Err(problem.help(format!("0 to {MAX_WEIGHT}")));
                }
                backend.weight = change.weight.unwrap_or(backend.weight);
                backend.drained = change.draining.unwrap_or(backend.drained);
            }
            Change::Remove => {}
        }
    }
    checked(config)
}

/// The service of a place.
fn of<'a>(config: &'a mut Config, place: &Place) -> Option<&'a mut Service> {
    config.services.iter_mut().find(|service| service.name == place.service)
}

fn text(problem: Problem) -> String {
    let error = ConfigError::from(problem);
    let help = error.help().map_or_else(String::new, |help| format!("; {help}"));
    format!("{}{help}", error.message())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::config::load;
    use crate::shared::Entry;

    const FILE: &str = "
        balancer = { name = 'lb1', interfaces = ['eth0'] }
        [[service]]
        name = 'web4'
        address = '192.0.2.10'
        port = 443
        group = 'web'
        backend = [{ name = 'be1', address = '10.0.1.1' }, { name = 'be2', address = '10.0.1.2' }]
        [[service]]
        name = 'web6'
        address = '2001:db8::10'
        port = 443
        group = 'web'
        backend = [{ name = 'be1', address = 'fd00::1' }, { name = 'be2', address = 'fd00::2' }]
        [[service]]
        name = 'dns'
        address = '192.0.2.11'
        port = 53
        backend = [{ name = 'be1', address = '10.0.1.1' }, { name = 'be3', address = '10.0.1.3' }]
    ";

    fn file() -> Config {
        load("lb.toml", FILE).unwrap()
    }

    fn changes(values: &[(&str, serde_json::Value)]) -> Changes {
        let entry = |(key, change): &(&str, serde_json::Value)| {
            let text = json!({ "version": 1, "change": change, "by": "lb2" }).to_string();
            ((*key).to_owned(), Entry { revision: 1, text })
        };
        Changes { revision: 1, entries: values.iter().map(entry).collect() }
    }

    fn add(name: &str, address: &str) -> serde_json::Value {
        json!({ "add": { "name": name, "address": address } })
    }

    /// The backends of a service: name, last byte of the address, weight, drained.
    fn backends(config: &Config, service: &str) -> Vec<String> {
        let service = config.services.iter().find(|of| of.name == service).unwrap();
        let told = service.backends.iter().map(|b| {
            format!(
                "{} {} {}{}",
                b.name,
                b.address,
                b.weight,
                if b.drained { " drained" } else { "" }
            )
        });
        told.collect()
    }

    #[test]
    fn changes_count_more_than_the_file() {
        let all = changes(&[
            ("dns/be1", json!("remove")),
            ("dns/be3", json!({ "modify": { "weight": 5, "draining": true } })),
            ("dns/be9", add("be9", "10.0.1.1")),
            ("web4/be3", add("be3", "10.0.1.3")),
            ("web6/be3", add("be3", "fd00::3")),
        ]);
        let (config, ignored) = file().with_changes(&all);
        assert_eq!(ignored, BTreeMap::new());
        assert_eq!(backends(&config, "dns"), ["be3 10.0.1.3 5 drained", "be9 10.0.1.1 1"]);
        assert_eq!(backends(&config, "web6")[2], "be3 fd00::3 1");
        // Addresses change places.
        let swapped =
            changes(&[("dns/be1", add("be1", "10.0.1.3")), ("dns/be3", add("be3", "10.0.1.1"))]);
        let (config, ignored) = file().with_changes(&swapped);
        assert_eq!(ignored, BTreeMap::new());
        assert_eq!(backends(&config, "dns"), ["be1 10.0.1.3 1", "be3 10.0.1.1 1"]);
    }

    #[test]
    fn what_contradicts_is_ignored_by_name_of_the_backend_and_nothing_else_is() {
        let all = changes(&[
            ("web4/be1", json!("remove")), // And not from web6, of the same group.
            ("web4/be4", add("be4", "10.0.1.4")),
            ("web6/be4", add("be4", "10.0.1.5")),
            ("dns/be5", add("be6", "10.0.1.6")),
            ("dns/be7", json!({ "modify": { "weight": 2 } })),
            ("dns/be3", json!("remove")),
            ("dns/be8", add("be8", "10.0.1.3")),
        ]);
        let (config, ignored) = file().with_changes(&all);
        assert_eq!(backends(&config, "web4"), backends(&file(), "web4"));
        assert_eq!(backends(&config, "dns"), ["be1 10.0.1.1 1", "be8 10.0.1.3 1"]);
        let keys: Vec<&str> = ignored.keys().map(String::as_str).collect();
        assert_eq!(keys, ["dns/be5", "dns/be7", "web4/be1", "web4/be4", "web6/be4"]);
        assert!(ignored["web4/be1"].contains("backend `be1` of `web6` is none of `web4`"));
        assert_eq!(ignored["dns/be5"], "its value is of a backend called be6");
        assert_eq!(ignored["dns/be7"], "service dns has no such backend");
    }

    fn change() -> impl Strategy<Value = serde_json::Value> {
        let weight = prop::option::of(0..1100u32);
        prop_oneof![
            Just(json!("remove")),
            (weight, any::<Option<bool>>()).prop_map(|(weight, draining)| {
                match (weight, draining) {
                    (Some(weight), Some(on)) => {
                        json!({ "modify": { "weight": weight, "draining": on } })
                    }
                    (Some(weight), None) => json!({ "modify": { "weight": weight } }),
                    (None, Some(on)) => json!({ "modify": { "draining": on } }),
                    (None, None) => json!({ "modify": {} }),
                }
            }),
            (1..5u8, 1..6u8)
                .prop_map(|(name, last)| add(&format!("be{name}"), &format!("10.0.1.{last}"))),
            Just(json!("explode")),
        ]
    }

    proptest! {
        /// Whatever is in etcd, the outcome is a configuration that the file could have been, and
        /// made again it is the same.
        #[test]
        fn any_changes_leave_a_sound_configuration(
            all in prop::collection::btree_map("(web4|web6|dns|x)/be[1-4]|y", change(), 0..8),
        ) {
            let values: Vec<_> = all.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
            let changes = changes(&values);
            let (config, ignored) = file().with_changes(&changes);
            prop_assert_eq!(config.clone().checked().unwrap(), config.clone());
            prop_assert!(ignored.keys().all(|key| changes.entries.contains_key(key)));
            prop_assert_eq!(file().with_changes(&changes), (config, ignored));
        }
    }
}
