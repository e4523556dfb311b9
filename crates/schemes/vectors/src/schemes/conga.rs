use heddle_policy::{Conga, CongaConfig, Scheme as _, SwitchInfo};
use heddle_units::Time;

use super::{Config, Mistake, Reads, Traced, mistaken};
use crate::draw::Draw;
use crate::input::{Input, Packet, ShimPacket, Side};
use crate::inputs::{Inputs, loaded};
use crate::reference::{Error, Shown, Switch, Target};

impl Traced for CongaConfig {
    fn draw(draw: &mut dyn Draw) -> CongaConfig {
        CongaConfig {
            flowlet_gap: Time::nanos(draw.choose(&[100_000, 0, 5])),
            flowlet_slots: draw.choose(&[16, 1, 4, 2]),
            metric_bits: draw.choose(&[3, 2, 1, 0, 9]),
            metric_age: Time::nanos(draw.choose(&[400_000, 1_000_000, 0])),
            ..CongaConfig::default()
        }
    }

    fn target(&self, info: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        Ok(Box::new(Switch(Conga::new(self, info))))
    }

    fn reads(&self) -> Reads {
        Reads { salt: true, tor: true, random: true, ..Reads::default() }
    }

    fn intervals(&self) -> Vec<u64> {
        vec![self.flowlet_gap.as_nanos(), self.metric_age.as_nanos()]
    }

    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
        if !draw.chance(2, 3) {
            let (src_tor, tag) = (inputs.tor(draw), tag(draw));
            return Input::Egress(ShimPacket { shim: None, src_tor, tag });
        }
        let packet = inputs.packet(draw);
        let tag = if packet.from == Side::Host { 0 } else { tag(draw) };
        loaded(Input::Packet(Packet { tag, ..packet }), inputs, draw)
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        mistaken(self, |own| own, &MISTAKES, Config::Conga)
    }
}

const MISTAKES: [Mistake<CongaConfig>; 4] = [
    ("flowlets that end a nanosecond late", |own| own.flowlet_gap += Time::nanos(1)),
    ("twice the flowlet slots", |own| own.flowlet_slots *= 2),
    ("one bit more of a metric", |own| own.metric_bits += 1),
    ("metrics that age a nanosecond late", |own| own.metric_age += Time::nanos(1)),
];

impl Shown for Conga {}

/// A tag of a few paths, mostly with both halves.
fn tag(draw: &mut dyn Draw) -> u16 {
    let mut half = || {
        let valid = if draw.chance(7, 8) { 0x80 } else { 0 };
        valid | draw.choose(&[0, 1, 2, 15]) << 3 | draw.below(8) as u16
    };
    half() << 8 | half()
}
