//! Random switches and steps: few flows, ToRs and ports, so that they meet; times around the
//! parameters, where decisions turn.

mod cflb;
mod shuttle;

use heddle_policy::{
    CongaConfig, HulaConfig, LetItFlowConfig, LongFlows, MpHulaConfig, MpHulaRules,
    MptcpTablesConfig, Update,
};
use heddle_units::Time;

use crate::config::{Config, DreConfig, EcmpConfig, SwitchInfo};
use crate::draw::Draw;
use crate::handshakes;
use crate::input::{
    HandshakePacket, Input, Originate, Packet, ProbeInput, Sent, Shim, ShimPacket, Side,
    Utilisation,
};

/// A scheme that has vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ECMP.
    Ecmp,
    /// HULA.
    Hula,
    /// MP-HULA.
    MpHula,
    /// CFLB.
    Cflb,
    /// The utilisation estimator.
    Dre,
    /// Shuttle.
    Shuttle,
    /// LetItFlow.
    LetItFlow,
    /// CONGA.
    Conga,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::Ecmp,
        Kind::Hula,
        Kind::MpHula,
        Kind::Cflb,
        Kind::Dre,
        Kind::Shuttle,
        Kind::LetItFlow,
        Kind::Conga,
    ];

    /// The name of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Ecmp => "ecmp",
            Kind::Hula => "hula",
            Kind::MpHula => "mp-hula",
            Kind::Cflb => "cflb",
            Kind::Dre => "dre",
            Kind::Shuttle => "shuttle",
            Kind::LetItFlow => "let-it-flow",
            Kind::Conga => "conga",
        }
    }
}

/// A step before its decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepInput {
    /// Time in nanoseconds.
    pub now: u64,
    /// Random bits.
    pub rnd: u32,
    /// The input.
    pub input: Input,
}

/// Latest time of a random step: JSON's numbers are exact up to 2^53 in every language.
const LATEST: u64 = 1 << 53;

/// A random switch.
pub fn switch(draw: &mut impl Draw) -> SwitchInfo {
    let tors = 1 + draw.below(6) as u16;
    let tor = draw.chance(1, 2).then(|| draw.below(tors.into()) as u16);
    let ports = draw.choose(&[4, 2, 8, 64]);
    SwitchInfo { salt: draw.number(4), tor, ports, tors }
}

/// A random configuration.
pub fn config(kind: Kind, draw: &mut impl Draw) -> Config {
    match kind {
        Kind::Ecmp => Config::Ecmp(EcmpConfig {}),
        Kind::Hula => Config::Hula(hula(draw)),
        Kind::MpHula => Config::MpHula(mp_hula(draw)),
        Kind::Cflb => Config::Cflb(cflb::constants(draw)),
        Kind::Dre => {
            let full = draw.choose(&[2_621_440, 1, 0, 1 << 36, u64::from(u32::MAX)]);
            Config::Dre(DreConfig { shift: draw.choose(&[19, 0, 4, 28, 40]), full })
        }
        Kind::Shuttle => Config::Shuttle(shuttle::parameters(draw)),
        Kind::Conga => Config::Conga(CongaConfig {
            flowlet_gap: Time::nanos(draw.choose(&[100_000, 0, 5])),
            flowlet_slots: draw.choose(&[16, 1, 4, 2]),
            metric_bits: draw.choose(&[3, 2, 1, 0, 9]),
            metric_age: Time::nanos(draw.choose(&[400_000, 1_000_000, 0])),
            ..CongaConfig::default()
        }),
        Kind::LetItFlow => Config::LetItFlow(LetItFlowConfig {
            flowlet_gap: Time::nanos(draw.choose(&[100_000, 0, 5])),
            flowlet_slots: draw.choose(&[16, 1, 4, 2]),
        }),
    }
}

