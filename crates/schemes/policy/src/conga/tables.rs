//! A leaf's two congestion tables (section 3.3 of the paper): a row for each other leaf, a metric
//! for each LBTag.
//!
//! Rows outside of the table read as empty and store nothing. A switch ages a metric with a bit and
//! a sweep, as CONGA ages flowlets (section 3.4); here a timestamp does the same, exactly.

use alloc::{boxed::Box, vec};

use super::tag::{LBTAGS, METRIC_BITS, PathMetric};
use crate::{Digest, Nanos};

/// Switch bits per row: for each LBTag a metric and an age bit; in the From table also valid and
/// changed bits, and the round robin index.
const TO_ROW_BITS: usize = LBTAGS * (METRIC_BITS as usize + 1);
const FROM_ROW_BITS: usize = LBTAGS * (METRIC_BITS as usize + 3) + 4;

#[derive(Clone, Copy, Debug, Default)]
struct Metric {
    value: u8,
    updated: Nanos,
}

impl Metric {
    fn digest(&self, digest: &mut Digest) {
        digest.words(&[self.value.into(), self.updated]);
    }

    fn is_old(&self, now: Nanos, age: Nanos) -> bool {
        now.saturating_sub(self.updated) > age
    }

    fn read(&self, now: Nanos, age: Nanos) -> u8 {
        if self.is_old(now, age) { 0 } else { self.value }
    }
}

/// Congestion-To-Leaf table: congestion of the paths from this leaf's uplinks to other leaves, as
/// fed back by these.
#[derive(Clone, Debug)]
pub(super) struct ToLeaf {
    rows: Box<[[Metric; LBTAGS]]>,
    age: Nanos,
}

impl ToLeaf {
    pub fn new(leaves: usize, age: Nanos) -> ToLeaf {
        ToLeaf { rows: vec![[Metric::default(); LBTAGS]; leaves].into_boxed_slice(), age }
    }

    pub fn store(&mut self, leaf: u16, now: Nanos, reading: PathMetric) {
        if let Some(row) = self.rows.get_mut(usize::from(leaf)) {
            row[usize::from(reading.lbtag)] = Metric { value: reading.metric, updated: now };
        }
    }

    /// Metric of an LBTag; 0 without feedback for the metric's age.
    pub fn read(&self, leaf: u16, now: Nanos, lbtag: u8) -> u8 {
        let row = self.rows.get(usize::from(leaf));
        row.map_or(0, |row| row[usize::from(lbtag)].read(now, self.age))
    }

    pub fn digest(&self, digest: &mut Digest) {
        self.rows.iter().flatten().for_each(|metric| metric.digest(digest));
    }

    pub fn metric_bits(&self) -> usize {
        self.rows.len() * LBTAGS * METRIC_BITS as usize
    }

    pub fn state_bits(&self) -> usize {
        self.rows.len() * TO_ROW_BITS
    }
}

/// Metrics of one leaf and the state of their feedback. Masks have a bit for each LBTag.
#[derive(Clone, Copy, Debug, Default)]
struct FromRow {
    metrics: [Metric; LBTAGS],
    valid: u16,
    changed: u16,
    round_robin: u8,
}

impl FromRow {
    /// The next LBTag in round robin order, a changed one if there is any.
    fn next(&mut self) -> Option<u8> {
        let candidates = if self.changed != 0 { self.changed } else { self.valid };
        if candidates == 0 {
            return None;
        }
        let ahead = candidates.rotate_right(self.round_robin.into()).trailing_zeros() as u8;
        let lbtag = (self.round_robin + ahead) % LBTAGS as u8;
        self.round_robin = (lbtag + 1) % LBTAGS as u8;
        self.changed &= !(1 << lbtag);
        Some(lbtag)
    }
}

/// Congestion-From-Leaf table: congestion of the paths from other leaves' uplinks to this leaf, to
/// be fed back.
#[derive(Clone, Debug)]
pub(super) struct FromLeaf {
    rows: Box<[FromRow]>,
    age: Nanos,
}

impl FromLeaf {
    pub fn new(leaves: usize, age: Nanos) -> FromLeaf {
        FromLeaf { rows: vec![FromRow::default(); leaves].into_boxed_slice(), age }
    }

    pub fn store(&mut self, leaf: u16, now: Nanos, reading: PathMetric) {
        let Some(row) = self.rows.get_mut(usize::from(leaf)) else { return };
        let (metric, bit) = (&mut row.metrics[usize::from(reading.lbtag)], 1 << reading.lbtag);
        row.valid |= bit;
        if metric.read(now, self.age) != reading.metric {
            row.changed |= bit;
        }
        *metric = Metric { value: reading.metric, updated: now };
    }

