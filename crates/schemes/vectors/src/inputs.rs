//! Random inputs of one switch.

use crate::config::SwitchInfo;
use crate::draw::Draw;
use crate::input::{Input, Packet, PortLoad, ProbeInput, Shim, Side};

/// Draws the inputs of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pub(crate) switch: SwitchInfo,
    /// Packets from the fabric have shims.
    pub(crate) shims: bool,
}

impl Inputs {
    pub(crate) fn packet(&self, draw: &mut dyn Draw) -> Packet {
        let from = draw.choose(&[Side::Host, Side::Fabric]);
        let shimmed = self.shims && from == Side::Fabric && draw.chance(3, 4);
        Packet {
            flow_hash: flow(draw),
            dst_tor: self.tor(draw),
            from,
            next_hops: self.next_hops(draw),
            down: if draw.chance(1, 4) { self.next_hops(draw) } else { Vec::new() },
            load: Vec::new(),
            shim: shimmed.then(|| shim(draw)),
            tag: 0,
            fields: None,
        }
    }

    /// Mostly the upper half of the ports, as at a switch with as many ports up as down; otherwise
    /// any of them, in any order.
    fn next_hops(&self, draw: &mut dyn Draw) -> Vec<u16> {
        let ports = self.switch.ports;
        if draw.chance(3, 4) {
            return (ports / 2..ports).take(8).collect();
        }
        let first = draw.below(ports.into()) as u16;
        let count = 1 + draw.below(ports.into()) as u16;
        (0..count).map(|next| (first + next) % ports).collect()
    }

    pub(crate) fn probe(&self, draw: &mut dyn Draw) -> ProbeInput {
        ProbeInput {
            port: draw.below(self.switch.ports.min(10).into()) as u16,
            tor: self.tor(draw),
            util: draw.choose(&[10, 20, 30, 0, 255, 65_535]),
            next_hop: draw.chance(7, 8),
            link_util: draw.choose(&[0, 15 << 8, 25 << 8, 65_535, 0x1234]),
            load: Vec::new(),
        }
    }

    /// Mostly one of the fabric's.
    pub(crate) fn tor(&self, draw: &mut dyn Draw) -> u16 {
        if draw.chance(1, 32) {
            return draw.number(2) as u16;
        }
        draw.below(self.switch.tors.into()) as u16
    }
}

/// One of a few flows.
pub(crate) fn flow(draw: &mut dyn Draw) -> u32 {
    if draw.chance(1, 16) { draw.number(4) } else { draw.below(8) }
}

/// A shim of a few connections and subflows.
pub(crate) fn shim(draw: &mut dyn Draw) -> Shim {
    let id = draw.choose(&[1, 2, u64::MAX, 0]);
    Shim { id, subflow: draw.choose(&[1, 2, 3, 4, 16]) }
}

/// The input with a load of the ports that it may lead to.
pub(crate) fn loaded(mut input: Input, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
    match &mut input {
        Input::Packet(packet) => packet.load = load(&packet.next_hops, draw),
        Input::Probe(probe) => {
            let ports: Vec<u16> = (0..inputs.switch.ports.min(10)).collect();
            probe.load = load(&ports, draw);
        }
        _ => {}
    }
    input
}

/// Load of most of the ports.
fn load(ports: &[u16], draw: &mut dyn Draw) -> Vec<PortLoad> {
    let mut all = Vec::new();
    for &port in ports {
        if draw.chance(3, 4) {
            let util = draw.choose(&[0, 15 << 8, 25 << 8, 1 << 15, 60_000, 65_535, 0x1234]);
            let queue = draw.choose(&[0, 1_500, 32_768, 65_536, 200_000, u32::MAX]);
            all.push(PortLoad(port, util, queue));
        }
    }
    all
}
