//! Switches: forwarding by the scheme, and replication of probes by multicast groups.

mod group_routing;

use heddle_fabric::{Fabric, FabricError, Routes};
use heddle_policy::{
    Counters, Handshake, Header, Ingress, Port, Ports, Probe, ProbeArrival, ReceiveWindow, Scheme,
    Segment, Step, SwitchInfo, Tor, Util, mix,
};
use heddle_units::Time;

use crate::network::{Body, Hot, NIL, Network, PacketKind};
use crate::random::{Random, Stream};
pub(crate) use group_routing::GroupRouting;
use group_routing::Here;

/// Bytes of a probe (HULA section 4.2).
const PROBE_BYTES: u16 = 64;

/// All switches of a fabric, running one scheme.
pub(crate) struct Switching<S: Scheme> {
    schemes: Vec<S>,
    config: S::Config,
    pub(crate) routes: Routes,
    /// Paths by an intermediate group; `None` if all are minimal.
    group_routing: Option<Box<GroupRouting>>,
    random: Random,
    /// For each port of the fabric, the output ports of a probe that arrives on it.
    groups: Vec<Vec<Port>>,
    /// Data packets without a next hop.
    pub(crate) unroutable: u64,
    /// Bytes of a probe on links.
    pub(crate) probe_bytes: u16,
    /// Probes sent on links.
    pub(crate) probes_sent: u64,
}

impl<S: Scheme> Switching<S> {
    pub(crate) fn new(
        fabric: &Fabric,
        (routes, group_routing): (Routes, Option<Box<GroupRouting>>),
        config: S::Config,
        seed: u64,
    ) -> Switching<S> {
        let mut layout = Random::new(seed, Stream::Layout);
        let schemes = (0..fabric.switches())
            .map(|switch| S::new(&config, &switch_info(fabric, switch, layout.bits())))
            .collect();
        let groups = match S::probe_period(&config) {
            Some(_) => all_groups(fabric),
            None => Vec::new(),
        };
        Switching {
            schemes,
            config,
            routes,
            group_routing,
            random: Random::new(seed, Stream::Scheme),
            groups,
            unroutable: 0,
            probe_bytes: PROBE_BYTES,
            probes_sent: 0,
        }
    }

    /// The same where each frame takes as many more bytes on links.
    pub(crate) fn with_extra_bytes(self, bytes: u32) -> Switching<S> {
        Switching { probe_bytes: PROBE_BYTES + bytes as u16, ..self }
    }

