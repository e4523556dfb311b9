//! Operations in rings (Patarasuk and Yuan, JPDC 2009), and in rings of rings.

use heddle_units::Bytes;

use super::{Collective, part};
use crate::GraphFlow;

/// A ring of some ranks, each with a vector of which every one has a part.
pub(super) struct Ring {
    /// The ranks, each before its successor.
    ranks: Vec<u64>,
    /// Bytes of a vector.
    size: Bytes,
    /// The part that each sends first, counted from that of its place in the ring.
    first: u64,
    /// For each, the flow that it waits for in the first step; empty if they wait for none.
    after: Vec<u32>,
}

impl Ring {
    /// All of `count` ranks, which wait for nothing.
    pub(super) fn of(count: u64, size: Bytes) -> Ring {
        Ring { ranks: (0..count).collect(), size, first: 0, after: Vec::new() }
    }
}

impl Collective {
    /// Steps in each of which every rank of a ring sends one part to its successor: after the first
    /// the one that it received in the step before. n - 1 of them add up or gather, twice as many
    /// do both. Gives the last flow to each; none if there are no steps.
    pub(super) fn ring(&self, ring: &Ring, steps: u64, flows: &mut Vec<GraphFlow>) -> Vec<u32> {
        let (base, count) = (flows.len() as u64, ring.ranks.len() as u64);
        // The flow of a step to the rank of some place.
        let received =
            |step: u64, place: u64| (base + step * count + (place + count - 1) % count) as u32;
        let rank = |place: u64| ring.ranks[(place % count) as usize];
        let of_step = |step: u64, place: u64| {
            let after = match step {
                0 => ring.after.get(place as usize).copied(),
                _ => Some(received(step - 1, place)),
            };
            let part = part(ring.size, count, place + ring.first + count - step % count);
            self.flow((rank(place), rank(place + 1)), part, after.into_iter().collect())
        };
        let places = |step: u64| (0..count).map(move |place| (step, place));
        flows.extend((0..steps).flat_map(places).map(|(step, place)| of_step(step, place)));
        let last = steps.checked_sub(1).into_iter();
        last.flat_map(places).map(|(step, place)| received(step, place)).collect()
    }

    /// A reduce-scatter in each group of ranks that follow each other, then an all-reduce of what
    /// these have among the ranks of one place in their groups, then an all-gather in each group
    /// (Cho et al., BlueConnect, MLSys 2019; of two levels). A rank sends 2 (n - 1) / n of its
    /// vector, as in one ring, but only 2 (n / group - 1) / n of it to other groups.
    pub(super) fn hierarchical(&self, group: u64, flows: &mut Vec<GraphFlow>) {
        let groups = self.count() / group;
        let inside = |number: u64, first: u64, after: Vec<u32>| {
            let ranks = (number * group..(number + 1) * group).collect();
            Ring { ranks, size: self.size, first, after }
        };
        let scattered: Vec<Vec<u32>> = (0..groups)
            .map(|number| self.ring(&inside(number, 0, Vec::new()), group - 1, flows))
            .collect();
        // The part that reached a rank last is that of its successor.
        let between = |place: u64| Ring {
            ranks: (0..groups).map(|number| number * group + place).collect(),
            size: part(self.size, group, place + 1),
            first: 0,
            after: scattered.iter().map(|to| to[place as usize]).collect(),
        };
        let reduced: Vec<Vec<u32>> =
            (0..group).map(|place| self.ring(&between(place), 2 * (groups - 1), flows)).collect();
        for number in 0..groups {
            let after = reduced.iter().map(|to| to[number as usize]).collect();
            self.ring(&inside(number, 1, after), group - 1, flows);
        }
    }
}