    /// The next metric to feed back to `leaf`: round robin, those that changed first. An old one is
    /// fed back once, as 0.
    pub fn next_feedback(&mut self, leaf: u16, now: Nanos) -> Option<PathMetric> {
        let row = self.rows.get_mut(usize::from(leaf))?;
        let lbtag = row.next()?;
        let metric = row.metrics[usize::from(lbtag)];
        if metric.is_old(now, self.age) {
            row.valid &= !(1 << lbtag);
        }
        Some(PathMetric { lbtag, metric: metric.read(now, self.age) })
    }

    pub fn digest(&self, digest: &mut Digest) {
        for row in &self.rows {
            row.metrics.iter().for_each(|metric| metric.digest(digest));
            digest.words(&[row.valid.into(), row.changed.into(), row.round_robin.into()]);
        }
    }

    pub fn metric_bits(&self) -> usize {
        self.rows.len() * LBTAGS * METRIC_BITS as usize
    }

    pub fn state_bits(&self) -> usize {
        self.rows.len() * FROM_ROW_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Nanos = 10_000_000;

    fn reading(lbtag: u8, metric: u8) -> PathMetric {
        PathMetric { lbtag, metric }
    }

    #[test]
    fn a_metric_is_0_before_feedback_and_after_its_age() {
        let mut to = ToLeaf::new(2, AGE);
        assert_eq!(to.read(1, 0, 3), 0);
        to.store(1, 5, reading(3, 6));
        assert_eq!((to.read(1, 5, 3), to.read(1, 5, 4), to.read(0, 5, 3)), (6, 0, 0));
        assert_eq!((to.read(1, AGE + 5, 3), to.read(1, AGE + 6, 3)), (6, 0));
    }

    #[test]
    fn feedback_goes_round() {
        let mut from = FromLeaf::new(2, AGE);
        assert_eq!(from.next_feedback(1, 0), None, "no metric yet");
        for lbtag in [0, 2, 15] {
            from.store(1, 0, reading(lbtag, 4));
        }
        let fed: [u8; 7] = core::array::from_fn(|_| from.next_feedback(1, 1).unwrap().lbtag);
        assert_eq!(fed, [0, 2, 15, 0, 2, 15, 0]);
        assert_eq!(from.next_feedback(0, 1), None, "another leaf");
    }

    #[test]
    fn changed_metrics_are_fed_back_first() {
        let mut from = FromLeaf::new(1, AGE);
        for lbtag in 0..4 {
            from.store(0, 0, reading(lbtag, 1));
            from.next_feedback(0, 0);
        }
        from.store(0, 1, reading(1, 1));
        from.store(0, 1, reading(2, 7));
        assert_eq!(
            from.next_feedback(0, 2),
            Some(reading(2, 7)),
            "1 was stored again, but has not changed"
        );
        assert_eq!(from.next_feedback(0, 2), Some(reading(3, 1)), "then on in turn");
        assert_eq!(from.next_feedback(0, 2), Some(reading(0, 1)));
    }

    #[test]
    fn an_old_metric_is_fed_back_once_as_0() {
        let mut from = FromLeaf::new(1, AGE);
        from.store(0, 0, reading(3, 7));
        assert_eq!(from.next_feedback(0, AGE), Some(reading(3, 7)));
        assert_eq!(from.next_feedback(0, AGE + 1), Some(reading(3, 0)));
        assert_eq!(from.next_feedback(0, AGE + 2), None);
    }

    #[test]
    fn an_old_metric_stored_again_has_changed() {
        let mut from = FromLeaf::new(1, AGE);
        for lbtag in [0, 3] {
            from.store(0, 0, reading(lbtag, 7));
            from.next_feedback(0, 0);
        }
        from.store(0, AGE, reading(0, 7));
        from.store(0, AGE + 1, reading(3, 7));
        assert_eq!(from.next_feedback(0, AGE + 1), Some(reading(3, 7)), "though it is 0's turn");
    }

    #[test]
    fn rows_outside_the_table_are_empty() {
        let (mut to, mut from) = (ToLeaf::new(1, AGE), FromLeaf::new(1, AGE));
        to.store(1, 0, reading(0, 7));
        from.store(1, 0, reading(0, 7));
        assert_eq!((to.read(1, 0, 0), from.next_feedback(1, 0)), (0, None));
    }
}
