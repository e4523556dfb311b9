//! Later fragments that wait for their first one.

use std::os::fd::{AsFd, BorrowedFd};

use aya::maps::{Map, MapData, RingBuf};

use crate::Error;

/// The ring by which the program gives such fragments away. One reader at a time: what is taken out
/// is gone.
pub struct Waiting {
    ring: RingBuf<MapData>,
}

impl Waiting {
    pub(crate) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { ring: map.try_into()? })
    }

    /// The next frame, from its Ethernet header on.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        let item = self.ring.next()?;
        let (length, rest) = item.split_first_chunk()?;
        let frame = rest.get(4..)?;
        Some(frame[..frame.len().min(u32::from_ne_bytes(*length) as usize)].to_vec())
    }
}

/// Readable when there is a frame.
impl AsFd for Waiting {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}
