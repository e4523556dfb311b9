//! Changes of backends that all balancers of a cluster share, by way of etcd.
//!
//! There is a key for each backend of a service, `<prefix>/changes/<service>/<backend>`, whose
//! value is JSON with a version. It counts more than the file, on every balancer, until it is
//! removed. What cannot be read stays where it is and has no effect
//! ([`Config::with_changes`](crate::config::Config::with_changes) tells the reasons).

use std::collections::{BTreeMap, BTreeSet};

use heddle_balancer_api::BackendChange;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use crate::config::BackendEntry;

/// The version of the values that this release reads and writes.
const VERSION: u32 = 1;

/// The characters of a name that are percent-encoded in a key.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A change of one backend of one service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The backend is there, as described, whatever the file has.
    Add(BackendEntry),
    /// The file's backend has another weight or state.
    Modify(BackendChange),
    /// The backend is not there, whatever the file has.
    Remove,
}

/// A backend of a service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The service's name.
    pub service: String,
    /// The backend's name.
    pub backend: String,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    version: u32,
    /// The change.
    pub change: Change,
    /// The name of the balancer that has written it.
    pub by: String,
}

/// The version alone, which every release can read.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// A key's text, and etcd's revision of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The revision of etcd at which it was written last.
    pub revision: i64,
    /// Its value.
    pub text: String,
}

/// All shared changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The revision of etcd up to which they are known.
    pub revision: i64,
    /// By key, without the prefix.
    pub entries: BTreeMap<String, Entry>,
}

/// A write to one key, under the condition that it has not changed meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The key, without the prefix.
    pub key: String,
    /// Its revision so far; 0: it is not there.
    pub revision: i64,
    /// Its new value; none: it is removed.
    pub text: Option<String>,
}

impl Place {
    /// The key, without the prefix: both names percent-encoded.
    pub fn key(&self) -> String {
        let encoded = |name: &str| utf8_percent_encode(name, ENCODED).to_string();
        format!("{}/{}", encoded(&self.service), encoded(&self.backend))
    }

    /// The place that a key names; none if this is no key of that form. Each place has one key.
    pub fn of(key: &str) -> Option<Place> {
        let (service, backend) = key.split_once('/')?;
        let decoded = |text| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
        let place = Place { service: decoded(service)?, backend: decoded(backend)? };
        (place.key() == key).then_some(place)
    }
}

impl Value {
    /// The value of a change by a balancer.
    pub fn new(change: Change, by: &str) -> Value {
        Value { version: VERSION, change, by: by.to_owned() }
    }

    /// As text.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The value of a text.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn read(text: &str) -> Result<Value, String> {
        let unreadable = |error| format!("its value cannot be read: {error}");
        let Versioned { version } = serde_json::from_str(text).map_err(unreadable)?;
        if version != VERSION {
            return Err(format!(
                "its value has version {version}, and this release reads version {VERSION}"
            ));
        }
        serde_json::from_str(text).map_err(unreadable)
    }
}

impl Changes {
    /// The change of a backend, if there is one that can be read.
    pub fn get(&self, place: &Place) -> Option<Change> {
        let entry = self.entries.get(&place.key())?;
        Some(Value::read(&entry.text).ok()?.change)
    }

    /// The write that makes this the change of a backend.
    pub fn write(&self, place: &Place, change: Change, by: &str) -> Write {
        let key = place.key();
        let text = Some(Value::new(change, by).text());
        Write { revision: self.revision_of(&key), key, text }
    }

    /// The write that removes a key.
    pub fn removal(&self, key: &str) -> Write {
        Write { key: key.to_owned(), revision: self.revision_of(key), text: None }
    }

    fn revision_of(&self, key: &str) -> i64 {
        self.entries.get(key).map_or(0, |entry| entry.revision)
    }

    /// These changes after some writes.
    pub fn with(&self, writes: &[Write]) -> Changes {
        let mut changes = self.clone();
        for Write { key, text, .. } in writes {
            match text {
                Some(text) => {
                    let entry = Entry { revision: self.revision + 1, text: text.clone() };
                    changes.entries.insert(key.clone(), entry);
                }
                None => drop(changes.entries.remove(key)),
            }
        }
        changes
    }

