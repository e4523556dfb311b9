//! Next hops by shortest paths: of those that go up and then down, of all, or of those with the
//! fewest links between pods ([`Routing`]).

mod pods;
mod shortest;
mod up_down;

use std::collections::BTreeMap;

use heddle_policy::{Port, Tor};
use heddle_scenario::Routing;

pub use self::pods::Pods;
use self::shortest::cost_of;
pub(crate) use self::shortest::costs_to;
use self::up_down::{UpDown, by_tier};
use crate::{Fabric, FabricError, PortInfo};

/// The distance of a switch without a path.
pub(crate) const UNREACHABLE: u32 = u32::MAX;

/// The next hops of every switch towards every ToR. Equal sets of ports are stored once.
///
/// Those of [`Fabric::routes_by_pods`] have further destinations, numbered after the ToRs: each
/// pod, and one that is nowhere.
#[derive(Clone, Debug)]
pub struct Routes {
    tors: usize,
    /// Destinations: the ToRs, and the pods with the one that is nowhere.
    targets: usize,
    /// For each switch and destination, its group.
    group: Vec<u16>,
    /// For each group, its ports as a range of `ports`.
    ranges: Vec<(u32, u32)>,
    ports: Vec<Port>,
}

impl Fabric {
    /// Next hops by the shortest paths that the graph's [`Routing`] allows, over the links for
    /// which `is_up` holds (by index of the graph's links).
    ///
    /// # Errors
    /// A fabric with more than 65536 different sets of next hops.
    pub fn routes(&self, is_up: impl Fn(u32) -> bool) -> Result<Routes, FabricError> {
        Routes::new(self, None, is_up)
    }

    /// Checks that every pair of ToRs can reach each other; where hosts have several, that some of
    /// theirs can.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] names the first pair that cannot.
    pub fn check_reachable(&self, routes: &Routes) -> Result<(), FabricError> {
        let homes: BTreeMap<Vec<Tor>, u32> =
            (0..self.hosts).rev().map(|host| (self.tors_of(host), host)).collect();
        if homes.keys().any(|tors| tors.len() > 1) {
            return self.check_homes(routes, &homes);
        }
        for from in 0..self.tors {
            for to in (0..self.tors).filter(|&to| to != from) {
                if routes.next_hops(from, Tor(to as u16)).is_empty() {
                    let name = |tor: u32| self.node(self.hosts + tor).name.clone();
                    return Err(FabricError::Unreachable(name(from), name(to)));
                }
            }
        }
        Ok(())
    }

    /// Checks hosts by the ToRs that they have, one for all with the same.
    fn check_homes(
        &self,
        routes: &Routes,
        homes: &BTreeMap<Vec<Tor>, u32>,
    ) -> Result<(), FabricError> {
        let reaches = |from: &[Tor], to: &[Tor]| {
            from.iter().any(|&from| to.iter().any(|&to| routes.reaches(from, to)))
        };
        for (from, a) in homes {
            if let Some((_, b)) = homes.iter().find(|(to, _)| !reaches(from, to)) {
                let name = |host: u32| self.node(host).name.clone();
                return Err(FabricError::Unreachable(name(*a), name(*b)));
            }
        }
        Ok(())
    }
}

impl Routes {
    /// True if a path leads from a ToR to another, or they are the same.
    #[inline]
    pub fn reaches(&self, from: Tor, to: Tor) -> bool {
        from == to || !self.next_hops(from.0.into(), to).is_empty()
    }

