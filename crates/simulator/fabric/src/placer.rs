//! Placement of flows on paths, by the load already placed on links.

#[cfg(test)]
mod tests;

use heddle_units::Rate;

use crate::{Fabric, Path, Paths};

/// The most paths of a pair that are considered. Of more, this many are sampled at equal distances
/// in the order of their numbers.
pub const MAX_PATHS: u64 = 4096;

/// The placement algorithm. Links between hosts and ToRs are on every path and do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// The paper's: few flows on each link (section 4.2.1). The path with the fewest links that the
    /// connection's other subflows use; of these the one with the fewest flows on its fullest link;
    /// then with the fewest flows over all its links; then the first. Ties go to the first path,
    /// which packs flows and leaves room elsewhere.
    #[default]
    FewestFlows,
    /// Hedera's global first fit (Al-Fares et al., NSDI 2010, section 4.2): the first path all of
    /// whose links have room for the flow's rate, which is then reserved; if there is none, the one
    /// that is oversubscribed least. Beyond Hedera, whose flows are single, of paths that fit
    /// equally the one with the fewest links that the connection's other subflows use. A flow
    /// without a rate fits everywhere and is placed as by [`Scheduler::FewestFlows`].
    FirstFit,
}

/// A flow that needs a path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand<'a> {
    /// Paths of the connection's other subflows.
    pub avoid: &'a [Path],
    /// The rate to reserve; without one nothing is reserved, and every path has room.
    pub rate: Option<Rate>,
}

/// Result of the capacity check of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All its links have room for the rate.
    Fits,
    /// Its fullest link has more reserved than its rate.
    Oversubscribed {
        /// The excess.
        by: Rate,
    },
}

/// The path of a flow. It is counted on its links until [`Placer::release`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The path.
    pub path: Path,
    /// Number of its links that other subflows of the connection used when it was placed.
    pub shared: u32,
    /// The rate that is reserved.
    pub rate: Option<Rate>,
    /// Result of the capacity check when it was placed.
    pub fit: Fit,
    /// Links between switches, as ports of the fabric.
    links: Vec<u32>,
}

impl Placement {
    /// Its links between switches, as numbers of ports in the fabric.
    pub fn links(&self) -> &[u32] {
        &self.links
    }
}

/// The load placed on every link of a fabric, by direction.
#[derive(Clone, Debug)]
pub struct Placer {
    scheduler: Scheduler,
    /// By port of the fabric.
    loads: Vec<Load>,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
struct Load {
    capacity: Rate,
    flows: u32,
    reserved: Rate,
}

impl Load {
    /// The excess over its capacity, in bits per second, if a rate were added.
    fn excess(&self, rate: Rate) -> u64 {
        self.reserved.0.saturating_add(rate.0).saturating_sub(self.capacity.0)
    }
}

/// The cost of a path, compared lexicographically; less is better.
type Cost = [u64; 3];

impl Placer {
    /// An empty placement.
    pub fn new(fabric: &Fabric, scheduler: Scheduler) -> Placer {
        let load = |capacity| Load { capacity, flows: 0, reserved: Rate(0) };
        let loads = fabric.ports.iter().map(|port| load(fabric.rate_of(port))).collect();
        Placer { scheduler, loads }
    }

    /// Number of flows placed on a port of the fabric; 0 for a number that is not a port's.
    pub fn flows(&self, port: u32) -> u32 {
        self.loads.get(port as usize).map_or(0, |load| load.flows)
    }

    /// The rate reserved on a port of the fabric; 0 for a number that is not a port's.
    pub fn reserved(&self, port: u32) -> Rate {
        self.loads.get(port as usize).map_or(Rate(0), |load| load.reserved)
    }

    /// Places a flow on one of the pair's paths, and counts it on its links. `paths` are those of
    /// the placer's fabric.
    pub fn place(&mut self, paths: &Paths<'_>, demand: &Demand<'_>) -> Placement {
        let fabric = paths.fabric();
        let avoided = links_of(fabric, demand.avoid);
        let considered = paths.count().min(MAX_PATHS);
        let (mut path, mut best) = (Path::default(), None::<(Cost, Path)>);
        for index in 0..considered {
            visit(paths, index, &mut path);
            let cost = self.cost(fabric, &path, &avoided, demand.rate);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, path.clone()));
            }
            if cost == [0; 3] {
                break;
            }
        }
        let path = best.map_or(path, |(_, path)| path);
        self.placement(fabric, path, &avoided, demand.rate)
    }

    /// Removes a placement from its links.
    pub fn release(&mut self, placement: &Placement) {
        let rate = placement.rate.unwrap_or_default().0;
        for &link in &placement.links {
            let load = &mut self.loads[link as usize];
            load.flows = load.flows.saturating_sub(1);
            load.reserved = Rate(load.reserved.0.saturating_sub(rate));
        }
    }

    /// Counts a path on its links that was placed before a restart.
    pub fn restore(&mut self, fabric: &Fabric, path: Path, rate: Option<Rate>) -> Placement {
        self.placement(fabric, path, &[], rate)
    }

    /// Counts a placement on its links, again after it was released.
    pub fn hold(&mut self, placement: &Placement) {
        let rate = placement.rate.unwrap_or_default().0;
        for &link in &placement.links {
            let load = &mut self.loads[link as usize];
            load.flows += 1;
            load.reserved = Rate(load.reserved.0.saturating_add(rate));
        }
    }

    fn placement(
        &mut self,
        fabric: &Fabric,
        path: Path,
        own: &[u32],
        rate: Option<Rate>,
    ) -> Placement {
        let links: Vec<u32> = path.fabric_ports(fabric).collect();
        let shared = links.iter().filter(|link| own.binary_search(link).is_ok()).count() as u32;
        let fit = match self.oversubscribed(links.iter().copied(), rate) {
            0 => Fit::Fits,
            by => Fit::Oversubscribed { by: Rate(by) },
        };
        let placement = Placement { path, shared, rate, fit, links };
        self.hold(&placement);
        placement
    }

    fn cost(&self, fabric: &Fabric, path: &Path, own: &[u32], rate: Option<Rate>) -> Cost {
        let links = || path.fabric_ports(fabric);
        let shared = links().filter(|link| own.binary_search(link).is_ok()).count() as u64;
        let flows = || links().map(|link| u64::from(self.flows(link)));
        match (self.scheduler, rate) {
            (Scheduler::FirstFit, Some(_)) => [self.oversubscribed(links(), rate), shared, 0],
            _ => [shared, flows().max().unwrap_or(0), flows().sum()],
        }
    }

    /// The excess on the fullest of the links, in bits per second.
    fn oversubscribed(&self, links: impl Iterator<Item = u32>, rate: Option<Rate>) -> u64 {
        let Some(rate) = rate else { return 0 };
        links.map(|link| self.loads[link as usize].excess(rate)).max().unwrap_or(0)
    }
}

/// The links of some paths, ascending.
fn links_of(fabric: &Fabric, paths: &[Path]) -> Vec<u32> {
    let mut links: Vec<u32> = paths.iter().flat_map(|path| path.fabric_ports(fabric)).collect();
    links.sort_unstable();
    links
}

/// Writes path `index` of those that are considered, in the order of their numbers.
fn visit(paths: &Paths<'_>, index: u64, path: &mut Path) {
    let count = paths.count();
    if count > MAX_PATHS {
        let number = u128::from(index) * u128::from(count) / u128::from(MAX_PATHS);
        paths.nth(number as u64, path);
    } else if index == 0 {
        paths.first(path);
    } else {
        paths.advance(path);
    }
}
