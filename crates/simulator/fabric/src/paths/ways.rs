//! How many paths lead from switches to one ToR.

use heddle_policy::Tor;

use crate::{Fabric, Routes};

/// Paths from each switch to one ToR, where they have been counted.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    tor: Tor,
    /// By switch; 0 where nobody has counted yet, or there are none.
    ways: Vec<u64>,
    /// Switches yet to count, nearer ones later: kept for its memory.
    order: Vec<u32>,
}

impl Ways {
    /// To a ToR: nothing is counted but that it reaches itself in one way.
    pub(crate) fn to(fabric: &Fabric, tor: Tor) -> Ways {
        let mut ways = vec![0; fabric.switches() as usize];
        ways[usize::from(tor.0)] = 1;
        Ways { tor, ways, order: Vec::new() }
    }

    /// Paths from a switch that has been counted, or that is behind one that has.
    pub(crate) fn from(&self, switch: u32) -> u64 {
        self.ways[switch as usize]
    }

    /// Counts the paths from a switch and from all switches behind it.
    ///
    /// All paths from one switch are of one length, so the switches come up in the order of their distance.
    pub(crate) fn count_from(&mut self, fabric: &Fabric, routes: &Routes, from: u32) {
        /// Met, not counted.
        const MET: u64 = u64::MAX;
        let mut order = std::mem::take(&mut self.order);
        let meet = |ways: &mut Vec<u64>, order: &mut Vec<u32>, switch: u32| {
            if ways[switch as usize] == 0 {
                ways[switch as usize] = MET;
                order.push(switch);
            }
        };
        meet(&mut self.ways, &mut order, from);
        let mut place = 0;
        while let Some(&switch) = order.get(place) {
            for port in routes.next_hops(switch, self.tor) {
                meet(&mut self.ways, &mut order, fabric.next_switch(switch, *port));
            }
            place += 1;
        }
        while let Some(switch) = order.pop() {
            let next_hops = routes.next_hops(switch, self.tor).iter();
            let beyond = next_hops.map(|port| self.from(fabric.next_switch(switch, *port)));
            self.ways[switch as usize] = beyond.fold(0, u64::saturating_add);
        }
        self.order = order;
    }
}
