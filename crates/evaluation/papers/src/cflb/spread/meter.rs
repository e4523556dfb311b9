//! One chooser's counts.

use heddle_policy::cflb::Fields;

use super::{ChiSquare, Deviations, Plan, Spread};
use crate::cflb::flows::Packet;
use crate::cflb::hashes::Chooser;

/// Counts a chooser's packets on each path, interval by interval.
pub(super) struct Meter<'a> {
    chooser: &'a Chooser,
    plan: Plan,
    /// Each flow's path.
    path_of: Vec<u32>,
    interval: u64,
    /// Packets on each path in this interval.
    counts: Vec<u64>,
    packets: u64,
    shares: Vec<Vec<f64>>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(chooser: &'a Chooser, plan: &Plan) -> Meter<'a> {
        let counts = vec![0; plan.paths()];
        let (path_of, shares) = (Vec::new(), Vec::new());
        Meter { chooser, plan: *plan, path_of, interval: 0, counts, packets: 0, shares }
    }

    pub(super) fn read(&mut self, batch: &[Packet]) {
        for packet in batch {
            let interval = packet.at.0 / self.plan.interval.0.max(1);
            if interval != self.interval {
                self.close();
                self.interval = interval;
            }
            if packet.flow as usize >= self.path_of.len() {
                self.path_of.push(self.path(&packet.fields));
            }
            if let Some(path) = self.path_of.get(packet.flow as usize) {
                self.counts[*path as usize] += 1;
            }
        }
        self.packets += batch.len() as u64;
    }

    fn path(&self, fields: &Fields) -> u32 {
        let next_hops = self.plan.next_hops;
        (0..self.plan.routers).fold(0, |path, router| {
            let seen = Fields { ttl: fields.ttl.saturating_sub(router as u8), ..*fields };
            let hop = self.chooser.function.next_hop(&seen, router, next_hops);
            path * u32::from(next_hops) + u32::from(hop)
        })
    }

    fn close(&mut self) {
        let all: u64 = self.counts.iter().sum();
        if all > 0 {
            let percent = |count: &u64| *count as f64 / all as f64 * 100.0;
            self.shares.push(self.counts.iter().map(percent).collect());
            self.counts.fill(0);
        }
    }

    pub(super) fn finish(mut self) -> Spread {
        if self.shares.is_empty() {
            self.close();
        }
        let even = 100.0 / self.plan.paths() as f64;
        let paths = self.shares.iter().map(|shares| farthest(shares, even)).collect();
        let links = self.shares.iter().map(|shares| self.farthest_link(shares)).collect();
        let mut flows = vec![0u64; self.plan.paths()];
        self.path_of.iter().for_each(|path| flows[*path as usize] += 1);
        Spread {
            chooser: self.chooser.name.clone(),
            packets: self.packets,
            flows: ChiSquare::uniform(&flows),
            links: Deviations::of(links),
            paths: Deviations::of(paths),
            shares: self.shares,
        }
    }

    /// The largest deviation of any link of any router.
    fn farthest_link(&self, shares: &[f64]) -> f64 {
        let next_hops = usize::from(self.plan.next_hops);
        let even = 100.0 / next_hops as f64;
        let mut stride = shares.len();
        let mut most = 0.0f64;
        for _ in 0..self.plan.routers {
            stride /= next_hops;
            let mut links = vec![0.0; next_hops];
            let add = |(path, share): (usize, &f64)| links[path / stride % next_hops] += share;
            shares.iter().enumerate().for_each(add);
            most = most.max(farthest(&links, even));
        }
        most
    }
}

fn farthest(shares: &[f64], even: f64) -> f64 {
    shares.iter().map(|share| (share - even).abs()).fold(0.0, f64::max)
}
