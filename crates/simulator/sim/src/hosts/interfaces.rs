//! The interfaces that packets take where hosts have several.
//!
//! A subflow has the interfaces of one number at both ends, those of its turn, or of a packet's
//! entropy value, if hosts choose these: spraying and its like spread a connection over all
//! interfaces, and an acknowledgement goes by those of the packet that it answers. While these do not
//! lead to each other it takes others of which both ends have one number, or of different numbers
//! if it must. Hosts with a switch inside of their server (an NVSwitch) have its interfaces among
//! each other, and those that lead out of it to others. A host sees at once that its own link is
//! down. Of other hosts' links, and of ToRs that are cut off, hosts know what routing knows: after
//! its convergence, whatever the scheme.

use heddle_fabric::{Fabric, Routes};
use heddle_policy::mix;

use super::context::HostContext;

/// Sets the choice among the interfaces that are left apart from that of the first one.
const OTHERS_SALT: u32 = 0x85eb_ca6b;

/// Hosts' knowledge of each other's interfaces.
pub(crate) struct Interfaces {
    /// Interfaces of each host.
    count: u32,
    /// For each interface, true if routing uses its link.
    is_routed: Vec<bool>,
    /// Routes over the links that routing uses; `None` while these are all.
    routes: Option<Routes>,
}

/// An interface of each end of a connection, in the numbers of all hosts: sender, receiver.
pub(crate) type Pair = (u16, u16);

impl Interfaces {
    /// All links are up.
    pub(crate) fn new(fabric: &Fabric) -> Interfaces {
        let is_routed = vec![true; fabric.interface_tor.len()];
        Interfaces { count: fabric.interfaces, is_routed, routes: None }
    }

    /// Takes note of links that routing uses or has ceased to use. Without routes, those known
    /// before stay.
    pub(crate) fn learn(
        &mut self,
        fabric: &Fabric,
        routes: Option<Routes>,
        is_routed: impl Fn(u32) -> bool,
    ) {
        for (interface, is_used) in self.is_routed.iter_mut().enumerate() {
            *is_used = is_routed(fabric.ports[interface].link);
        }
        self.routes = routes.or(self.routes.take());
    }

    /// Interfaces that connections between two hosts take in turn.
    #[inline]
    pub(super) fn choices(&self, fabric: &Fabric, (from, to): (u16, u16)) -> u32 {
        match fabric.has_inner_switches() {
            false => self.count,
            true => fabric.interfaces_between(from.into(), to.into()).count().max(1) as u32,
        }
    }

    /// The interfaces of a packet from a host to another whose turn is `turn`, below
    /// [`Interfaces::choices`]. `hash` is the connection's.
    pub(super) fn of_packet(
        &self,
        cx: &HostContext,
        (from, to): (u16, u16),
        turn: u32,
        hash: u32,
    ) -> Pair {
        let pair = |a: u32, b: u32| {
            let interface = |host: u16, number: u32| (u32::from(host) * self.count + number) as u16;
            (interface(from, a), interface(to, b))
        };
        let number = match cx.fabric.has_inner_switches() {
            false => turn,
            true => {
                let mut numbers = cx.fabric.interfaces_between(from.into(), to.into());
                numbers.nth(turn as usize).unwrap_or(turn)
            }
        };
        let first = pair(number, number);
        if self.is_usable(cx, first) { first } else { self.other(cx, pair, hash).unwrap_or(first) }
    }

    /// Another pair that can be used, spread over all of these by the hash.
    #[cold]
    fn other(&self, cx: &HostContext, pair: impl Fn(u32, u32) -> Pair, hash: u32) -> Option<Pair> {
        let numbers = 0..self.count;
        let mut alike = numbers.clone().map(|number| (number, number));
        let mut unlike = numbers.clone().flat_map(|a| numbers.clone().map(move |b| (a, b)));
        let usable = |pairs: &mut dyn Iterator<Item = (u32, u32)>| -> Vec<Pair> {
            pairs.map(|(a, b)| pair(a, b)).filter(|pair| self.is_usable(cx, *pair)).collect()
        };
        let mut pairs = usable(&mut alike);
        if pairs.is_empty() {
            pairs = usable(&mut unlike);
        }
        let count = (pairs.len() as u32).max(1);
        pairs.get((mix(hash, OTHERS_SALT) % count) as usize).copied()
    }

    #[inline]
    fn is_usable(&self, cx: &HostContext, (from, to): Pair) -> bool {
        let (from, to) = (usize::from(from), usize::from(to));
        let tor = |interface: usize| cx.fabric.interface_tor[interface];
        // An interface has the number of its port.
        cx.network.ports[from].up
            && self.is_routed[to]
            && self.routes.as_ref().is_none_or(|routes| routes.reaches(tor(from), tor(to)))
    }
}
