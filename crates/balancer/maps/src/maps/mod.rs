//! The balancer's maps as types. bpf/balancer/maps.h describes each.
//!
//! Reading and writing are system calls, but for tables in shared memory ([`PackedSlots`],
//! [`Slots`], [`Flows`], [`Tokens`]), which are read and written while the program does the same: each value is whole,
//! several together may be of different moments.

mod access;
mod counters;
mod flows;
mod fragments;
mod keys;
mod list;
mod peers;
mod shape;
mod tokens;
mod traces;
mod vips;
mod waiting;

use aya::Ebpf;

pub use access::{AccessLimits, ServiceLimit};
pub use counters::{Counters, TargetCounts};
pub use flows::{Flow, FlowCensus, Flows};
pub use fragments::Fragments;
pub use heddle_bpf_loader::maps::Prefix;
pub use keys::{Pushed, ReadyKeys};
pub use list::{SettingsMap, Targets};
pub use peers::PeerStates;
pub use shape::Replaced;
pub(crate) use shape::{PinnedMaps, in_object, pinned_settings};
pub use tokens::{Token, TokenCensus, Tokens};
pub(crate) use traces::Traces;
pub use vips::Vips;
pub use waiting::Waiting;

use heddle_bpf_loader::maps::{Hash, PackedSlots, Prefixes, Slots};

use crate::Error;
use crate::abi::{AccessSource, Address, AssignedKey, Candidate, FlowKey, QuicServer};

/// All maps of a balancer.
pub struct Maps {
    /// The addresses that the program handles: services', backends' own and the balancer's own.
    pub vips: Vips,
    /// The targets of packets, by index.
    pub targets: Targets,
    /// A target's index by the id that all balancers use for it.
    pub target_ids: Hash<u32, u32>,
    /// Between the targets of a group's services: service in the upper, target in the lower 16
    /// bits, to a target.
    pub group_targets: Hash<u32, u32>,
    /// The targets that connection ids of QUIC name.
    pub quic_servers: Hash<QuicServer, u32>,
    /// Access to services (`enum access_rule`), by service and source; the longest prefix
    /// decides.
    pub access_rules: Prefixes<AccessSource, u32>,
    /// The connections that clients may open at a service.
    pub access_limits: AccessLimits,
    /// The target index of each other balancer, by its address.
    pub peers: Hash<Address, u32>,
    /// The state of each other balancer, by its target's index.
    pub peer_states: PeerStates,
    /// Maglev tables, one each [`crate::abi::MAGLEV_STRIDE`] slots: target indices.
    pub maglev: PackedSlots,
    /// Owners of the token space's parts: target indices, [`crate::abi::NO_TARGET`] for this
    /// balancer.
    pub ring: Slots,
    /// The flow table.
    pub flows: Flows,
    /// The token table.
    pub tokens: Tokens,
    /// Handshakes under way with the addresses and ports of live flows.
    pub candidates: Hash<FlowKey, Candidate>,
    /// The targets of packets' later fragments.
    pub fragments: Fragments,
    /// Keys that were given to connections (`mptcp = "assign"`).
    pub assigned: Hash<FlowKey, AssignedKey>,
    /// Keys made ahead for MPTCP version 0 (`mptcp = "assign"`).
    pub ready_keys: ReadyKeys,
    /// Keys made ahead for MPTCP version 1.
    pub ready_keys_v1: ReadyKeys,
    /// The settings.
    pub settings: SettingsMap,
    /// The counters of verdicts and events, per service.
    pub counters: Counters,
    /// Packets and bytes sent to each target.
    pub target_counts: TargetCounts,
}

impl Maps {
    /// Takes the maps out of a loaded object.
    pub(crate) fn take(object: &mut Ebpf) -> Result<Self, Error> {
        let mut map = |name| object.take_map(name).ok_or(Error::Missing(name));
        Ok(Self {
            vips: Vips::new(map("vips")?, map("vips_changes")?)?,
            targets: Targets::new(map("targets")?)?,
            target_ids: Hash::new(map("target_ids")?)?,
            group_targets: Hash::new(map("group_targets")?)?,
            quic_servers: Hash::new(map("quic_servers")?)?,
            access_rules: Prefixes::new(map("access_rules")?)?,
            access_limits: AccessLimits::new(map("access_limits")?)?,
            peers: Hash::new(map("peers")?)?,
            peer_states: PeerStates::new(map("peer_states")?)?,
            maglev: PackedSlots::new("maglev", map("maglev")?)?,
            ring: Slots::new("ring", map("ring")?)?,
            flows: Flows::new(map("flows")?)?,
            tokens: Tokens::new(map("tokens")?)?,
            candidates: Hash::new(map("candidates")?)?,
            fragments: Fragments::new(map("fragments")?)?,
            assigned: Hash::new(map("assigned")?)?,
            ready_keys: ReadyKeys::new(map("ready_keys")?)?,
            ready_keys_v1: ReadyKeys::new(map("ready_keys_v1")?)?,
            settings: SettingsMap::new(map(shape::SETTINGS)?)?,
            counters: Counters::new(map("counters")?)?,
            target_counts: TargetCounts::new(map("target_counts")?)?,
        })
    }
}