    pub(crate) fn new(
        fabric: &Fabric,
        pods: Option<&Pods>,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<Routes, FabricError> {
        let (switches, tors) = (fabric.switches(), fabric.tors as usize);
        let targets = tors + pods.map_or(0, |pods| usize::from(pods.count()) + 1);
        let mut routes = Routes {
            tors,
            targets,
            group: vec![0; switches as usize * targets],
            ranges: vec![(0, 0)],
            ports: Vec::new(),
        };
        let mut known = BTreeMap::from([(Vec::new(), 0u16)]);
        let order = by_tier(fabric);
        let to_tor = |tor| Distances::to(fabric, tor, &order, &is_up);
        let to_pod = |pod: Vec<u32>| Distances::Cheapest(costs_to(fabric, &pod, &is_up));
        let members = pods.into_iter().flat_map(Pods::members);
        let all = (0..fabric.tors).map(to_tor).chain(members.map(to_pod));
        for (target, distances) in all.enumerate() {
            for switch in 0..switches {
                let hops = distances.next_hops(fabric, switch, &is_up);
                let group = routes.intern(&mut known, hops)?;
                routes.group[switch as usize * routes.targets + target] = group;
            }
        }
        Ok(routes)
    }

    /// The destination of packets on their way to a pod; `None` if these routes do not lead to
    /// pods.
    pub fn to_pod(&self, pod: u16) -> Option<Tor> {
        let target = self.tors + usize::from(pod);
        (target + 1 < self.targets).then_some(Tor(target as u16))
    }

    /// The destination of packets whose path is still to be chosen, to which no switch has a next
    /// hop; `None` if these routes do not lead to pods.
    #[inline]
    pub fn undecided(&self) -> Option<Tor> {
        (self.tors < self.targets).then(|| Tor((self.targets - 1) as u16))
    }

    fn intern(
        &mut self,
        known: &mut BTreeMap<Vec<Port>, u16>,
        hops: Vec<Port>,
    ) -> Result<u16, FabricError> {
        if let Some(&group) = known.get(&hops) {
            return Ok(group);
        }
        let most = usize::from(u16::MAX);
        let group = u16::try_from(self.ranges.len())
            .map_err(|_| FabricError::TooMany(most + 1, "sets of next hops", most))?;
        let start = self.ports.len() as u32;
        self.ports.extend_from_slice(&hops);
        self.ranges.push((start, self.ports.len() as u32));
        known.insert(hops, group);
        Ok(group)
    }

    /// Next hops of `switch` towards `tor`, in order of port; empty if there is no path, or at the
    /// ToR itself (in the pod itself).
    #[inline]
    pub fn next_hops(&self, switch: u32, tor: Tor) -> &[Port] {
        let group = self.group[switch as usize * self.targets + usize::from(tor.0)];
        let (start, end) = self.ranges[usize::from(group)];
        &self.ports[start as usize..end as usize]
    }

    /// The table that [`Routes::next_hops`] reads first, and the index that it reads: for callers
    /// that prefetch memory.
    #[inline]
    pub fn place(&self, switch: u32, tor: Tor) -> (&[u16], u32) {
        (&self.group, switch * self.targets as u32 + u32::from(tor.0))
    }

    /// Different sets of next hops in the whole fabric.
    pub fn groups(&self) -> usize {
        self.ranges.len()
    }
}

/// Distance of every switch from one ToR, in hops, or in the cost of links.
enum Distances {
    UpDown(UpDown),
    Cheapest(Vec<u32>),
}

impl Distances {
    fn to(fabric: &Fabric, tor: u32, order: &[u32], is_up: &impl Fn(u32) -> bool) -> Distances {
        match fabric.graph.routing {
            Routing::UpDown => Distances::UpDown(UpDown::to(fabric, tor, order, is_up)),
            Routing::Shortest | Routing::Minimal => {
                Distances::Cheapest(costs_to(fabric, &[tor], is_up))
            }
        }
    }

    /// Distance of each switch.
    fn all(&self) -> &[u32] {
        match self {
            Distances::UpDown(hops) => &hops.any,
            Distances::Cheapest(costs) => costs,
        }
    }

    fn next_hops(&self, fabric: &Fabric, switch: u32, is_up: &impl Fn(u32) -> bool) -> Vec<Port> {
        let here = self.all()[switch as usize];
        if here == 0 || here == UNREACHABLE {
            return Vec::new();
        }
        let is_next = |port: &PortInfo| {
            let far = port.to - fabric.hosts;
            match self {
                Distances::UpDown(hops) => hops.takes(switch, far, port),
                Distances::Cheapest(costs) => {
                    costs[far as usize].checked_add(cost_of(fabric, port)) == Some(here)
                }
            }
        };
        let ports = fabric.ports_of(fabric.hosts + switch).iter().zip(0..);
        ports
            .filter(|(port, _)| !port.to_host && is_up(port.link) && is_next(port))
            .map(|(_, number)| Port(number))
            .collect()
    }
}

impl Fabric {
    /// Number of paths that packets may take from one ToR to another, parallel links counted apart.
    pub fn count_paths(&self, from: u32, to: u32) -> u64 {
        let all_up = |_| true;
        let distances = Distances::to(self, to, &by_tier(self), &all_up);
        let mut switches: Vec<u32> = (0..self.switches()).collect();
        switches.sort_by_key(|&switch| distances.all()[switch as usize]);
        let mut paths = vec![0u64; switches.len()];
        paths[to as usize] = 1;
        for switch in switches {
            let hops = distances.next_hops(self, switch, &all_up);
            let ports = self.ports_of(self.hosts + switch);
            let far = |hop: &Port| (ports[usize::from(hop.0)].to - self.hosts) as usize;
            paths[switch as usize] += hops.iter().map(|hop| paths[far(hop)]).sum::<u64>();
        }
        paths[from as usize]
    }
}
