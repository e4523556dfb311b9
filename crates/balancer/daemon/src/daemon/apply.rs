//! The way of a plan into the maps, and of the maps that a daemon finds into a plan.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::num::NonZeroU32;

use heddle_balancer_maps::Error;
use heddle_balancer_maps::abi::{
    MAGLEV_SIZE, MAGLEV_STRIDE, NO_TARGET, Settings, Target, TargetState, VipKind,
};
use heddle_balancer_maps::maps::{Maps, ServiceLimit};
use heddle_hashing::RING_SIZE;

use crate::ids::WireId;
use crate::plan::{self, AccessName, Change, Derived, ServerName, Table, VipName};

/// The maps of the data plane, as the daemon writes them.
pub(super) trait DataPlane {
    /// Makes one change.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn change(&mut self, change: &Change) -> Result<(), Error>;

    /// Writes the settings.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn set_settings(&mut self, settings: &Settings) -> Result<(), Error>;

    /// The contents of settings and maps.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn read(&self) -> Result<Contents<'static>, Error>;
}

/// The contents of settings and maps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contents<'a> {
    pub(super) settings: Settings,
    pub(super) maps: Cow<'a, plan::Maps>,
}

/// A failed replacement of the maps' contents.
#[derive(Debug, thiserror::Error)]
#[error("{error}{}", rollback.as_ref().map_or(String::new(), |error| format!("; undoing it has failed, too: {error}")))]
pub struct ReplaceError {
    /// The failed write.
    pub(super) error: Box<Error>,
    /// The failed write of the way back; none: all is as it was.
    pub(super) rollback: Option<Box<Error>>,
}

/// Writes the way from the contents `before` to those `after`: settings first, then change by
/// change. After each of them packets are forwarded well ([`plan`]); after an error the rest is
/// missing.
///
/// # Errors
/// The kernel's.
pub(super) fn write(
    to: &mut impl DataPlane,
    before: &Contents<'_>,
    after: &Contents<'_>,
) -> Result<(), Error> {
    // What follows from the maps has its place among the changes.
    let settings = Derived::from(&before.settings).on(after.settings);
    if settings != before.settings {
        to.set_settings(&settings)?;
    }
    for change in plan::changes(&before.maps, &after.maps) {
        to.change(&change)?;
    }
    Ok(())
}

/// The same at once or not at all: after an error the way back is written.
///
/// # Errors
/// [`ReplaceError`].
pub(super) fn replace(
    to: &mut impl DataPlane,
    before: &Contents<'_>,
    after: &Contents<'_>,
) -> Result<(), ReplaceError> {
    write(to, before, after).map_err(|error| ReplaceError {
        error: Box::new(error),
        rollback: write(to, after, before).err().map(Box::new),
    })
}

impl DataPlane for Maps {
    fn change(&mut self, change: &Change) -> Result<(), Error> {
        match change {
            Change::Target(index, target) => self.targets.set((*index).into(), target),
            Change::Id(id, Some(index)) => self.target_ids.insert(&id.get(), &(*index).into()),
            Change::Id(id, None) => self.target_ids.remove(&id.get()),
            Change::GroupTarget(key, Some(index)) => {
                self.group_targets.insert(key, &(*index).into())
            }
            Change::GroupTarget(key, None) => self.group_targets.remove(key),
            Change::QuicServer(name, Some(index)) => {
                self.quic_servers.insert(&name.into(), &(*index).into())
            }
            Change::QuicServer(name, None) => self.quic_servers.remove(&name.into()),
            Change::AccessRule(name, Some(rule)) => self.access_rules.insert((*name).into(), rule),
            Change::AccessRule(name, None) => self.access_rules.remove((*name).into()),
            Change::AccessLimit(service, limit) => self.access_limits.set(*service, *limit),
            Change::Table(number, slots) => self.maglev.write(first_slot(*number), slots),
            Change::Ring(parts) => write_ring(self, parts),
            Change::Vip(name, Some(vip)) => self.vips.insert(&(*name).into(), vip),
            Change::Vip(name, None) => self.vips.remove(&(*name).into()),
            Change::Peer(address, Some(index)) => {
                self.peers.insert(&(*address).into(), &(*index).into())
            }
            Change::Peer(address, None) => self.peers.remove(&(*address).into()),
            Change::Derived(derived) => self.settings.set(&derived.on(self.settings.get()?)),
        }
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<(), Error> {
        self.settings.set(settings)
    }

    fn read(&self) -> Result<Contents<'static>, Error> {
        Ok(Contents { settings: self.settings.get()?, maps: Cow::Owned(contents(self)?) })
    }
}

