//! The shape that a pinned map must have to be taken over from the program before.

use std::path::Path;

use aya::maps::MapInfo;

use super::absent_as_none;
use crate::Error;

/// Bytes of a map's name that the kernel keeps (linux/bpf.h: BPF_OBJ_NAME_LEN, with a zero).
const KERNEL_NAME: usize = 15;

/// A map's name, its keys' and values' bytes, and its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The name under which it is pinned.
    pub name: &'static str,
    key: u32,
    value: u32,
    /// Its entries.
    pub entries: u32,
}

impl Shape {
    /// The shape of a map from `K` to `V`.
    pub fn of<K, V>(name: &'static str, entries: u32) -> Self {
        Self { name, key: size_of::<K>() as u32, value: size_of::<V>() as u32, entries }
    }

    /// The shape of the map that is pinned at `path`; none: nothing is pinned there.
    ///
    /// # Errors
    /// [`Error::Misfit`] if it is another program's: the kernel has it by none of these names (cut
    /// off behind 15 bytes). [`Error::Map`] if it cannot be opened.
    pub fn found(&self, path: &Path, names: &[&str]) -> Result<Option<Shape>, Error> {
        let Some(found) = absent_as_none(MapInfo::from_pin(path))? else { return Ok(None) };
        let name = found.name_as_str().unwrap_or_default();
        if !names.iter().any(|own| own.get(..KERNEL_NAME).unwrap_or(own) == name) {
            let why = format!("it is map `{name}` of another program");
            return Err(Error::Misfit { path: path.to_owned(), why });
        }
        let (key, value, entries) = (found.key_size(), found.value_size(), found.max_entries());
        Ok(Some(Shape { name: self.name, key, value, entries }))
    }

    /// True if keys and values have the same lengths.
    pub fn has_layout_of(&self, other: &Shape) -> bool {
        (self.key, self.value) == (other.key, other.value)
    }

    /// Checks that the map pinned at `path` has this shape; no pin there fits too.
    ///
    /// # Errors
    /// [`Error::Misfit`] if it has another, [`Error::Map`] if it cannot be opened.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        let Some(found) = absent_as_none(MapInfo::from_pin(path))? else { return Ok(()) };
        let pairs = [
            ("bytes of key", found.key_size(), self.key),
            ("bytes of value", found.value_size(), self.value),
            ("entries", found.max_entries(), self.entries),
        ];
        match pairs.iter().find(|(_, found, wanted)| found != wanted) {
            None => Ok(()),
            Some((what, found, wanted)) => {
                let why = format!("it has {found} {what}, this program is to have {wanted}");
                Err(Error::Misfit { path: path.to_owned(), why })
            }
        }
    }
}
