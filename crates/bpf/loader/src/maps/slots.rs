//! Arrays of 32-bit numbers that are written whole.

use aya::maps::Map;

use super::array;
use super::memory::{Access, Memory, WORD};
use crate::Error;

/// Slots with a number each, in memory shared with the program.
#[derive(Debug)]
pub struct Slots {
    memory: Memory,
}

impl Slots {
    /// The array `map`, which errors call `name`.
    ///
    /// # Errors
    /// [`Error::Map`] if it is no array, [`Error::Memory`] if it cannot be mapped.
    pub fn new(name: &'static str, map: Map) -> Result<Self, Error> {
        Ok(Self { memory: Memory::new(name, array(map)?, Access::Write)? })
    }

    /// The number of slots.
    pub fn room(&self) -> usize {
        self.memory.entries(WORD)
    }

    /// The number in this slot; none beyond the end.
    pub fn get(&self, slot: usize) -> Option<u32> {
        self.memory.read(slot)
    }

    /// Fills slots from `first` on. The program sees each slot as it was or as it is to be.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if there are not so many: then nothing is written.
    pub fn write(&mut self, first: usize, values: &[u32]) -> Result<(), Error> {
        let end = first.saturating_add(values.len());
        if end > self.room() {
            let (index, entries) = (end as u64, self.room() as u64);
            return Err(Error::OutOfBounds { map: self.memory.name, index, entries });
        }
        for (slot, &value) in (first..).zip(values) {
            self.memory.write(slot, in_word(value))?;
        }
        Ok(())
    }
}

/// The same, two in a word: an array has at least 8 bytes for each of its entries.
#[derive(Debug)]
pub struct PackedSlots {
    memory: Memory,
}

impl PackedSlots {
    /// The array `map` of pairs, which errors call `name`.
    ///
    /// # Errors
    /// [`Error::Map`] if it is no array, [`Error::Memory`] if it cannot be mapped.
    pub fn new(name: &'static str, map: Map) -> Result<Self, Error> {
        Ok(Self { memory: Memory::new(name, array(map)?, Access::Write)? })
    }

    /// The number of slots.
    pub fn room(&self) -> usize {
        2 * self.memory.entries(WORD)
    }

    /// The number in this slot; none beyond the end.
    pub fn get(&self, slot: usize) -> Option<u32> {
        Some(self.memory.read::<[u32; 2]>(slot / 2)?[slot % 2])
    }

    /// Fills slots from `first` on. The program sees each slot as it was or as it is to be.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if there are not so many: then nothing is written.
    pub fn write(&mut self, first: usize, values: &[u32]) -> Result<(), Error> {
        let end = first.saturating_add(values.len());
        if end > self.room() {
            let (index, entries) = (end as u64, self.room() as u64);
            return Err(Error::OutOfBounds { map: self.memory.name, index, entries });
        }
        for pair in first / 2..end.div_ceil(2) {
            let slot = |half: usize| {
                let new = (2 * pair + half).checked_sub(first).and_then(|at| values.get(at));
                new.copied().or_else(|| self.get(2 * pair + half)).unwrap_or_default()
            };
            self.memory.write(pair, in_words([slot(0), slot(1)]))?;
        }
        Ok(())
    }
}

fn in_words([first, second]: [u32; 2]) -> u64 {
    let mut bytes = [0; WORD];
    bytes[..4].copy_from_slice(&first.to_ne_bytes());
    bytes[4..].copy_from_slice(&second.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

/// A 32-bit value where it lies in a word: the first four bytes.
fn in_word(value: u32) -> u64 {
    in_words([value, 0])
}
