//! An array in memory that is the kernel's too (BPF_F_MMAPABLE).
//!
//! The program reads and writes it at the same time. So it is seen as atomic words of 64 bits, read
//! and written one by one: a value within a word is whole, a larger one may be half old.
#![allow(unsafe_code)] // Mapping memory, and reading types out of it.

use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use aya::Pod;
use aya::maps::MapData;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::Error;

/// Bytes of a word.
pub(super) const WORD: usize = size_of::<AtomicU64>();

/// The operations that a mapping allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// A whole array map, mapped.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<AtomicU64>,
    words: usize,
    access: Access,
    /// Named in errors.
    pub name: &'static str,
    _map: MapData,
}

// SAFETY: shared memory, reached by atomic operations only, and unmapped when its one owner is
// dropped.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps all of `map`, an array with BPF_F_MMAPABLE.
    ///
    /// # Errors
    /// [`Error::Memory`] if the kernel refuses.
    pub fn new(name: &'static str, map: MapData, access: Access) -> Result<Self, Error> {
        let failed = |error| Error::Memory { map: name, error };
        let info = map.info()?;
        // The kernel keeps values at multiples of 8 bytes.
        let words = (info.value_size() as usize).div_ceil(WORD) * info.max_entries() as usize;
        let protection = match access {
            Access::Read => ProtFlags::READ,
            Access::Write => ProtFlags::READ | ProtFlags::WRITE,
        };
        let flags = MapFlags::SHARED;
        // SAFETY: a new mapping at a place of the kernel's choice; it refuses lengths beyond the
        // map's pages.
        let start = unsafe {
            mmap(std::ptr::null_mut(), words * WORD, protection, flags, map.fd().as_fd(), 0)
        };
        let start = start.map_err(|errno| failed(errno.into()))?;
        let start =
            NonNull::new(start.cast()).ok_or_else(|| failed(io::ErrorKind::Other.into()))?;
        Ok(Self { start, words, access, name, _map: map })
    }

    /// The array, word by word. To be stored to only with [`Access::Write`]: the processor would
    /// refuse it.
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has this many words, is page-aligned, readable, and lives as long as
        // `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    /// The number of values of `size` bytes.
    pub fn entries(&self, size: usize) -> usize {
        self.words / size.div_ceil(WORD)
    }

    /// Value `index` of those that are as large as `T`, word by word; none beyond the end.
    pub fn read<T: Pod>(&self, index: usize) -> Option<T> {
        self.read_words(index * size_of::<T>().div_ceil(WORD))
    }

    /// The value that starts at this byte, a multiple of 8, word by word; none beyond the end.
    pub fn read_at<T: Pod>(&self, byte: usize) -> Option<T> {
        self.read_words(byte / WORD)
    }

    /// All bytes, word by word.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.words * WORD);
        for word in self.words() {
            bytes.extend_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
        }
        bytes
    }

    fn read_words<T: Pod>(&self, first: usize) -> Option<T> {
        const { assert!(size_of::<T>() <= 32 * WORD) };
        let source = self.words().get(first..first + size_of::<T>().div_ceil(WORD))?;
        let mut copy = [0_u64; 32];
        for (to, from) in copy.iter_mut().zip(source) {
            *to = from.load(Ordering::Relaxed);
        }
        // SAFETY: `T` is plain old data, for which any bytes are a value, and `copy` is at least as
        // large.
        Some(unsafe { copy.as_ptr().cast::<T>().read_unaligned() })
    }

    /// Writes word `index`.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] beyond the end, or without [`Access::Write`].
    pub fn write(&self, index: usize, value: u64) -> Result<(), Error> {
        match self.words().get(index) {
            Some(word) if self.access == Access::Write => word.store(value, Ordering::Relaxed),
            _ => {
                let (index, entries) = (index as u64, self.words as u64);
                return Err(Error::OutOfBounds { map: self.name, index, entries });
            }
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, whole, and nothing borrowed of it outlives `self`.
        // Failure leaves it mapped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.words * WORD) };
    }
}