    /// Next hops over the links for which `is_up` holds, by the same routing.
    pub(crate) fn find_routes(
        &self,
        fabric: &Fabric,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<Routes, FabricError> {
        GroupRouting::routes(self.group_routing.as_deref(), fabric, is_up)
    }

    /// Predicted output port of a packet, by its number in the fabric.
    #[inline]
    pub(crate) fn predict(&self, fabric: &Fabric, switch: u32, hot: &Hot) -> Option<u32> {
        let hops = self.routes.next_hops(switch, hot.dst_tor);
        let base = fabric.first_port_of_switch(switch);
        match hops {
            [] => fabric.interface_port.get(usize::from(hot.dst_host)).copied(),
            [hop] => Some(base + u32::from(hop.0)),
            _ => {
                let hop = self.schemes[switch as usize].predict(hot.flow_hash, hops)?;
                Some(base + u32::from(hop.0))
            }
        }
    }

    pub(crate) fn probe_period(&self) -> Option<Time> {
        S::probe_period(&self.config).map(Time::nanos)
    }

    #[inline]
    fn step(&mut self, now: Time) -> Step {
        Step { now: now.as_nanos(), rnd: if S::NEEDS_RANDOM { self.random.bits() } else { 0 } }
    }

    /// Forwards a data packet at `switch`.
    #[inline]
    pub(crate) fn forward(
        &mut self,
        fabric: &Fabric,
        network: &mut Network,
        now: Time,
        switch: u32,
        packet: u32,
    ) {
        let step = self.step(now);
        let fields = if S::READS_FIELDS { network.packets.read_fields(packet) } else { None };
        let hot = &network.packets.hot[packet as usize];
        let here = Tor(switch as u16);
        let is_tor = switch < fabric.tors;
        let from_host = is_tor && hot.src_tor == here;
        let shim = if S::USES_SHIM && !from_host { network.packets.shim(packet) } else { None };
        let mut header = Header {
            flow_hash: hot.flow_hash,
            src_tor: hot.src_tor,
            dst_tor: hot.dst_tor,
            ingress: if from_host { Ingress::Host } else { Ingress::Fabric },
            tag: hot.tag,
            shim,
            fields,
        };
        if is_tor && hot.dst_tor == here {
            let out = fabric.interface_port[usize::from(hot.dst_host)];
            if header.ingress == Ingress::Fabric {
                self.schemes[switch as usize].egress(step, &mut header);
                if S::USES_SHIM {
                    network.packets.exchange_shim(packet, shim, header.shim);
                }
            }
            return network.send(now, out, packet);
        }
        let hops = self.routes.next_hops(switch, hot.dst_tor);
        if hops.is_empty() {
            return self.forward_without_next_hop(fabric, network, now, switch, packet);
        }
        let base = fabric.first_port_of_switch(switch);
        let mut ports = View { network, base, now };
        let out = self.schemes[switch as usize].forward(step, &mut header, hops, &mut ports);
        network.packets.hot[packet as usize].tag = header.tag;
        if S::USES_SHIM {
            network.packets.exchange_shim(packet, shim, header.shim);
        }
        network.send(now, base + u32::from(out.0), packet);
    }

    /// Forwards a packet whose path between groups is still to be chosen, or that is in its
    /// intermediate group; another one cannot go on.
    #[inline(never)]
    fn forward_without_next_hop(
        &mut self,
        fabric: &Fabric,
        network: &mut Network,
        now: Time,
        switch: u32,
        packet: u32,
    ) {
        let here = Here { fabric, routes: &self.routes, now, switch };
        let groups = self.group_routing.as_deref_mut();
        let Some(to) = groups.and_then(|groups| groups.redirect(&here, network, packet)) else {
            self.unroutable += 1;
            return network.packets.remove(packet);
        };
        network.packets.hot[packet as usize].dst_tor = to;
        self.forward(fabric, network, now, switch, packet);
    }

    /// Passes a handshake of one of its hosts to a ToR.
    pub(crate) fn handshake(&mut self, now: Time, tor: u32, seen: &Handshake) {
        let step = self.step(now);
        self.schemes[tor as usize].handshake(step, seen);
    }

    /// Passes a segment of one of its hosts to a ToR.
    pub(crate) fn segment(&mut self, now: Time, tor: u32, segment: &Segment) -> ReceiveWindow {
        let step = self.step(now);
        self.schemes[tor as usize].segment(step, segment)
    }

    /// Handles a probe that arrived over `in_port` (the sender's port), and replicates it.
    pub(crate) fn probe(
        &mut self,
        fabric: &Fabric,
        network: &mut Network,
        now: Time,
        in_port: u32,
        packet: u32,
    ) {
        let hot = network.packets.hot[packet as usize];
        network.packets.remove(packet);
        let info = fabric.ports[in_port as usize];
        let switch = info.to - fabric.hosts;
        let base = fabric.first_port_of_switch(switch);
        let port = Port((info.peer - base) as u16);
        let probe = Probe { tor: hot.dst_tor, util: hot.tag };
        let is_next_hop = self.routes.next_hops(switch, probe.tor).contains(&port);
        let arrival = ProbeArrival { port, probe, is_next_hop };
        let step = self.step(now);
        let mut ports = View { network, base, now };
        let Some(probe) = self.schemes[switch as usize].probe(step, &arrival, &mut ports) else {
            return;
        };
        for out in 0..self.groups[info.peer as usize].len() {
            let out = self.groups[info.peer as usize][out];
            self.send_probe(network, now, base + u32::from(out.0), probe);
        }
    }

    /// Sends a ToR's probe on each of its uplinks.
    pub(crate) fn originate(
        &mut self,
        fabric: &Fabric,
        network: &mut Network,
        now: Time,
        tor: u32,
    ) {
        let step = self.step(now);
        let Some(probe) = self.schemes[tor as usize].originate(step) else { return };
        let base = fabric.first_port_of_switch(tor);
        for (i, info) in fabric.ports_of(fabric.hosts + tor).iter().enumerate() {
            if info.is_up {
                self.send_probe(network, now, base + i as u32, probe);
            }
        }
    }

    /// Sends a probe, unless the port is down, where it would be counted as lost in every period.
    fn send_probe(&mut self, network: &mut Network, now: Time, port: u32, probe: Probe) {
        if !network.ports[port as usize].up {
            return;
        }
        let hot = Hot {
            arrival: now,
            next: NIL,
            connection: 0,
            flow_hash: 0,
            dst_host: 0,
            dst_tor: probe.tor,
            src_tor: probe.tor,
            size: self.probe_bytes,
            tag: probe.util,
            kind: PacketKind::Probe,
            is_handshake: false,
        };
        let packet = network.packets.add(hot, Body::default());
        self.probes_sent += 1;
        network.send(now, port, packet);
    }

    /// Counters, summed over all switches.
    pub(crate) fn counters(&self) -> Counters {
        self.schemes.iter().map(Scheme::counters).sum()
    }

    /// Largest state of a switch, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.schemes.iter().map(Scheme::state_bytes).max().unwrap_or(0)
    }
}

fn switch_info(fabric: &Fabric, switch: u32, salt: u32) -> SwitchInfo {
    let pod = |node: u32| fabric.node(node).pod;
    let here = pod(fabric.hosts + switch);
    let same_pod = |tor: u32| here.is_some() && pod(fabric.hosts + tor) == here;
    SwitchInfo {
        salt: mix(salt, switch),
        tor: (switch < fabric.tors).then_some(Tor(switch as u16)),
        ports: fabric.ports_of(fabric.hosts + switch).len() as u16,
        tors: fabric.tors as u16,
        same_pod: (0..fabric.tors).map(same_pod).collect(),
    }
}

fn all_groups(fabric: &Fabric) -> Vec<Vec<Port>> {
    let group = |(id, info): (usize, &heddle_fabric::PortInfo)| {
        if info.owner < fabric.hosts {
            return Vec::new();
        }
        let switch = info.owner - fabric.hosts;
        let local = id as u32 - fabric.first_port_of_switch(switch);
        fabric.multicast_group(switch, Port(local as u16))
    };
    fabric.ports.iter().enumerate().map(group).collect()
}

/// Ports of one switch, as its scheme reads them.
struct View<'a> {
    network: &'a mut Network,
    base: u32,
    now: Time,
}

impl Ports for View<'_> {
    #[inline]
    fn tx_util(&mut self, port: Port) -> Util {
        self.network.utilisation(self.base + u32::from(port.0), self.now)
    }

    #[inline]
    fn queue_bytes(&mut self, port: Port) -> u32 {
        let bytes = self.network.backlog(self.base + u32::from(port.0), self.now);
        u32::try_from(bytes.0).unwrap_or(u32::MAX)
    }

    #[inline]
    fn is_up(&mut self, port: Port) -> bool {
        self.network.ports[(self.base + u32::from(port.0)) as usize].up
    }
}