fn hula(draw: &mut impl Draw) -> HulaConfig {
    HulaConfig {
        probe_period: Time::nanos(draw.choose(&[200_000, 1, 0, 7])),
        fail_after: Some(Time::nanos(draw.choose(&[400_000, 600_000, 0]))),
        flowlet_gap: Time::nanos(draw.choose(&[100_000, 0, 5])),
        flowlet_slots: draw.choose(&[16, 1, 4, 2]),
        util_bits: draw.choose(&[8, 16, 1, 0, 20]),
        update: draw.choose(&[Update::Refresh, Update::Listing]),
        local_detection: draw.chance(1, 2),
        ..HulaConfig::default()
    }
}

/// A ToR's association tables.
fn association(draw: &mut impl Draw) -> MptcpTablesConfig {
    MptcpTablesConfig {
        association_slots: draw.choose(&[8, 4, 16]),
        association_idle: Time::nanos(draw.choose(&[1_000_000, 100_000, 0])),
        ..MptcpTablesConfig::default()
    }
}

/// With the other tables.
fn hops(draw: &mut impl Draw, association: MptcpTablesConfig) -> MptcpTablesConfig {
    MptcpTablesConfig {
        best_k: draw.choose(&[2, 1, 3, 4, 8]),
        mapping_rows: draw.choose(&[2, 1, 8]),
        ..association
    }
}

fn mp_hula(draw: &mut impl Draw) -> MpHulaConfig {
    let (association, hula) = (association(draw), hula(draw));
    let tables = hops(draw, association);
    let long_flows = draw.choose(&[LongFlows::Alike, LongFlows::YieldBest]);
    MpHulaConfig { tables, rules: MpHulaRules { long_flows }, hula }
}

/// Draws the steps of one switch.
#[derive(Clone, Debug)]
pub struct Steps {
    switch: SwitchInfo,
    config: Config,
    /// Intervals at which decisions turn.
    intervals: Vec<u64>,
    now: u64,
}

impl Steps {
    /// Steps for a switch, from time 0.
    pub fn new(switch: &SwitchInfo, config: &Config) -> Steps {
        Steps {
            switch: switch.clone(),
            config: config.clone(),
            intervals: intervals(config),
            now: 0,
        }
    }

    /// The next step.
    pub fn next(&mut self, draw: &mut impl Draw) -> StepInput {
        self.advance(draw);
        let input = match &self.config {
            Config::Ecmp(_) => Input::Packet(self.packet(draw)),
            Config::Hula(_) => match draw.below(8) {
                0..=3 => Input::Packet(self.packet(draw)),
                4..=6 => Input::Probe(self.probe(draw)),
                _ => Input::Originate(Originate {}),
            },
            Config::MpHula(_) => self.mp_hula(draw),
            Config::Shuttle(_) => {
                let input = shuttle::loaded(self.mp_hula(draw), self.switch.ports, draw);
                return StepInput { now: self.now, rnd: draw.number(4), input };
            }
            Config::Conga(_) => {
                let input = if draw.chance(2, 3) {
                    let packet = self.packet(draw);
                    let tag = if packet.from == Side::Host { 0 } else { tag(draw) };
                    let packet = Input::Packet(Packet { tag, ..packet });
                    shuttle::loaded(packet, self.switch.ports, draw)
                } else {
                    let (src_tor, tag) = (self.tor(draw), tag(draw));
                    Input::Egress(ShimPacket { shim: None, src_tor, tag })
                };
                return StepInput { now: self.now, rnd: draw.number(4), input };
            }
            Config::LetItFlow(_) => {
                let input = Input::Packet(self.packet(draw));
                return StepInput { now: self.now, rnd: draw.number(4), input };
            }
            Config::Cflb(constants) => {
                let fields = draw.chance(7, 8).then(|| cflb::fields(constants, draw));
                Input::Packet(Packet { fields, ..self.packet(draw) })
            }
            Config::Dre(_) => match draw.below(3) {
                0 => Input::Utilisation(Utilisation {}),
                _ => Input::Sent(Sent { bytes: draw.choose(&[1500, 64, 0, 65_535, u32::MAX]) }),
            },
        };
        StepInput { now: self.now, rnd: 0, input }
    }

