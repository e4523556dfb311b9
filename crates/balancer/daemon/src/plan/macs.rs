//! The Ethernet addresses with which the data plane compares frames.

use std::collections::BTreeMap;

use heddle_balancer_maps::abi;

use super::World;
use crate::config::Config;
use crate::links::LinkAddress;
use crate::mac::Mac;

/// Those of the interfaces, of the configuration, and those that packets are sent from. While the
/// interfaces' are not known, none: then nothing is compared.
pub(super) fn macs(config: &Config, world: &World<'_>) -> BTreeMap<LinkAddress, u64> {
    let mut macs = BTreeMap::new();
    if world.macs.is_empty() {
        return macs;
    }
    let mut add = |address, flags: u64| *macs.entry(address).or_default() |= flags;
    let in_any = |mac| LinkAddress { mac, vlan: 0 };
    world.macs.values().for_each(|at| add(*at, abi::MAC_RECEIVED | abi::MAC_SENT));
    config.balancer.accept_macs.iter().for_each(|mac| add(in_any(*mac), abi::MAC_RECEIVED));
    world.next_hops.values().for_each(|hop| add(in_any(Mac(hop.source_mac)), abi::MAC_SENT));
    macs
}

/// As `settings.macs` has them: those that receive frames first. There is room for all that a
/// configuration may name; of the others some may be left out.
pub(super) fn words(macs: &BTreeMap<LinkAddress, u64>) -> [u64; abi::MACS as usize] {
    let mut words = [0; abi::MACS as usize];
    let receives = |flags: &u64| flags & abi::MAC_RECEIVED != 0;
    let (first, rest): (Vec<_>, Vec<_>) = macs.iter().partition(|(_, flags)| receives(flags));
    for (word, (at, flags)) in words.iter_mut().zip(first.into_iter().chain(rest)) {
        *word = at.mac.bits() | flags | u64::from(at.vlan) << abi::MAC_VLAN_SHIFT;
    }
    words
}

/// The addresses in `settings.macs`.
pub fn read_macs(words: &[u64; abi::MACS as usize]) -> BTreeMap<LinkAddress, u64> {
    let read = |word: u64| {
        let [a, b, c, d, e, f, _, _] = word.to_le_bytes();
        let vlan = (word >> abi::MAC_VLAN_SHIFT) as u16;
        let flags = word & (abi::MAC_RECEIVED | abi::MAC_SENT);
        (LinkAddress { mac: Mac([a, b, c, d, e, f]), vlan }, flags)
    };
    words.iter().take_while(|word| **word != 0).map(|word| read(*word)).collect()
}
