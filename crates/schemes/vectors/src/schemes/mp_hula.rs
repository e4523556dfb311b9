use heddle_policy::{
    HulaConfig, LongFlows, MpHula, MpHulaConfig, MpHulaRules, MptcpTablesConfig, Port, Scheme as _,
    SwitchInfo, Tor,
};
use heddle_units::Time;

use super::{Config, Mistake, Reads, Traced, hula, mistaken};
use crate::draw::Draw;
use crate::handshakes;
use crate::input::{HandshakePacket, Input, Originate, ShimPacket, Side};
use crate::inputs::{Inputs, flow, shim};
use crate::reference::{Error, Shown, Switch, Target};

impl Traced for MpHulaConfig {
    fn draw(draw: &mut dyn Draw) -> MpHulaConfig {
        let Shared { tables, hula } = Shared::draw(draw);
        let long_flows = draw.choose(&[LongFlows::Alike, LongFlows::YieldBest]);
        MpHulaConfig { tables, rules: MpHulaRules { long_flows }, hula }
    }

    fn target(&self, info: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        Ok(Box::new(Switch(MpHula::new(self, info))))
    }

    fn reads(&self) -> Reads {
        Reads { salt: true, tor: true, shims: true, ..Reads::default() }
    }

    fn intervals(&self) -> Vec<u64> {
        [self.hula.intervals(), vec![self.tables.association_idle.as_nanos()]].concat()
    }

    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
        input(inputs, draw)
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        [
            mistaken(self, |own| &mut own.hula, &hula::MISTAKES, Config::MpHula),
            mistaken(self, |own| &mut own.tables, &TABLES, Config::MpHula),
            mistaken(self, |own| &mut own.rules, &RULES, Config::MpHula),
        ]
        .concat()
    }
}

impl Shown for MpHula {
    fn best(&self, tor: Tor) -> Vec<(Port, u16)> {
        self.best_hops(tor).collect()
    }
}

/// Parameters that MP-HULA and Shuttle share.
pub(super) struct Shared {
    pub(super) tables: MptcpTablesConfig,
    pub(super) hula: HulaConfig,
}

impl Shared {
    pub(super) fn draw(draw: &mut dyn Draw) -> Shared {
        let association_slots = draw.choose(&[8, 4, 16]);
        let association_idle = Time::nanos(draw.choose(&[1_000_000, 100_000, 0]));
        let hula = HulaConfig::draw(draw);
        let best_k = draw.choose(&[2, 1, 3, 4, 8]);
        let mapping_rows = draw.choose(&[2, 1, 8]);
        let tables =
            MptcpTablesConfig { best_k, association_slots, association_idle, mapping_rows };
        Shared { tables, hula }
    }
}

/// Packets, probes and handshakes.
pub(super) fn input(inputs: &Inputs, draw: &mut dyn Draw) -> Input {
    match draw.below(16) {
        0..=5 => Input::Packet(inputs.packet(draw)),
        6..=8 => Input::Probe(inputs.probe(draw)),
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

pub(super) const TABLES: [Mistake<MptcpTablesConfig>; 4] = [
    ("one hop more remembered", |own| own.best_k += 1),
    ("twice the mapping rows", |own| own.mapping_rows *= 2),
    ("twice the association slots", |own| own.association_slots *= 2),
    ("subflows idle a nanosecond longer", |own| own.association_idle += Time::nanos(1)),
];

const RULES: [Mistake<MpHulaRules>; 1] = [("the other rule for long flows", |own| {
    own.long_flows = match own.long_flows {
        LongFlows::Alike => LongFlows::YieldBest,
        LongFlows::YieldBest | LongFlows::Apart => LongFlows::Alike,
    };
})];
