//! Configurations, inputs and decisions as the C has them.

mod config;

use std::net::IpAddr;

pub use config::{config, step_config};
use heddle_vectors::{
    self as vectors, Fields, HandshakePacket, Input, Output, Packet, ProbeOutput, ReasonName, Side,
};

use crate::abi::{
    CflbDecision, CflbFields, CflbReason, NextHops, PortLoad, ProbeArrival, ProbeResult, Shim,
    StepInput, StepKind, StepOutput,
};
use config::PORTS;

/// A step.
pub fn input(now: u64, random: u32, input: &Input) -> StepInput {
    let input_of =
        |kind: StepKind| StepInput { now, kind: kind as u32, random, ..StepInput::default() };
    match input {
        Input::Packet(packet) => of_packet(input_of(StepKind::Packet), packet),
        Input::Egress(packet) => StepInput {
            shim: shim(packet.shim),
            src_tor: packet.src_tor,
            tag: packet.tag,
            ..input_of(StepKind::Egress)
        },
        Input::Handshake(packet) => of_handshake(input_of(StepKind::Handshake), packet),
        Input::Probe(probe) => {
            let arrival = ProbeArrival {
                port: probe.port,
                tor: probe.tor,
                util: probe.util,
                link_util: probe.link_util,
                next_hop: probe.next_hop.into(),
                pad: [0; 7],
            };
            let mut load = port_load(&probe.load);
            if let Some(link) = load.get_mut(usize::from(probe.port)) {
                link.util = probe.link_util;
            }
            StepInput { probe: arrival, load, ..input_of(StepKind::Probe) }
        }
        Input::Originate(_) => input_of(StepKind::Originate),
        Input::Sent(sent) => StepInput { bytes: sent.bytes, ..input_of(StepKind::Sent) },
        Input::Utilisation(_) => input_of(StepKind::Utilisation),
    }
}

fn of_packet(step: StepInput, packet: &Packet) -> StepInput {
    let down = packet.down.iter().filter(|&&port| port < PORTS);
    StepInput {
        flow_hash: packet.flow_hash,
        up: down.fold(u64::MAX, |up, port| up & !(1 << port)),
        dst_tor: packet.dst_tor,
        hops: next_hops(packet.next_hops.iter().copied()),
        shim: shim(packet.shim),
        tag: packet.tag,
        fields: packet.fields.as_ref().map(fields).unwrap_or_default(),
        from_host: (packet.from == Side::Host).into(),
        has_fields: packet.fields.is_some().into(),
        load: port_load(&packet.load),
        ..step
    }
}

/// Next hops in order. Ports that a switch in C cannot have are left out.
pub fn next_hops(ports: impl IntoIterator<Item = u16>) -> NextHops {
    let mut hops = NextHops::default();
    for port in ports.into_iter().filter(|&port| port < PORTS) {
        if let Some(to) = hops.ports.get_mut(hops.count as usize) {
            *to = port;
            hops.set |= 1 << port;
            hops.count += 1;
        }
    }
    hops
}

/// Load by port. Ports that a switch in C cannot have are left out.
fn port_load(list: &[vectors::PortLoad]) -> [PortLoad; PORTS as usize] {
    let mut load = [PortLoad::default(); PORTS as usize];
    for &vectors::PortLoad(port, util, queue) in list {
        if let Some(to) = load.get_mut(usize::from(port)) {
            *to = PortLoad { queue, util, pad: 0 };
        }
    }
    load
}

fn of_handshake(step: StepInput, packet: &HandshakePacket) -> StepInput {
    let mut options = step.options;
    for (to, &byte) in options.iter_mut().zip(&packet.options) {
        *to = byte;
    }
    StepInput {
        out_hash: packet.out_hash,
        options,
        options_length: packet.options.len().min(options.len()) as u8,
        tcp_flags: packet.flags,
        from_host: (packet.from == Side::Host).into(),
        ..step
    }
}

/// A shim, or the absence of one.
pub fn shim(shim: Option<heddle_vectors::Shim>) -> Shim {
    shim.map_or_else(Shim::default, |shim| Shim {
        id: shim.id,
        subflow: shim.subflow,
        ..Shim::default()
    })
}

fn fields(fields: &Fields) -> CflbFields {
    let (source_port, destination_port) = fields.ports.unwrap_or_default();
    CflbFields {
        source: words(fields.source),
        destination: words(fields.destination),
        flow_label: fields.flow_label,
        source_port,
        destination_port,
        protocol: fields.protocol,
        ttl: fields.ttl,
        v6: fields.source.is_ipv6().into(),
        has_ports: fields.ports.is_some().into(),
    }
}

fn words(address: IpAddr) -> [u32; 4] {
    match address {
        IpAddr::V4(v4) => [v4.to_bits(), 0, 0, 0],
        IpAddr::V6(v6) => [96, 64, 32, 0].map(|shift| (v6.to_bits() >> shift) as u32),
    }
}

/// A decision.
pub fn output(input: &Input, output: &StepOutput) -> Output {
    match input {
        Input::Packet(_) => Output {
            port: Some(output.port),
            shim: shim_of(output.shim),
            tag: (output.tag != 0).then_some(output.tag),
            ..decision(output.has_decision != 0, output.decision)
        },
        Input::Egress(_) => Output { shim: shim_of(output.shim), ..Output::default() },
        Input::Probe(_) => {
            let known = output.best_port.into_iter().zip(output.best_util);
            let best = known.take(output.best_count as usize).collect();
            Output { probe: probe(output.probe), best: Some(best), ..Output::default() }
        }
        Input::Originate(_) => Output { probe: probe(output.probe), ..Output::default() },
        Input::Utilisation(_) => Output { util: Some(output.util), ..Output::default() },
        Input::Handshake(_) | Input::Sent(_) => Output::default(),
    }
}

fn probe(result: ProbeResult) -> Option<ProbeOutput> {
    (result.forward != 0).then_some(ProbeOutput { tor: result.tor, util: result.util })
}

fn shim_of(shim: Shim) -> Option<heddle_vectors::Shim> {
    (shim.subflow != 0).then_some(heddle_vectors::Shim { id: shim.id, subflow: shim.subflow })
}

fn decision(is_there: bool, decision: CflbDecision) -> Output {
    let reason = match CflbReason::from_number(decision.reason.into()) {
        _ if !is_there => return Output::default(),
        Some(CflbReason::Alone) => ReasonName::Alone,
        Some(CflbReason::Controlled) => ReasonName::Controlled,
        Some(CflbReason::DigitTooHigh) => ReasonName::DigitTooHigh,
        Some(CflbReason::NoSelector) => ReasonName::NoSelector,
        Some(CflbReason::NoField) | None => ReasonName::NoField,
    };
    let has_digit = matches!(reason, ReasonName::Controlled | ReasonName::DigitTooHigh);
    Output {
        reason: Some(reason),
        position: has_digit.then_some(decision.position),
        digit: has_digit.then_some(decision.digit),
        ..Output::default()
    }
}
