use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_policy::cflb::{Cipher, Codec, Field, PortRange, RouterChoice, Rules};
use heddle_policy::{Cflb, Counters, Scheme as _, SwitchInfo};

use super::{Config, Mistake, Reads, Traced, mistaken};
use crate::config::CflbConstants;
use crate::draw::Draw;
use crate::input::{Fields, Input, Packet};
use crate::inputs::Inputs;
use crate::output::Output;
use crate::reference::{Error, Shown, Switch, Target};

impl Traced for CflbConstants {
    /// Constants that make a codec.
    fn draw(draw: &mut dyn Draw) -> CflbConstants {
        let field = draw.choose(&[
            Field::Ports,
            Field::SourcePort(PortRange { low: 0, high: u16::MAX }),
            Field::SourcePort(PortRange { low: 32_768, high: 60_999 }),
            Field::FlowLabel,
            Field::SourcePort(PortRange { low: 50_000, high: 50_099 }),
        ]);
        let cipher = match field {
            Field::Ports => draw.choose(&[Cipher::Rc5, Cipher::Skip32, Cipher::Feistel]),
            _ => Cipher::Feistel,
        };
        let bytes = if cipher == Cipher::Skip32 { 10 } else { 16 };
        let key = (0..bytes).map(|_| draw.number(1) as u8).collect();
        let rules = draw.choose(&[Rules::Even, Rules::AsPublished]);
        CflbConstants { field, cipher, radix: draw.choose(&[4, 2, 3, 7, 16, 100]), rules, key }
    }

    fn target(&self, info: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        let codec = self.policy()?;
        Ok(Box::new(Router { switch: Switch(Cflb::new(&codec, info)), codec, number: info.salt }))
    }

    fn reads(&self) -> Reads {
        Reads { salt: true, ..Reads::default() }
    }

    fn intervals(&self) -> Vec<u64> {
        vec![1000]
    }

    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
        let fields = draw.chance(7, 8).then(|| fields(self, draw));
        Input::Packet(Packet { fields, ..inputs.packet(draw) })
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        mistaken(self, |own| own, &MISTAKES, Config::Cflb)
    }
}

const MISTAKES: [Mistake<CflbConstants>; 4] = [
    ("the other rules", |own| {
        own.rules = match own.rules {
            Rules::Even => Rules::AsPublished,
            Rules::AsPublished => Rules::Even,
        };
    }),
    ("a radix one higher", |own| own.radix += 1),
    ("a bit of the key", |own| own.key[9] ^= 1),
    ("one port less in the range", |own| {
        if let Field::SourcePort(range) = &mut own.field {
            range.high -= 1;
        }
    }),
];

impl Shown for Cflb {}

/// CFLB's router, which also gives the reason of its decision.
struct Router {
    switch: Switch<Cflb>,
    codec: Codec,
    number: u32,
}

impl Target for Router {
    fn step(&mut self, now: u64, rnd: u32, input: &Input) -> Output {
        let output = self.switch.step(now, rnd, input);
        let Input::Packet(packet) = input else { return output };
        let Some(fields) = packet.header().fields else { return output };
        let decision = self.codec.decide(self.number, &fields, packet.next_hops.len() as u16);
        Output { port: output.port, ..Output::of_decision(decision) }
    }

    fn digest(&self) -> u64 {
        self.switch.digest()
    }

    fn counters(&self) -> Counters {
        self.switch.counters()
    }
}

/// Fields of a packet, in three of four cases steered to a path of three routers.
fn fields(constants: &CflbConstants, draw: &mut dyn Draw) -> Fields {
    let fields = any(draw);
    if draw.chance(1, 4) {
        return fields;
    }
    steered(constants, &fields, draw).unwrap_or(fields)
}

/// The fields that a sender writes; `None` if it cannot.
fn steered(constants: &CflbConstants, fields: &Fields, draw: &mut dyn Draw) -> Option<Fields> {
    let next_hops = constants.radix.min(4);
    let choice = |hop| {
        let next_hop = draw.below(next_hops.into()) as u16;
        RouterChoice { hop, next_hop, next_hops }
    };
    let choices: Vec<RouterChoice> = [0, 1, 2].map(choice).into();
    let sent = constants.policy().ok()?.encode(&choices, &fields.policy()?, draw.number(4)).ok()?;
    let ports = sent.ports.map(|ports| (ports.source, ports.destination));
    let ttl = sent.ttl.wrapping_sub(draw.below(3) as u8);
    Some(Fields { ports, flow_label: sent.flow_label, ttl, ..*fields })
}

fn any(draw: &mut dyn Draw) -> Fields {
    let (source, destination) = addresses(draw);
    let ports = draw.chance(7, 8).then(|| (draw.number(2) as u16, draw.number(2) as u16));
    Fields {
        source,
        destination,
        protocol: draw.choose(&[6, 17, 1]),
        ports,
        flow_label: draw.number(4) >> 12,
        ttl: draw.choose(&[64, 63, 62, 255, 1, 0]),
    }
}

fn addresses(draw: &mut dyn Draw) -> (IpAddr, IpAddr) {
    let mut host = || (draw.number(4), draw.number(4));
    let ((a, b), (c, d)) = (host(), host());
    if draw.chance(1, 2) {
        return (Ipv4Addr::from_bits(a).into(), Ipv4Addr::from_bits(c).into());
    }
    let v6 = |high: u32, low: u32| Ipv6Addr::from_bits(u128::from(high) << 96 | u128::from(low));
    (v6(a, b).into(), v6(c, d).into())
}
