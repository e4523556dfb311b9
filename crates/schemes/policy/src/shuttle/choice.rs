//! The choice among hops in one pass.

use crate::{Port, ShuttleChoice, ShuttleConfig, mix, pick};

/// The range of costs, and in figures of own ports a full link.
pub(super) const FULL: u32 = 1 << 16;

/// A hop that a flowlet may take. Costs are fractions of the range, at most twice that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub port: Port,
    /// True if another subflow of the connection uses it, and it is to be avoided.
    pub shared: bool,
    /// Congestion of the path: the greater of the remote figure and the own utilisation, and the
    /// own queue.
    pub cost: u32,
    /// Congestion of the own port: utilisation and queue, in full links of [`FULL`].
    pub local: u32,
}

impl Candidate {
    /// (1 - cost)^2 in units of 2^-16, from 1 to 2^16: a hop that is full still has a chance.
    fn weight(&self) -> u32 {
        let room = FULL - self.cost.min(FULL - 1);
        ((u64::from(room) * u64::from(room)) >> 16).max(1) as u32
    }
}

/// The hop chosen among those offered so far.
pub(super) struct Choice {
    rule: ShuttleChoice,
    rnd: u32,
    offered: u32,
    /// Sum of the weights offered, since the first that is not shared.
    total: u32,
    draws: [Option<Candidate>; 2],
    /// True if the first draw counts alone.
    single: bool,
}

impl Choice {
    pub fn new(config: &ShuttleConfig, rnd: u32) -> Choice {
        let single = config.rules.draws < 2 || config.rules.choice == ShuttleChoice::Least;
        Choice { rule: config.rules.choice, rnd, offered: 0, total: 0, draws: [None; 2], single }
    }

    /// Offers one hop. A hop that is shared counts only while all are.
    pub fn offer(&mut self, candidate: &Candidate) {
        let held = self.draws[0].map(|held| held.shared);
        match (held, candidate.shared) {
            (Some(false), true) => return,
            (Some(true), false) => (self.total, self.draws) = (0, [None; 2]),
            _ => {}
        }
        self.total = self.total.saturating_add(candidate.weight());
        self.offered += 1;
        for nth in 0..self.draws.len() {
            if self.replaces(nth as u32, candidate) {
                self.draws[nth] = Some(*candidate);
            }
        }
    }

    /// True if `candidate` takes the place of the hop of draw `nth`.
    fn replaces(&self, nth: u32, candidate: &Candidate) -> bool {
        match self.rule {
            ShuttleChoice::Least => self.draws[0].is_none_or(|held| candidate.cost < held.cost),
            ShuttleChoice::Weighted => {
                let bits = mix(self.rnd, 2 * self.offered + nth);
                pick(bits, self.total as usize) < candidate.weight() as usize
            }
        }
    }

    /// The hop, and true if another subflow uses it. `None` if none was offered.
    pub fn result(self) -> Option<(Port, bool)> {
        let [first, second] = self.draws;
        let first = first?;
        let other = second.filter(|other| !self.single && other.local < first.local);
        let chosen = other.unwrap_or(first);
        Some((chosen.port, chosen.shared))
    }
}
