//! Small numbers for names, none of which is given to another name while an entry may still hold
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Numbers from 1 for names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices<K> {
    given: BTreeMap<K, (u16, Phase)>,
}

/// The phase of a name's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is wanted.
    Active,
    /// It is not, since then: the entries that hold its number are left to expire.
    Retired(Duration),
    /// Entries that still hold its number are turned away, since then.
    Closed(Duration),
}

/// No number is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "all {capacity} numbers are in use, those of backends and services that left not long ago included; `[tables]` needs more room"
)]
pub struct Full {
    /// The numbers there are.
    pub capacity: u32,
}

impl<K> Default for Indices<K> {
    fn default() -> Indices<K> {
        Indices { given: BTreeMap::new() }
    }
}

/// Found in use: taken for wanted until the next update.
impl<K: Ord> FromIterator<(K, u16)> for Indices<K> {
    fn from_iter<I: IntoIterator<Item = (K, u16)>>(found: I) -> Indices<K> {
        Indices {
            given: found.into_iter().map(|(name, index)| (name, (index, Phase::Active))).collect(),
        }
    }
}

impl<K: Ord + Clone> Indices<K> {
    /// The number of a name.
    pub fn index(&self, name: &K) -> Option<u16> {
        self.given.get(name).map(|&(index, _)| index)
    }

    /// All names that have a number.
    pub fn iter(&self) -> impl Iterator<Item = (&K, u16, Phase)> {
        self.given.iter().map(|(name, &(index, phase))| (name, index, phase))
    }

    /// Takes its number from each name that has the number of another one, which is wanted: of
    /// services that were found with one table, the one that it belongs to is not known.
    pub(super) fn part(&mut self, wanted: &BTreeSet<K>) {
        let mut taken = BTreeSet::new();
        for name in wanted {
            if let Some(&(index, _)) = self.given.get(name)
                && !taken.insert(index)
            {
                self.given.remove(name);
            }
        }
        self.given.retain(|name, (index, _)| wanted.contains(name) || !taken.contains(index));
    }

    /// Gives each of `wanted` a number, and ages the others: retired for `keep`, closed for `keep`,
    /// then gone. A name that comes back in between has its old number.
    pub(super) fn update(
        &mut self,
        wanted: &BTreeSet<K>,
        now: Duration,
        keep: Duration,
        capacity: u32,
    ) -> Result<(), Full> {
        self.given.retain(|name, (_, phase)| {
            let aged = age(*phase, wanted.contains(name), now, keep);
            *phase = aged.unwrap_or(*phase);
            aged.is_some()
        });
        let used: BTreeSet<u16> = self.given.values().map(|&(index, _)| index).collect();
        let mut free =
            (1..=capacity.min(u16::MAX.into()) as u16).filter(|index| !used.contains(index));
        for name in
            wanted.iter().filter(|name| !self.given.contains_key(name)).cloned().collect::<Vec<K>>()
        {
            let index = free.next().ok_or(Full { capacity })?;
            self.given.insert(name, (index, Phase::Active));
        }
        Ok(())
    }
}

/// `None`: its number is free.
fn age(phase: Phase, wanted: bool, now: Duration, keep: Duration) -> Option<Phase> {
    let is_over = |since| now.saturating_sub(since) > keep;
    match phase {
        _ if wanted => Some(Phase::Active),
        Phase::Active => Some(Phase::Retired(now)),
        Phase::Retired(since) if is_over(since) => Some(Phase::Closed(now)),
        Phase::Closed(since) if is_over(since) => None,
        phase => Some(phase),
    }
}
