//! The intended contents of the data plane's maps, and the order of the writes that lead there.
//!
//! [`Plan::next`] is a pure function of the configuration, what is known of backends and balancers
//! ([`World`]), and the plan before; [`changes()`] are the writes to the maps that lead from one
//! plan to the next. Written in that order, no packet meets half of a change:
//!
//! - A service has two Maglev tables. A change fills the one that is not in use, then the VIP is
//!   turned to it by one write.
//! - Flows and tokens name targets and services by index. One that leaves the configuration keeps
//!   its index, and its state, until all that named it has timed out; then it is down for as long
//!   again, for flows that never rested; then the index is free ([`Phase`]).
//! - The epoch goes up with each change of a table or of the ring: flows that hashing explained
//!   before register with their owners.

mod access;
mod change;
mod groups;
mod indices;
mod macs;
mod maps;
mod quic;
mod settings;
mod table;
#[cfg(test)]
mod tests;
mod world;

pub use access::AccessName;
pub use change::{Change, changes};
pub use indices::{Full, Indices, Phase};
pub use macs::read_macs;
pub use maps::{Derived, Maps, VipName};
pub use quic::ServerName;
pub use settings::{Keys, settings};
pub use table::Table;
pub use world::{World, ticks};

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::num::NonZeroU32;

use heddle_balancer_maps::abi;
use heddle_hashing::RING_SIZE;
use heddle_hashing::hash::ServiceKey;
use heddle_hashing::ring::Ring;

use crate::config::{Config, Service};
use crate::ids::WireId;

/// The intended contents of the maps, and the indices of targets and services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The maps.
    pub maps: Maps,
    /// The targets' indices: backends and other balancers.
    pub targets: Indices<WireId>,
    /// The services' numbers.
    pub services: Indices<ServiceKey>,
    /// The numbers of the places of Maglev tables, by the services whose backends are in them.
    pub tables: Indices<ServiceKey>,
}

impl Plan {
    /// The plan for the world as it is.
    ///
    /// # Errors
    /// [`Full`] if more backends, balancers or services are named, those not forgotten included,
    /// than maps have room for.
    pub fn next(&self, config: &Config, world: &World<'_>) -> Result<Plan, Full> {
        let keep = config.timeouts.longest();
        let mut targets = self.targets.clone();
        let mut services = self.services.clone();
        targets.update(&target_ids(config, world), world.now, keep, config.sizes.targets - 1)?;
        let keys: BTreeSet<ServiceKey> = config.services.iter().map(Service::key).collect();
        services.update(&keys, world.now, keep, config.sizes.services)?;
        let owners: BTreeSet<ServiceKey> = config.owners().map(Service::key).collect();
        let mut tables = self.tables.clone();
        tables.part(&owners);
        tables.update(&owners, world.now, keep, config.sizes.maglev_tables / 2)?;
        let mut plan = Plan { maps: Maps::default(), targets, services, tables };
        plan.maps = plan.fill(config, world, &self.maps);
        Ok(plan)
    }

    /// The plan that a daemon finds in pinned maps when it starts. `services` are the keys of the
    /// VIPs that have numbers.
    pub fn found(maps: Maps) -> Plan {
        let targets = maps.targets.iter().filter_map(|(&index, target)| {
            let id = NonZeroU32::new(target.id)?;
            Some((WireId(id), index))
        });
        let services = maps.vips.iter().filter(|(_, vip)| vip.kind == abi::VipKind::Service as u8);
        let places = services.clone();
        let services = services.map(|(name, vip)| (name.service_key(vip), vip.id));
        let places =
            places.map(|(name, vip)| (name.service_key(vip), maps::place_number(vip.table)));
        let (services, tables) = (services.collect(), places.collect());
        Plan { targets: targets.collect(), services, tables, maps }
    }

