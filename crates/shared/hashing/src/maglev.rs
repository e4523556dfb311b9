//! Maglev hashing (Eisenbud et al., "Maglev: a fast and reliable software network load balancer",
//! NSDI 2016, section 3.4), with weights.
//!
//! Each backend has a preference list of all slots, `offset + j * skip`. Backends take turns: a
//! backend takes the first free slot of its list, until no slot is free. With weights, a backend
//! gains credit of its weight in each turn, and takes a slot when its credit reaches the largest
//! weight. With equal weights this is the paper's algorithm. Preference lists and the order of
//! turns depend on the backends' ids, not on their order in the configuration.

use alloc::vec::Vec;

use super::{hash, mix};

#[cfg(test)]
mod tests;

/// Slots of a service's table, as an array length.
pub const SLOTS: usize = hash::MAGLEV_SIZE as usize;

/// A backend for new flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weighted {
    /// Its identifier, equal on all balancers and unique in a table.
    pub id: u32,
    /// Its share of the flows, relative to the others'. 0: none.
    pub weight: u32,
    /// The value of its slots: this balancer's index of it, not 0.
    pub target: u32,
}

/// Fills the table of a service. Without any backend (or weight) every slot is 0.
///
/// `M`, the number of slots, is prime (checked when compiled), or a backend's preferences would not
/// reach all of them. It should be more than 100 times the number of backends, "to ensure at most a
/// 1% difference in the hash space" (the paper).
pub fn fill<const M: usize>(backends: &[Weighted], slots: &mut [u32; M]) {
    const { assert!(is_prime(M), "the number of slots is prime") };
    populate(&mut turns(backends, M), slots);
}

/// A service's table, of [`SLOTS`] slots: as [`fill`].
pub fn table(backends: &[Weighted]) -> Vec<u32> {
    const { assert!(is_prime(SLOTS), "the number of slots is prime") };
    let mut slots = alloc::vec![0; SLOTS];
    populate(&mut turns(backends, SLOTS), &mut slots);
    slots
}

/// The words of a table in the `maglev` map: a target in the lower half, in the upper one the stamp
/// of the slot's last change. Slots that name another target than in the words `before` have the
/// stamp `now`. 0: never changed; a stamp that wraps to 0 counts as 1.
pub fn stamped(table: &[u32], before: Option<&[u32]>, now: u16) -> Vec<u32> {
    let word = |(slot, &target): (usize, &u32)| match before.and_then(|words| words.get(slot)) {
        Some(&word) if word & 0xffff == target => word,
        Some(_) => u32::from(now.max(1)) << 16 | target,
        None => target,
    };
    table.iter().enumerate().map(word).collect()
}

/// Stamps the slots of some targets: new flows of theirs went elsewhere, or do from now on.
pub fn stamp_targets(words: &mut [u32], is_one: impl Fn(u32) -> bool, now: u16) {
    for word in words.iter_mut().filter(|word| is_one(target(**word))) {
        *word = u32::from(now.max(1)) << 16 | target(*word);
    }
}

/// True if a stamp of a slot ([`stamped`]), but 0, is at most `age` units before `now`.
pub const fn is_recent(stamp: u16, now: u16, age: u32) -> bool {
    now.wrapping_sub(stamp) as u32 <= age + 1
}

/// The target in a word of the `maglev` map.
pub const fn target(word: u32) -> u32 {
    word & 0xffff
}

fn turns(backends: &[Weighted], slots: usize) -> Vec<Turn> {
    let mut due: Vec<Weighted> = backends.iter().copied().filter(|b| b.weight > 0).collect();
    due.sort_unstable();
    due.iter().map(|backend| Turn::new(backend, slots)).collect()
}

/// A backend and its position in its preference list.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// The next slot of its preference list.
    next: usize,
    skip: usize,
    weight: u64,
    credit: u64,
    target: u32,
}

impl Turn {
    fn new(backend: &Weighted, slots: usize) -> Turn {
        let offset = (mix(backend.id, 0) % slots as u64) as usize;
        let skip = (mix(backend.id, 1) % (slots as u64 - 1) + 1) as usize;
        let weight = u64::from(backend.weight);
        Turn { next: offset, skip, weight, credit: 0, target: backend.target }
    }

    /// Takes the first free slot of its preference list; at least one slot is free.
    fn take(&mut self, taken: &mut Taken) -> usize {
        loop {
            let slot = self.next;
            let next = slot + self.skip;
            self.next = if next < taken.slots { next } else { next - taken.slots };
            if taken.take(slot) {
                return slot;
            }
        }
    }
}

/// The slots that are taken, a bit each: all of a table's fit the first cache.
struct Taken {
    slots: usize,
    words: Vec<u64>,
}

impl Taken {
    fn none_of(slots: usize) -> Taken {
        Taken { slots, words: alloc::vec![0; slots.div_ceil(64)] }
    }

    /// False: it is taken already.
    fn take(&mut self, slot: usize) -> bool {
        let (word, bit) = (&mut self.words[slot / 64], 1 << (slot % 64));
        let is_free = *word & bit == 0;
        *word |= bit;
        is_free
    }
}

fn populate(turns: &mut [Turn], slots: &mut [u32]) {
    slots.fill(0);
    let Some(heaviest) = turns.iter().map(|turn| turn.weight).max() else { return };
    let mut taken = Taken::none_of(slots.len());
    let mut free = slots.len();
    loop {
        for turn in &mut *turns {
            turn.credit += turn.weight;
            if turn.credit < heaviest {
                continue;
            }
            turn.credit -= heaviest;
            slots[turn.take(&mut taken)] = turn.target;
            free -= 1;
            if free == 0 {
                return;
            }
        }
    }
}

const fn is_prime(number: usize) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    number > 1
}
