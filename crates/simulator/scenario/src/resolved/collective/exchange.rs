//! Operations in whose steps each rank sends to one and receives from one, once its flows of the step
//! before have arrived in both directions (Thakur, Rabenseifner and Gropp, IJHPCA 2005).

use heddle_units::Bytes;

use super::{Collective, first_parts, part};
use crate::GraphFlow;

impl Collective {
    /// n - 1 steps: in step k each rank sends to the one k ranks on.
    pub(super) fn all_to_all(&self, flows: &mut Vec<GraphFlow>) {
        let count = self.count();
        let of_step = |step: u64, rank: u64| {
            let sent = |step: u64, rank: u64| ((step - 1) * count + rank) as u32;
            let received = (rank + count + 1 - step) % count;
            let after = match step {
                1 => Vec::new(),
                _ => vec![sent(step - 1, rank), sent(step - 1, received)],
            };
            self.flow((rank, rank + step), part(self.size, count, rank + step), after)
        };
        flows.extend((1..count).flat_map(|step| (0..count).map(move |rank| of_step(step, rank))));
    }

    /// 2 log2 n steps of n = 2^i ranks, by Rabenseifner's algorithm: a reduce-scatter by recursive
    /// halving, in which ranks n/2, n/4, .. 1 apart exchange halves of what they have left to add
    /// up, then an all-gather by recursive doubling, in which they exchange what they have, from
    /// the nearest to the farthest.
    pub(super) fn halving_doubling(&self, flows: &mut Vec<GraphFlow>) {
        let (count, doubling) = (self.count(), self.distances());
        let halving = doubling.iter().rev();
        let steps = halving.map(|&far| (far, true)).chain(doubling.iter().map(|&far| (far, false)));
        let mut before: Option<(u64, u64)> = None;
        for (far, is_halving) in steps {
            let base = flows.len() as u64;
            for rank in 0..count {
                let partner = rank ^ far;
                // The parts of the one whose they become, or have been.
                let start = (if is_halving { partner } else { rank }) / far * far;
                let upto = |parts: u64| first_parts(self.size, count, parts);
                let after = before
                    .map(|(base, far)| [rank, rank ^ far].map(|from| (base + from) as u32).into())
                    .unwrap_or_default();
                let size = Bytes(upto(start + far) - upto(start));
                flows.push(self.flow((rank, partner), size, after));
            }
            before = Some((base, far));
        }
    }
}
