//! A service's Maglev table, which the next plan need not make anew while nothing of it changes.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use heddle_hashing::maglev::{self, Weighted};

/// The words of a table, with the stamps of their slots' changes ([`maglev::stamped`]). Clones share
/// them; tables with the same words are equal.
#[derive(Clone, Debug)]
pub struct Table(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    words: Vec<u32>,
    /// All stamps in the words but 0.
    stamps: BTreeSet<u16>,
    /// The backends that it was made of; none: it was found in the maps.
    takers: Option<Vec<Weighted>>,
}

impl Table {
    /// The table of these backends, with the stamps that the slots of the one `before` have; stamps
    /// of what changes are `now`.
    pub(super) fn of(takers: Vec<Weighted>, before: Option<&Table>, now: u16) -> Table {
        let words = maglev::stamped(&maglev::table(&takers), before.map(|table| &**table), now);
        Table::new(words, Some(takers))
    }

    fn new(words: Vec<u32>, takers: Option<Vec<Weighted>>) -> Table {
        let stamps = words.iter().map(|word| (word >> 16) as u16).filter(|&stamp| stamp != 0);
        Table(Arc::new(Inner { stamps: stamps.collect(), words, takers }))
    }

    /// True if it was made of these backends.
    pub(super) fn is_of(&self, takers: &[Weighted]) -> bool {
        self.0.takers.as_deref() == Some(takers)
    }

    /// True if no slot has a stamp.
    pub(super) fn is_unstamped(&self) -> bool {
        self.0.stamps.is_empty()
    }

    /// The same, with another stamp on the slots of some targets.
    pub(super) fn stamped_anew(&self, targets: &BTreeSet<u32>, now: u16) -> Table {
        let mut words = self.0.words.clone();
        maglev::stamp_targets(&mut words, |target| targets.contains(&target), now);
        Table::new(words, self.0.takers.clone())
    }

    /// True if a slot has changed within `age` units of stamps before `now`.
    pub(super) fn has_changed(&self, now: u16, age: u32) -> bool {
        self.0.stamps.iter().any(|&stamp| maglev::is_recent(stamp, now, age))
    }
}

impl Deref for Table {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.0.words
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.words == other.0.words
    }
}

impl Eq for Table {}

impl FromIterator<u32> for Table {
    fn from_iter<I: IntoIterator<Item = u32>>(words: I) -> Table {
        Table::new(words.into_iter().collect(), None)
    }
}
