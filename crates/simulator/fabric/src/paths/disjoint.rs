//! Link-disjoint paths.

use std::collections::BTreeSet;

use super::{Hop, Path, Paths};

impl Paths<'_> {
    /// Up to `most` paths no two of which share a link between switches, found by taking the first
    /// path that is left, each time, and its links away (a blocking flow, Dinitz 1970): no path is
    /// left that shares no link with them, but another choice may hold more. Inside a rack there is
    /// one.
    pub fn disjoint(&self, most: usize) -> Vec<Path> {
        let (mut found, mut closed) = (Vec::new(), BTreeSet::new());
        let mut path = Path::default();
        while found.len() < most && self.first_open(&mut closed, &mut path) {
            found.push(path.clone());
            if path.hops.len() == 1 {
                break;
            }
        }
        found
    }

    /// Finds the first path without closed links and closes its links, and those that lead nowhere
    /// any more.
    fn first_open(&self, closed: &mut BTreeSet<u32>, path: &mut Path) -> bool {
        path.hops.clear();
        let mut switch = self.from;
        while switch != self.last.switch {
            let hop = self.open_hop(switch, closed);
            if let Some(hop) = hop {
                closed.insert(self.fabric.port_of_switch(switch, hop.port));
                path.hops.push(hop);
                switch = self.fabric.next_switch(switch, hop.port);
            } else if let Some(back) = path.hops.pop() {
                switch = back.switch;
            } else {
                return false;
            }
        }
        path.hops.push(self.last);
        true
    }

    fn open_hop(&self, switch: u32, closed: &BTreeSet<u32>) -> Option<Hop> {
        let ports = self.next_hops(switch);
        let is_open = |port: &_| !closed.contains(&self.fabric.port_of_switch(switch, *port));
        let next_hop = ports.iter().position(is_open)?;
        let next_hops = ports.len() as u16;
        Some(Hop { switch, port: ports[next_hop], next_hop: next_hop as u16, next_hops })
    }
}
