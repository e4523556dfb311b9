//! Records that a program writes into a ring buffer.
#![allow(unsafe_code)] // Reading types out of it.

use std::marker::PhantomData;

use aya::Pod;
use aya::maps::{Map, MapData, RingBuf};

use crate::Error;

/// The records of one type, in their order.
pub struct Events<T> {
    ring: RingBuf<MapData>,
    of: PhantomData<T>,
}

impl<T: Pod> Events<T> {
    /// The ring buffer behind a map.
    ///
    /// # Errors
    /// [`Error::Map`] if it is a map of another type, or cannot be mapped into memory.
    pub fn new(map: Map) -> Result<Events<T>, Error> {
        Ok(Events { ring: map.try_into()?, of: PhantomData })
    }

    /// Takes the next record out; none if the program has written no more.
    ///
    /// # Errors
    /// [`Error::Misfit`] for a record of another size.
    pub fn take_next(&mut self) -> Result<Option<T>, Error> {
        let Some(record) = self.ring.next() else { return Ok(None) };
        if record.len() != size_of::<T>() {
            let why = format!("a record has {} bytes, not {}", record.len(), size_of::<T>());
            return Err(Error::Misfit { path: "a ring buffer".into(), why });
        }
        // SAFETY: as many bytes as T has, initialised by the program, and T is valid for all values
        // of them (Pod).
        Ok(Some(unsafe { record.as_ptr().cast::<T>().read_unaligned() }))
    }
}
