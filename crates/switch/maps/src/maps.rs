//! The maps of every scheme.

use aya::Ebpf;
use aya::maps::{Array, MapData, PerCpuArray};
use heddle_bpf_loader::maps::{Counts, Hash, Prefixes};
use heddle_policy::Counters;

use crate::abi::{
    Address, NextHops, PortMeter, SchemeCounters, SwitchConfig, SwitchDestination, SwitchPort,
};
use crate::{Error, Interfaces};

/// The maps that the daemon fills, and the counters. bpf/switch/switch_maps.h describes each.
pub struct Maps {
    /// The switch's parameters.
    pub config: Array<MapData, SwitchConfig>,
    /// The ports, by number.
    pub ports: Array<MapData, SwitchPort>,
    /// Their utilisation estimators.
    pub meters: Array<MapData, PortMeter>,
    /// The set of next hops towards each ToR, by its number in `groups`; 0 is none.
    pub tor_groups: Array<MapData, u32>,
    /// Sets of next hops.
    pub groups: Array<MapData, NextHops>,
    /// The port of each interface.
    pub interfaces: Interfaces,
    /// Host addresses.
    pub destinations: Hash<Address, SwitchDestination>,
    /// Prefixes of the kernel's routes, of IPv4 as of mapped addresses.
    pub prefixes: Prefixes<[u8; 16], SwitchDestination>,
    /// Counters, by [`crate::abi::SwitchCounter`].
    pub verdicts: Counts,
    /// Counters of ports.
    pub port_counts: Counts,
    /// Counters of the scheme.
    pub scheme_counts: PerCpuArray<MapData, SchemeCounters>,
}

impl Maps {
    /// Takes the maps out of a loaded object.
    pub(crate) fn take(object: &mut Ebpf) -> Result<Maps, Error> {
        let interfaces = Interfaces::take(object)?;
        let mut take = |name| object.take_map(name).ok_or(Error::Missing(name));
        Ok(Maps {
            config: take("config")?.try_into()?,
            ports: take("ports")?.try_into()?,
            meters: take("meters")?.try_into()?,
            tor_groups: take("tor_groups")?.try_into()?,
            groups: take("groups")?.try_into()?,
            interfaces,
            destinations: Hash::new(take("destinations")?)?,
            prefixes: Prefixes::new(take("prefixes")?)?,
            verdicts: Counts::new(take("verdicts")?)?,
            port_counts: Counts::new(take("port_counts")?)?,
            scheme_counts: take("scheme_counts")?.try_into()?,
        })
    }

    /// The scheme's counters over all processors.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn scheme_counters(&self) -> Result<Counters, Error> {
        let all = self.scheme_counts.get(&0, 0)?;
        Ok(all.iter().map(Counters::from).sum())
    }
}
