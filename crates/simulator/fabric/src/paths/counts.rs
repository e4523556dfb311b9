//! Number of paths from each switch to one ToR.

use heddle_policy::Tor;

use crate::{Fabric, Routes};

/// Path counts from the switches to one ToR, computed on demand.
#[derive(Clone, Debug)]
pub(crate) struct PathCounts {
    tor: Tor,
    /// By switch; 0 if not counted yet, or if there is no path.
    counts: Vec<u64>,
    /// Switches still to count, nearer ones later. Kept to reuse its memory.
    order: Vec<u32>,
}

impl PathCounts {
    /// Path counts to a ToR, of which only its own (1) is known.
    pub(crate) fn to(fabric: &Fabric, tor: Tor) -> PathCounts {
        let mut counts = vec![0; fabric.switches() as usize];
        counts[usize::from(tor.0)] = 1;
        PathCounts { tor, counts, order: Vec::new() }
    }

    /// The count of a switch that [`PathCounts::count_from`] was called for, or of one beyond it.
    pub(crate) fn from(&self, switch: u32) -> u64 {
        self.counts[switch as usize]
    }

    /// Counts the paths from a switch and from all switches beyond it.
    ///
    /// All paths from one switch are of one length, so the switches come up in the order of their
    /// distance.
    pub(crate) fn count_from(&mut self, fabric: &Fabric, routes: &Routes, from: u32) {
        /// A switch that was visited and is not yet counted.
        const VISITED: u64 = u64::MAX;
        let mut order = std::mem::take(&mut self.order);
        let visit = |counts: &mut Vec<u64>, order: &mut Vec<u32>, switch: u32| {
            if counts[switch as usize] == 0 {
                counts[switch as usize] = VISITED;
                order.push(switch);
            }
        };
        visit(&mut self.counts, &mut order, from);
        let mut next = 0;
        while let Some(&switch) = order.get(next) {
            for port in routes.next_hops(switch, self.tor) {
                visit(&mut self.counts, &mut order, fabric.next_switch(switch, *port));
            }
            next += 1;
        }
        while let Some(switch) = order.pop() {
            let next_hops = routes.next_hops(switch, self.tor).iter();
            let beyond = next_hops.map(|port| self.from(fabric.next_switch(switch, *port)));
            self.counts[switch as usize] = beyond.fold(0, u64::saturating_add);
        }
        self.order = order;
    }
}
