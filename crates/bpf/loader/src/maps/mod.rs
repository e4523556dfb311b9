//! Maps that any program may have, as types.
//!
//! Reading and writing are system calls, but for arrays in shared memory ([`Memory`], [`Slots`], [`PackedSlots`]),
//! which are read and written while the program does the same: each value is whole, several
//! together may be of different moments.

mod counts;
mod events;
mod hash;
mod memory;
mod prefixes;
mod shape;
mod slots;

use aya::maps::{Map, MapData, MapError};

pub use counts::Counts;
pub use events::Events;
pub use hash::Hash;
pub use memory::{Access, Memory};
pub use prefixes::{Prefix, Prefixes};
pub use shape::Shape;
pub use slots::{PackedSlots, Slots};

use crate::Error;

/// The plain array behind a map.
///
/// # Errors
/// [`Error::Map`] if it is a map of another type.
pub fn array(map: Map) -> Result<MapData, Error> {
    match map {
        Map::Array(data) => Ok(data),
        _ => Err(MapError::InvalidMapType { map_type: 0 }.into()),
    }
}

/// None, where nothing is pinned at that path.
///
/// # Errors
/// [`Error::Map`] for every other failure.
pub fn absent_as_none<T>(opened: Result<T, MapError>) -> Result<Option<T>, Error> {
    match opened {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_absence(error: &MapError) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(current) = source {
        if let Some(error) = current.downcast_ref::<std::io::Error>() {
            return error.kind() == std::io::ErrorKind::NotFound;
        }
        source = current.source();
    }
    false
}