    fn fill(&self, config: &Config, world: &World<'_>, before: &Maps) -> Maps {
        let targets = maps::targets(config, world, &self.targets, before);
        let tables = maps::tables(config, world, self, &targets, before);
        let all: Vec<u32> = world.balancers.iter().map(|member| member.id.get()).collect();
        let whole = Ring::new(&all);
        let ring = self.ring(world, whole.owners());
        let second_ring = self.ring(world, whole.seconds());
        let former_ring = former_ring(before, &ring, &second_ring);
        let group_targets = groups::targets(config, self);
        let vips = maps::vips(config, self, &tables);
        let changed = maps::have_other_tables(&vips, &before.vips)
            || ring != before.ring
            || tables != before.tables
            || group_targets != before.group_targets;
        let tables_changed = tables.values().any(|table| world.has_changed(config, table));
        Maps {
            vips,
            ids: self.ids(),
            group_targets,
            quic_servers: quic::servers(config, self, &targets, &before.quic_servers),
            access_rules: access::rules(config, self),
            access_limits: access::limits(config, self),
            peers: self.peers(world, before),
            epoch: before.epoch.wrapping_add(u8::from(changed)),
            tables_changed,
            ask_always: world.peer_flows_unexplained
                || (world.peer_tables_changed && !tables_changed),
            targets,
            tables,
            ring,
            former_ring,
            second_ring,
            macs: if world.macs.is_empty() {
                before.macs.clone()
            } else {
                macs::macs(config, world)
            },
        }
    }

    /// The other balancers' indices by address: those that are listed, and those that were, since
    /// packets go on where a daemon has stopped.
    fn peers(&self, world: &World<'_>, before: &Maps) -> BTreeMap<IpAddr, u16> {
        let is_kept = |index: u16| self.targets.iter().any(|(_, kept, _)| kept == index);
        let gone = before.peers.iter().map(|(address, index)| (*address, *index));
        let gone = gone.filter(|(_, index)| is_kept(*index));
        let named = world
            .others_listed()
            .filter_map(|member| Some((member.address, self.targets.index(&member.id)?)));
        gone.chain(named).collect()
    }

    fn ids(&self) -> BTreeMap<WireId, u16> {
        self.targets.iter().map(|(id, index, _)| (*id, index)).collect()
    }

    /// A part of the ring, of these balancers' ids, as targets; this balancer is
    /// [`abi::NO_TARGET`].
    fn ring(&self, world: &World<'_>, owners: &[u32]) -> Vec<u16> {
        let owner = |id: &u32| {
            let others = world.others();
            let owner = others.map(|member| member.id).find(|other| other.get() == *id);
            owner.and_then(|id| self.targets.index(&id)).unwrap_or(abi::NO_TARGET as u16)
        };
        match owners {
            [] => vec![abi::NO_TARGET as u16; RING_SIZE],
            owners => owners.iter().map(owner).collect(),
        }
    }
}

/// All that needs an index: the backends, and the other balancers that are listed.
fn target_ids(config: &Config, world: &World<'_>) -> BTreeSet<WireId> {
    let backends = config.services.iter().flat_map(|service| &service.backends);
    let balancers = world.others_listed().map(|member| member.id);
    backends.map(|backend| backend.id).chain(balancers).collect()
}

/// The owner of each slot before `ring`. A balancer that has only just come was none of them: where
/// it is the owner now, its second was.
fn former_ring(before: &Maps, ring: &[u16], second_ring: &[u16]) -> Vec<u16> {
    if before.ring == ring {
        before.former_ring.clone()
    } else if before.ring.is_empty() {
        let owners = ring.iter().zip(second_ring);
        owners.map(|(&first, &second)| if first == 0 { second } else { first }).collect()
    } else {
        before.ring.clone()
    }
}

/// True of a target whose flows stay with it.
fn keeps_flows(target: &abi::Target) -> bool {
    u32::from(target.state) & abi::TARGET_KEEPS_FLOWS != 0
}