    /// The backends whose changes are others than in `before`.
    pub fn differences(&self, before: &Changes) -> BTreeSet<Place> {
        let keys = self.entries.keys().chain(before.entries.keys());
        let differ = |key: &&String| self.entries.get(*key) != before.entries.get(*key);
        keys.filter(differ).filter_map(|key| Place::of(key)).collect()
    }
}

impl Change {
    /// The change that follows `before`, the one so far, when a backend is weighed or drained.
    pub fn modified(before: Option<Change>, new: BackendChange) -> Change {
        match before {
            Some(Change::Add(backend)) => Change::Add(new.applied(backend)),
            Some(Change::Modify(old)) => Change::Modify(BackendChange {
                weight: new.weight.or(old.weight),
                draining: new.draining.or(old.draining),
            }),
            Some(Change::Remove) | None => Change::Modify(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(service: &str, backend: &str) -> Place {
        Place { service: service.into(), backend: backend.into() }
    }

    #[test]
    fn a_place_has_one_key() {
        for (service, backend, key) in [
            ("web", "be-1.a", "web/be-1.a"),
            ("we/b", "ü %", "we%2Fb/%C3%BC%20%25"),
            ("", "x", "/x"),
        ] {
            assert_eq!(place(service, backend).key(), key);
            assert_eq!(Place::of(key), Some(place(service, backend)));
        }
        for key in ["web", "w%65b/be1", "web/be1/x", "web/%ff", "web/b e"] {
            assert_eq!(Place::of(key), None, "{key}");
        }
    }

    #[test]
    fn a_value_is_what_the_book_shows() {
        let weighed = Change::Modify(BackendChange { weight: Some(3), draining: None });
        let text = r#"{"version":1,"change":{"modify":{"weight":3}},"by":"lb1"}"#;
        assert_eq!(Value::new(weighed.clone(), "lb1").text(), text);
        assert_eq!(Value::read(text).unwrap().change, weighed);
        let removed = r#"{"version":1,"change":"remove","by":"lb1"}"#;
        assert_eq!(Value::new(Change::Remove, "lb1").text(), removed);
    }

    #[test]
    fn strangers_values_have_a_reason() {
        for (text, wanted) in [
            ("nonsense", "its value cannot be read: expected ident"),
            ("{}", "its value cannot be read: missing field `version`"),
            (r#"{"version":2,"new":1}"#, "its value has version 2, and this release reads"),
            (r#"{"version":1,"change":"explode","by":"x"}"#, "unknown variant `explode`"),
            (r#"{"version":1,"change":"remove","by":"x","more":1}"#, "unknown field `more`"),
        ] {
            let reason = Value::read(text).unwrap_err();
            assert!(reason.contains(wanted), "{reason}");
        }
    }

    #[test]
    fn weights_and_states_add_up() {
        let weigh = BackendChange { weight: Some(7), draining: None };
        let drain = BackendChange { weight: None, draining: Some(true) };
        let both = BackendChange { weight: Some(7), draining: Some(true) };
        let weighed = Change::modified(None, weigh);
        assert_eq!(Change::modified(Some(weighed), drain), Change::Modify(both));
        let backend = json!({ "name": "be4", "address": "10.0.1.4" });
        let added = Change::Add(serde_json::from_value(backend).unwrap());
        let wanted = json!({ "name": "be4", "address": "10.0.1.4", "weight": 7, "state": "drain" });
        let wanted = Change::Add(serde_json::from_value(wanted).unwrap());
        assert_eq!(Change::modified(Some(added), both), wanted);
    }

    #[test]
    fn writes_are_under_the_revision_that_is_known() {
        let place = place("web", "be1");
        let first = Changes::default().write(&place, Change::Remove, "lb1");
        assert_eq!(first.revision, 0);
        let entry = Entry { revision: 9, text: "nonsense".into() };
        let changes = Changes { revision: 12, entries: [("web/be1".to_owned(), entry)].into() };
        assert_eq!(changes.get(&place), None);
        let second = changes.write(&place, Change::Remove, "lb1");
        assert_eq!(second.revision, 9);
        assert_eq!(changes.with(&[second]).get(&place), Some(Change::Remove));
        let gone = changes.with(&[changes.removal("web/be1")]);
        assert_eq!(gone.entries.len(), 0);
        assert_eq!(gone.differences(&changes), [place].into());
    }
}
