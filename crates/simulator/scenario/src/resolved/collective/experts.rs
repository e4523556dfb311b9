//! All-to-all of a mixture of experts in parallel, one expert on each rank (Lepikhin et al., GShard,
//! ICLR 2021): a dispatch of tokens, and a combination of results.

use heddle_policy::{mix, pick};
use heddle_units::Bytes;
use serde::Serialize;

use super::Collective;
use crate::GraphFlow;

/// Experts of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Experts {
    /// Experts of each token, from 1 to as many as ranks: all different, and each choice as likely.
    pub experts: u32,
    /// Bytes of a token, at least 1; a rank's last one has what is left.
    pub token: Bytes,
    /// Seed of the draw, so that all runs have the same experts.
    pub draw: u32,
}

/// Bytes from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dispatched {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: u64,
}

impl Experts {
    /// Draws of experts for `ranks` ranks with vectors of `size` bytes.
    pub(crate) fn draws(&self, ranks: u64, size: Bytes) -> u64 {
        ranks.saturating_mul(size.0.div_ceil(self.token.0)).saturating_mul(self.experts.into())
    }

    /// The bytes that ranks send to others, rank by rank, each from its successor on.
    pub(super) fn dispatched(&self, ranks: u32, size: Bytes) -> Vec<Dispatched> {
        // In each draw the first ones of a permutation, which stays one.
        let mut order: Vec<u32> = (0..ranks).collect();
        let mut bytes_to = vec![0; ranks as usize];
        let mut all = Vec::new();
        for from in 0..ranks {
            let seed = mix(self.draw, from);
            let (mut left, mut draws, mut reached) = (size.0, 0, Vec::new());
            while left > 0 {
                let token = left.min(self.token.0);
                for place in 0..self.experts.min(ranks) {
                    // Mixed twice: streams of two ranks are not each other's in another order.
                    let uniform = mix(mix(draws, seed), from);
                    let other = place as usize + pick(uniform, (ranks - place) as usize);
                    order.swap(place as usize, other);
                    let to = order[place as usize];
                    if bytes_to[to as usize] == 0 {
                        reached.push(to);
                    }
                    bytes_to[to as usize] += token;
                    draws += 1;
                }
                left -= token;
            }
            reached.sort_unstable_by_key(|&to| (to + ranks - from) % ranks);
            for to in reached {
                let bytes = std::mem::take(&mut bytes_to[to as usize]);
                if to != from {
                    all.push(Dispatched { from, to, bytes });
                }
            }
        }
        all
    }
}

impl Collective {
    /// Two steps: all tokens are sent at once; a rank sends results, of the tokens' size, once it
    /// has all that were sent to it, which a computation without delay stands for.
    pub(super) fn expert_all_to_all(&self, experts: Experts, flows: &mut Vec<GraphFlow>) {
        let ranks = self.count();
        let dispatched = experts.dispatched(ranks as u32, self.size);
        let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
        for (number, sent) in (0..).zip(&dispatched) {
            arrived[sent.to as usize].push(number);
            let ends = (sent.from.into(), sent.to.into());
            flows.push(self.flow(ends, Bytes(sent.bytes), Vec::new()));
        }
        for (rank, arrived) in (0..).zip(arrived) {
            if arrived.is_empty() {
                continue;
            }
            let computed = flows.len() as u32;
            flows.push(self.flow((rank, rank), Bytes(0), arrived.clone()));
            for number in arrived {
                let Dispatched { from, bytes, .. } = dispatched[number as usize];
                flows.push(self.flow((rank, from.into()), Bytes(bytes), vec![computed]));
            }
        }
    }
}
