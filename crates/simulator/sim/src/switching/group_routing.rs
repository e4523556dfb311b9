//! Paths by an intermediate group of a dragonfly (Kim et al., Technology-driven, highly-scalable
//! dragonfly topology, ISCA 2008, section 4).
//!
//! A packet's destination ([`Hot::dst_tor`](crate::network::Hot)) says how far it is: a host sends
//! it to nowhere in particular; its first router chooses, and makes the destination an intermediate
//! group or the ToR; the first router of the intermediate group makes it the ToR. As these steps
//! are never taken back, and next hops towards one destination are free of loops, so are the paths,
//! whatever links fail. Where no path leads to the intermediate group, the packet turns to its ToR.

use heddle_fabric::{Fabric, FabricError, Pods, Routes};
use heddle_policy::{Tor, mix, pick};
use heddle_scenario::{GroupDraw, NonMinimal, PathChoice};
use heddle_units::Time;

use crate::network::Network;
use crate::random::{Random, Stream};

/// The groups, and how packets are routed by them.
pub(crate) struct GroupRouting {
    config: NonMinimal,
    pods: Pods,
    random: Random,
    /// Salt of the hash that draws the group of a flow.
    salt: u32,
}

/// A router that chooses, and what it knows.
pub(super) struct Here<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) routes: &'a Routes,
    pub(super) now: Time,
    pub(super) switch: u32,
}

/// A path, as UGAL compares it.
struct Survey {
    /// Bytes that wait for the link that counts.
    queue: u64,
    links: u64,
    /// The switch at its end.
    end: u32,
}

impl GroupRouting {
    /// # Errors
    /// A fabric with more ToRs and groups than can be numbered.
    pub(crate) fn new(
        config: NonMinimal,
        fabric: &Fabric,
        seed: u64,
    ) -> Result<GroupRouting, FabricError> {
        let mut random = Random::new(seed, Stream::Groups);
        let (pods, salt) = (fabric.pods()?, random.bits());
        Ok(GroupRouting { config, pods, random, salt })
    }

    /// Next hops over the links for which `is_up` holds, to groups too if packets go by groups.
    pub(crate) fn routes(
        groups: Option<&GroupRouting>,
        fabric: &Fabric,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<Routes, FabricError> {
        match groups {
            Some(groups) => fabric.routes_by_pods(&groups.pods, is_up),
            None => fabric.routes(is_up),
        }
    }

    /// The next destination of a packet for whose destination there are no next hops; `None` if
    /// that is its ToR.
    pub(super) fn redirect(
        &mut self,
        here: &Here<'_>,
        network: &Network,
        packet: u32,
    ) -> Option<Tor> {
        let hot = &network.packets.hot[packet as usize];
        if u32::from(hot.dst_tor.0) < here.fabric.tors {
            return None;
        }
        let tor = here.fabric.interface_tor[usize::from(hot.dst_host)];
        if here.routes.undecided() != Some(hot.dst_tor) {
            return Some(tor);
        }
        let flow_hash = hot.flow_hash;
        Some(self.intermediate(here, network, flow_hash, tor).unwrap_or(tor))
    }

    /// The intermediate group of a packet to `tor`; `None` if it takes a minimal path. The paper
    /// draws one of all groups: with that of the sender or of the receiver the path is minimal.
    fn intermediate(
        &mut self,
        here: &Here<'_>,
        network: &Network,
        flow_hash: u32,
        tor: Tor,
    ) -> Option<Tor> {
        let ends = [self.pods.of(here.switch), self.pods.of(tor.0.into())];
        if ends[0] == ends[1] {
            return None;
        }
        let bits = match self.config.draw {
            GroupDraw::Flow => mix(flow_hash, self.salt),
            GroupDraw::Packet => self.random.bits(),
        };
        let pod = pick(bits, self.pods.count().into()) as u16;
        let group = here.routes.to_pod(pod).filter(|_| !ends.contains(&pod))?;
        let is_taken = match self.config.choice {
            PathChoice::Valiant => true,
            PathChoice::UgalL | PathChoice::UgalG => self.is_better(here, network, [tor, group]),
        };
        is_taken.then_some(group)
    }

    /// UGAL's comparison: true if the queue times the links of the path by `group` are less than
    /// those of the minimal path to `tor`.
    fn is_better(&self, here: &Here<'_>, network: &Network, [tor, group]: [Tor; 2]) -> bool {
        let minimal = self.survey(here, network, here.switch, tor);
        let first = self.survey(here, network, here.switch, group);
        let second = self.survey(here, network, first.end, tor);
        first.links > 0
            && first.queue * (first.links + second.links) < minimal.queue * minimal.links
    }

    /// The path from a switch to a destination that takes the shortest queue at each switch.
    fn survey(&self, here: &Here<'_>, network: &Network, from: u32, to: Tor) -> Survey {
        let mut survey = Survey { queue: 0, links: 0, end: from };
        let mut is_known = false;
        loop {
            let base = here.fabric.first_port_of_switch(survey.end);
            let ports = here.routes.next_hops(survey.end, to).iter();
            let ports = ports.map(|hop| base + u32::from(hop.0));
            let queues = ports.map(|port| (network.backlog(port, here.now).0, port));
            let Some((queue, port)) = queues.min() else { return survey };
            let far = here.fabric.ports[port as usize].to - here.fabric.hosts;
            let counts = match self.config.choice {
                PathChoice::UgalG => self.pods.of(survey.end) != self.pods.of(far),
                _ => true,
            };
            if counts && !is_known {
                (survey.queue, is_known) = (queue, true);
            }
            (survey.links, survey.end) = (survey.links + 1, far);
        }
    }
}
