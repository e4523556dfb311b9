//! Maps from keys to values.

use aya::Pod;
use aya::maps::{HashMap, Map, MapData, MapError};

use crate::Error;

/// A hash map in the kernel.
pub struct Hash<K: Pod, V: Pod> {
    map: HashMap<MapData, K, V>,
}

impl<K: Pod, V: Pod> Hash<K, V> {
    /// The hash map `map`.
    ///
    /// # Errors
    /// [`Error::Map`] if it is a map of another type.
    pub fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// The value of `key`, if there is one.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn get(&self, key: &K) -> Result<Option<V>, Error> {
        found(self.map.get(key, 0))
    }

    /// Gives `key` this value; the program sees the one before it or this one, nothing in between.
    ///
    /// # Errors
    /// [`Error::Map`] if the map is full.
    pub fn insert(&mut self, key: &K, value: &V) -> Result<(), Error> {
        Ok(self.map.insert(key, value, 0)?)
    }

    /// Takes `key` out, if it is there.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn remove(&mut self, key: &K) -> Result<(), Error> {
        match self.map.remove(key) {
            Err(MapError::SyscallError(error)) if is_absence(&error.io_error) => Ok(()),
            other => Ok(other?),
        }
    }

    /// All keys and values, in no order. What is removed meanwhile may make it start again.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn entries(&self) -> Result<Vec<(K, V)>, Error> {
        let entries: Result<Vec<_>, MapError> = self.map.iter().collect();
        Ok(entries?)
    }
}

pub(super) fn is_absence(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

/// None, where the kernel found no such key.
fn found<T>(result: Result<T, MapError>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(MapError::KeyNotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
