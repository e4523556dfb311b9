//! The way from one content of the maps to another, write by write.

use std::collections::BTreeMap;
use std::net::IpAddr;

use heddle_balancer_maps::abi::{self, TargetState};

use heddle_balancer_maps::maps::ServiceLimit;

use super::{AccessName, Derived, Maps, ServerName, Table, VipName};
use crate::ids::WireId;

/// A write to a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// To `targets`; all zero: emptied.
    Target(u16, abi::Target),
    /// To `target_ids`; `None`: taken out.
    Id(WireId, Option<u16>),
    /// To `group_targets`; `None`: taken out.
    GroupTarget(u32, Option<u16>),
    /// To `quic_servers`; `None`: taken out.
    QuicServer(ServerName, Option<u16>),
    /// To `access_rules`; `None`: taken out.
    AccessRule(AccessName, Option<u32>),
    /// To `access_limits`; `None`: without limits.
    AccessLimit(u16, Option<ServiceLimit>),
    /// A whole Maglev table, by number; no VIP uses it now.
    Table(u32, Table),
    /// The whole of `ring`: owners, former owners, second owners.
    Ring([Vec<u16>; 3]),
    /// To `vips`; `None`: taken out.
    Vip(VipName, Option<abi::Vip>),
    /// To `peers`; `None`: taken out.
    Peer(IpAddr, Option<u16>),
    /// The part of `settings` that follows from the maps.
    Derived(Derived),
}

/// The writes, in this order, that lead from the maps `before` to those `after`. An entry is
/// written before the entries that name it, and removed after them; a target goes down when no
/// table names it any more, or its flows would be hashed to it again, and one that fails its checks
/// gets no new flows when its slots are stamped.
pub fn changes(before: &Maps, after: &Maps) -> Vec<Change> {
    let mut changes = Vec::new();
    let up = in_state(after, &[TargetState::Up]);
    let down = in_state(after, &[TargetState::Failing, TargetState::Removed, TargetState::Down]);
    set(&mut changes, &before.targets, &up, |index, target| Change::Target(index, *target));
    set(&mut changes, &before.ids, &after.ids, |id, index| Change::Id(id, Some(*index)));
    set(&mut changes, &before.group_targets, &after.group_targets, |key, index| {
        Change::GroupTarget(key, Some(*index))
    });
    set(&mut changes, &before.quic_servers, &after.quic_servers, |name, index| {
        Change::QuicServer(name, Some(*index))
    });
    set(&mut changes, &before.access_rules, &after.access_rules, |name, rule| {
        Change::AccessRule(name, Some(*rule))
    });
    set(&mut changes, &before.access_limits, &after.access_limits, |service, limit| {
        Change::AccessLimit(service, Some(*limit))
    });
    set(&mut changes, &before.tables, &after.tables, |number, table| {
        Change::Table(number, table.clone())
    });
    set(&mut changes, &before.peers, &after.peers, |address, index| {
        Change::Peer(address, Some(*index))
    });
    set(&mut changes, &before.vips, &after.vips, |name, vip| Change::Vip(name, Some(*vip)));
    if before.ring != after.ring {
        let Maps { ring, former_ring, second_ring, .. } = after;
        changes.push(Change::Ring([ring, former_ring, second_ring].map(Vec::clone)));
    }
    if before.derived() != after.derived() {
        changes.push(Change::Derived(after.derived()));
    }
    set(&mut changes, &before.targets, &down, |index, target| Change::Target(index, *target));
    unset(&mut changes, &before.vips, &after.vips, |name| Change::Vip(name, None));
    unset(&mut changes, &before.peers, &after.peers, |address| Change::Peer(address, None));
    unset(&mut changes, &before.group_targets, &after.group_targets, |key| {
        Change::GroupTarget(key, None)
    });
    unset(&mut changes, &before.quic_servers, &after.quic_servers, |name| {
        Change::QuicServer(name, None)
    });
    unset(&mut changes, &before.access_rules, &after.access_rules, |name| {
        Change::AccessRule(name, None)
    });
    unset(&mut changes, &before.access_limits, &after.access_limits, |service| {
        Change::AccessLimit(service, None)
    });
    unset(&mut changes, &before.ids, &after.ids, |id| Change::Id(id, None));
    unset(&mut changes, &before.targets, &after.targets, |index| {
        Change::Target(index, abi::Target::default())
    });
    changes
}

fn in_state(maps: &Maps, states: &[TargetState]) -> BTreeMap<u16, abi::Target> {
    let targets = maps.targets.iter().map(|(&index, &target)| (index, target));
    targets.filter(|(_, target)| states.iter().any(|state| target.state == *state as u8)).collect()
}

fn set<K: Ord + Clone, V: PartialEq>(
    changes: &mut Vec<Change>,
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
    change: impl Fn(K, &V) -> Change,
) {
    let new = after.iter().filter(|(key, value)| before.get(key) != Some(value));
    changes.extend(new.map(|(key, value)| change(key.clone(), value)));
}

fn unset<K: Ord + Clone, V>(
    changes: &mut Vec<Change>,
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
    change: impl Fn(K) -> Change,
) {
    changes.extend(
        before.keys().filter(|key| !after.contains_key(key)).map(|key| change(key.clone())),
    );
}