    /// Time goes on, mostly by about one of the intervals; sometimes it stays, goes back, or jumps.
    fn advance(&mut self, draw: &mut impl Draw) {
        let interval = draw.choose(&self.intervals);
        let near = (interval + u64::from(draw.below(3))).saturating_sub(1);
        self.now = match draw.below(16) {
            0..=7 => self.now + u64::from(draw.below(1000)),
            8..=12 => self.now + near,
            13 => self.now + near / 2,
            14 => self.now.saturating_sub(near),
            _ => u64::from(draw.number(4)) << draw.choose(&[0, 4, 21]),
        };
        self.now = self.now.min(LATEST);
    }

    fn mp_hula(&self, draw: &mut impl Draw) -> Input {
        match draw.below(16) {
            0..=5 => Input::Packet(self.packet(draw)),
            6..=8 => Input::Probe(self.probe(draw)),
            9..=14 => {
                let (flags, options) = handshakes::random(draw);
                let from = draw.choose(&[Side::Host, Side::Fabric]);
                Input::Handshake(HandshakePacket { out_hash: flow(draw), from, flags, options })
            }
            _ if draw.chance(1, 2) => Input::Originate(Originate {}),
            _ => {
                let shim = draw.chance(1, 2).then(|| shim(draw));
                Input::Egress(ShimPacket { shim, src_tor: 0, tag: 0 })
            }
        }
    }

    fn packet(&self, draw: &mut impl Draw) -> Packet {
        let shims = matches!(self.config, Config::MpHula(_) | Config::Shuttle(_));
        let from = draw.choose(&[Side::Host, Side::Fabric]);
        let shimmed = shims && from == Side::Fabric && draw.chance(3, 4);
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
    fn next_hops(&self, draw: &mut impl Draw) -> Vec<u16> {
        let ports = self.switch.ports;
        if draw.chance(3, 4) {
            return (ports / 2..ports).take(8).collect();
        }
        let first = draw.below(ports.into()) as u16;
        let count = 1 + draw.below(ports.into()) as u16;
        (0..count).map(|next| (first + next) % ports).collect()
    }

    fn probe(&self, draw: &mut impl Draw) -> ProbeInput {
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
    fn tor(&self, draw: &mut impl Draw) -> u16 {
        if draw.chance(1, 32) {
            return draw.number(2) as u16;
        }
        draw.below(self.switch.tors.into()) as u16
    }
}

/// One of a few flows.
fn flow(draw: &mut impl Draw) -> u32 {
    if draw.chance(1, 16) { draw.number(4) } else { draw.below(8) }
}

/// A shim of a few connections and subflows.
fn shim(draw: &mut impl Draw) -> Shim {
    let id = draw.choose(&[1, 2, u64::MAX, 0]);
    Shim { id, subflow: draw.choose(&[1, 2, 3, 4, 16]) }
}

/// A tag of a few paths, mostly with both halves.
fn tag(draw: &mut impl Draw) -> u16 {
    let mut half = || {
        let valid = if draw.chance(7, 8) { 0x80 } else { 0 };
        valid | draw.choose(&[0, 1, 2, 15]) << 3 | draw.below(8) as u16
    };
    half() << 8 | half()
}

fn intervals(config: &Config) -> Vec<u64> {
    let of_hula = |hula: &HulaConfig| {
        let period = hula.probe_period.as_nanos();
        let (gap, fail_after) = (hula.flowlet_gap.as_nanos(), hula.fail_after().as_nanos());
        vec![gap, fail_after, period, period - period / 8]
    };
    match config {
        Config::Hula(hula) => of_hula(hula),
        Config::MpHula(mp_hula) => {
            [of_hula(&mp_hula.hula), vec![mp_hula.tables.association_idle.as_nanos()]].concat()
        }
        Config::Shuttle(shuttle) => {
            [of_hula(&shuttle.hula), vec![shuttle.tables.association_idle.as_nanos()]].concat()
        }
        Config::Conga(conga) => vec![conga.flowlet_gap.as_nanos(), conga.metric_age.as_nanos()],
        Config::LetItFlow(flowlets) => vec![flowlets.flowlet_gap.as_nanos()],
        Config::Dre(dre) => vec![1 << dre.shift.min(28), 300],
        Config::Ecmp(_) | Config::Cflb(_) => vec![1000],
    }
}
