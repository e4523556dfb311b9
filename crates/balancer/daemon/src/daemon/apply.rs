//! From a plan to the maps, and from the maps that a daemon finds to a plan.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZeroU32;

use heddle_balancer_maps::Error;
use heddle_balancer_maps::abi::{MAGLEV_SIZE, NO_TARGET, Target, TargetState, VipKind};
use heddle_balancer_maps::maps::Maps;
use heddle_hashing::RING_SIZE;

use crate::ids::WireId;
use crate::plan::{self, Change, VipName};

/// Writes one change.
pub(super) fn write(maps: &mut Maps, change: &Change) -> Result<(), Error> {
    match change {
        Change::Target(index, target) => maps.targets.set((*index).into(), target),
        Change::Id(id, Some(index)) => maps.target_ids.insert(&id.get(), &(*index).into()),
        Change::Id(id, None) => maps.target_ids.remove(&id.get()),
        Change::Table(number, slots) => maps.maglev.write(first_slot(*number), slots),
        Change::Ring(parts) => {
            // The owners last: what they lead to is there then.
            for (part, owners) in parts.iter().enumerate().rev() {
                let words: Vec<u32> = owners.iter().map(|&owner| owner.into()).collect();
                maps.ring.write(part * RING_SIZE, &words)?;
            }
            Ok(())
        }
        Change::Vip(name, Some(vip)) => maps.vips.insert(&(*name).into(), vip),
        Change::Vip(name, None) => maps.vips.remove(&(*name).into()),
        Change::Peer(address, Some(index)) => {
            maps.peers.insert(&(*address).into(), &(*index).into())
        }
        Change::Peer(address, None) => maps.peers.remove(&(*address).into()),
        Change::Epoch { epoch, peers } => {
            let settings = maps.settings.get()?;
            maps.settings.set(&heddle_balancer_maps::abi::Settings {
                epoch: *epoch,
                peers: u8::from(*peers),
                ..settings
            })
        }
    }
}

fn first_slot(table: u32) -> usize {
    table as usize * MAGLEV_SIZE as usize
}

/// What the maps say now: those of the daemon before, or empty ones.
pub(super) fn read(maps: &Maps) -> Result<plan::Maps, Error> {
    let vips: BTreeMap<VipName, _> =
        maps.vips.entries()?.into_iter().map(|(key, vip)| (key.into(), vip)).collect();
    let services = vips.values().filter(|vip| vip.kind == VipKind::Service as u8);
    let tables =
        services.map(|vip| vip.table / MAGLEV_SIZE).map(|number| (number, table(maps, number)));
    if vips.is_empty() {
        return Ok(plan::Maps::default()); // Nothing was ever written: this balancer has only just come.
    }
    Ok(plan::Maps {
        targets: targets(maps)?,
        ids: ids(maps)?,
        peers: peers(maps)?,
        tables: tables.collect(),
        ring: ring(maps, 0),
        former_ring: ring(maps, RING_SIZE),
        heirs: ring(maps, 2 * RING_SIZE),
        epoch: maps.settings.get()?.epoch,
        vips,
    })
}

fn table(maps: &Maps, number: u32) -> Vec<u32> {
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

fn peers(maps: &Maps) -> Result<BTreeMap<IpAddr, u16>, Error> {
    let peers = maps.peers.entries()?.into_iter();
    Ok(peers.map(|(address, index)| (address.into(), index as u16)).collect())
}
