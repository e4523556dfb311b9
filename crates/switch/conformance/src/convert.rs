//! Configurations, inputs and decisions as the C has them.

use heddle_vectors::{
    Config, Error, HulaParameters, Input, Output, Packet, ProbeOutput, SwitchInfo, UpdateRule,
};

use crate::abi::{
    DreConfig, HulaConfig, HulaUpdate, ProbeArrival, ProbeResult, StepConfig, StepInput, StepKind,
    StepOutput, StepScheme,
};

/// Ports that a switch can have.
const PORTS: u16 = 64;
/// Sizes of the tables (c/sizes.h).
const TORS: u16 = 64;
const FLOWLET_SLOTS: u32 = 4096;

/// The configuration of a switch.
///
/// # Errors
/// A limit that is exceeded.
pub fn config(switch: &SwitchInfo, config: &Config) -> Result<StepConfig, Error> {
    within("ports", switch.ports.into(), PORTS.into())?;
    within("ToRs", switch.tors.into(), TORS.into())?;
    let empty = StepConfig { salt: switch.salt, ..StepConfig::default() };
    let of = |scheme: StepScheme| StepConfig { scheme: scheme as u32, ..empty };
    Ok(match config {
        Config::Ecmp(_) => of(StepScheme::Ecmp),
        Config::Hula(parameters) => {
            StepConfig { hula: hula(switch, parameters)?, ..of(StepScheme::Hula) }
        }
        Config::Dre(dre) => {
            let dre = DreConfig { full: dre.full, shift: dre.shift, pad: 0 };
            StepConfig { dre, ..of(StepScheme::Dre) }
        }
        Config::MpHula(_) | Config::Cflb(_) => return Err(Error("not there yet".into())),
    })
}

fn within(what: &str, number: u32, most: u32) -> Result<u32, Error> {
    if number > most {
        return Err(Error(format!("{number} {what}: the C has room for {most}")));
    }
    Ok(number)
}

/// HULA's parameters.
///
/// # Errors
/// A limit that is exceeded.
pub fn hula(switch: &SwitchInfo, parameters: &HulaParameters) -> Result<HulaConfig, Error> {
    let flowlet_slots = parameters.flowlet_slots.next_power_of_two();
    Ok(HulaConfig {
        probe_period: parameters.probe_period,
        fail_after: parameters.fail_after,
        flowlet_gap: parameters.flowlet_gap,
        salt: switch.salt,
        flowlet_slots: within("flowlet slots", flowlet_slots, FLOWLET_SLOTS)?,
        tors: switch.tors,
        tor: switch.tor.unwrap_or_default(),
        is_tor: switch.tor.is_some().into(),
        update: match parameters.update {
            UpdateRule::Refresh => HulaUpdate::Refresh as u8,
            UpdateRule::Listing => HulaUpdate::Listing as u8,
        },
        util_bits: parameters.util_bits.min(16) as u8,
        local_detection: parameters.local_detection.into(),
    })
}

/// A step.
pub fn input(now: u64, input: &Input) -> StepInput {
    let of = |kind: StepKind| StepInput { now, kind: kind as u32, ..StepInput::default() };
    match input {
        Input::Packet(packet) => of_packet(of(StepKind::Packet), packet),
        Input::Egress(_) => of(StepKind::Egress),
        Input::Handshake(_) => of(StepKind::Handshake),
        Input::Probe(probe) => {
            let arrival = ProbeArrival {
                port: probe.port,
                tor: probe.tor,
                util: probe.util,
                link_util: probe.link_util,
                next_hop: probe.next_hop.into(),
                pad: [0; 7],
            };
            StepInput { probe: arrival, ..of(StepKind::Probe) }
        }
        Input::Originate(_) => of(StepKind::Originate),
        Input::Sent(sent) => StepInput { bytes: sent.bytes, ..of(StepKind::Sent) },
        Input::Utilisation(_) => of(StepKind::Utilisation),
    }
}

fn of_packet(step: StepInput, packet: &Packet) -> StepInput {
    let mut next_hops = [0; PORTS as usize];
    for (to, &hop) in next_hops.iter_mut().zip(&packet.next_hops) {
        *to = hop;
    }
    let down = packet.down.iter().filter(|&&port| port < PORTS);
    StepInput {
        flow_hash: packet.flow_hash,
        up: down.fold(u64::MAX, |up, port| up & !(1 << port)),
        dst_tor: packet.dst_tor,
        count: packet.next_hops.len().min(next_hops.len()) as u16,
        next_hops,
        ..step
    }
}

/// A decision.
pub fn output(_scheme: u32, input: &Input, output: &StepOutput) -> Output {
    match input {
        Input::Packet(_) => Output { port: Some(output.port), ..Output::default() },
        Input::Probe(_) => {
            let known = output.best_port.into_iter().zip(output.best_util);
            let best = known.take(output.best_count as usize).collect();
            Output { probe: probe(output.probe), best: Some(best), ..Output::default() }
        }
        Input::Originate(_) => Output { probe: probe(output.probe), ..Output::default() },
        Input::Utilisation(_) => Output { util: Some(output.util), ..Output::default() },
        Input::Egress(_) | Input::Handshake(_) | Input::Sent(_) => Output::default(),
    }
}

fn probe(result: ProbeResult) -> Option<ProbeOutput> {
    (result.forward != 0).then_some(ProbeOutput { tor: result.tor, util: result.util })
}
