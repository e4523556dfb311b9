//! Keys that are made ahead of connections (`mptcp = "assign"`; RomanRoads, section V-B).

use std::io;

use aya::maps::{Map, MapData, MapError, Queue};

use crate::Error;
use crate::abi::AssignedKey;

/// A queue of keys whose tokens are this balancer's own.
pub struct ReadyKeys {
    map: Queue<MapData, AssignedKey>,
}

impl ReadyKeys {
    pub(crate) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// Adds a key at the end, if there is room.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn push(&mut self, key: &AssignedKey) -> Result<Pushed, Error> {
        match self.map.push(key, 0) {
            Ok(()) => Ok(Pushed::Queued),
            Err(MapError::SyscallError(e)) if is_full(&e.io_error) => Ok(Pushed::Full),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes all keys out: after a change of owners they are not this balancer's own any more.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn clear(&mut self) -> Result<(), Error> {
        loop {
            match self.map.pop(0) {
                Ok(_) => (),
                Err(MapError::ElementNotFound) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is in the queue.
    Queued,
    /// The queue is full: it is not.
    Full,
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ArgumentListTooLong
}