/// The owners last: the parts that they lead to are there then.
fn write_ring(maps: &mut Maps, parts: &[Vec<u16>; 3]) -> Result<(), Error> {
    for (part, owners) in parts.iter().enumerate().rev() {
        let words: Vec<u32> = owners.iter().map(|&owner| owner.into()).collect();
        maps.ring.write(part * RING_SIZE, &words)?;
    }
    Ok(())
}

fn first_slot(table: u32) -> usize {
    table as usize * MAGLEV_STRIDE as usize
}

/// The maps as the daemon before has left them; empty if there was none.
pub(super) fn found(maps: &Maps) -> Result<plan::Maps, Error> {
    if maps.vips.entries()?.is_empty() {
        return Ok(plan::Maps::default()); // Nothing was ever written: this balancer has only just come.
    }
    contents(maps)
}

fn contents(maps: &Maps) -> Result<plan::Maps, Error> {
    let vips: BTreeMap<VipName, _> =
        maps.vips.entries()?.into_iter().map(|(key, vip)| (key.into(), vip)).collect();
    let services = vips.values().filter(|vip| vip.kind == VipKind::Service as u8);
    // Each port of a service names its table.
    let numbers: BTreeSet<u32> = services.map(|vip| vip.table / MAGLEV_STRIDE).collect();
    let tables = numbers.into_iter().map(|number| (number, table(maps, number)));
    let settings = maps.settings.get()?;
    Ok(plan::Maps {
        targets: targets(maps)?,
        ids: ids(maps)?,
        group_targets: group_targets(maps)?,
        quic_servers: quic_servers(maps)?,
        access_rules: access_rules(maps)?,
        access_limits: access_limits(maps)?,
        peers: peers(maps)?,
        tables: tables.collect(),
        ring: ring(maps, 0),
        former_ring: ring(maps, RING_SIZE),
        second_ring: ring(maps, 2 * RING_SIZE),
        epoch: settings.epoch,
        tables_changed: settings.tables_changed != 0,
        ask_always: settings.ask_always != 0,
        macs: plan::read_macs(&settings.macs),
        vips,
    })
}

fn table(maps: &Maps, number: u32) -> Table {
    let first = first_slot(number);
    let slots = first..first + MAGLEV_SIZE as usize;
    slots.map(|slot| maps.maglev.get(slot).unwrap_or(NO_TARGET)).collect()
}

/// A part of the ring.
fn ring(maps: &Maps, first: usize) -> Vec<u16> {
    let slots = first..first + RING_SIZE;
    slots.map(|slot| maps.ring.get(slot).unwrap_or(NO_TARGET) as u16).collect()
}

fn targets(maps: &Maps) -> Result<BTreeMap<u16, Target>, Error> {
    let mut targets = BTreeMap::new();
    for index in 1..maps.targets.room() {
        let target = maps.targets.get(index)?;
        if target.state != TargetState::None as u8 {
            targets.insert(index as u16, target);
        }
    }
    Ok(targets)
}

fn ids(maps: &Maps) -> Result<BTreeMap<WireId, u16>, Error> {
    let named = maps.target_ids.entries()?.into_iter();
    Ok(named.filter_map(|(id, index)| Some((WireId(NonZeroU32::new(id)?), index as u16))).collect())
}

fn group_targets(maps: &Maps) -> Result<BTreeMap<u32, u16>, Error> {
    let targets = maps.group_targets.entries()?.into_iter();
    Ok(targets.map(|(key, index)| (key, index as u16)).collect())
}

fn quic_servers(maps: &Maps) -> Result<BTreeMap<ServerName, u16>, Error> {
    let servers = maps.quic_servers.entries()?.into_iter();
    Ok(servers.map(|(key, index)| (key.into(), index as u16)).collect())
}

fn access_rules(maps: &Maps) -> Result<BTreeMap<AccessName, u32>, Error> {
    let rules = maps.access_rules.entries()?.into_iter();
    Ok(rules.map(|(prefix, rule)| (prefix.into(), rule)).collect())
}

fn access_limits(maps: &Maps) -> Result<BTreeMap<u16, ServiceLimit>, Error> {
    let mut limits = BTreeMap::new();
    for service in 1..maps.access_limits.room() as u16 {
        if let Some(limit) = maps.access_limits.get(service)? {
            limits.insert(service, limit);
        }
    }
    Ok(limits)
}

fn peers(maps: &Maps) -> Result<BTreeMap<IpAddr, u16>, Error> {
    let peers = maps.peers.entries()?.into_iter();
    Ok(peers.map(|(address, index)| (address.into(), index as u16)).collect())
}
