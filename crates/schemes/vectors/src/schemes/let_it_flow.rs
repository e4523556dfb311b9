use heddle_policy::{LetItFlow, LetItFlowConfig, Scheme as _, SwitchInfo};
use heddle_units::Time;

use super::{Config, Mistake, Reads, Traced, mistaken};
use crate::draw::Draw;
use crate::input::Input;
use crate::inputs::Inputs;
use crate::reference::{Error, Shown, Switch, Target};

impl Traced for LetItFlowConfig {
    fn draw(draw: &mut dyn Draw) -> LetItFlowConfig {
        LetItFlowConfig {
            flowlet_gap: Time::nanos(draw.choose(&[100_000, 0, 5])),
            flowlet_slots: draw.choose(&[16, 1, 4, 2]),
        }
    }

    fn target(&self, info: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        Ok(Box::new(Switch(LetItFlow::new(self, info))))
    }

    fn reads(&self) -> Reads {
        Reads { salt: true, random: true, ..Reads::default() }
    }

    fn intervals(&self) -> Vec<u64> {
        vec![self.flowlet_gap.as_nanos()]
    }

    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
        Input::Packet(inputs.packet(draw))
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        mistaken(self, |own| own, &MISTAKES, Config::LetItFlow)
    }
}

const MISTAKES: [Mistake<LetItFlowConfig>; 2] = [
    ("flowlets that end a nanosecond late", |own| own.flowlet_gap += Time::nanos(1)),
    ("twice the flowlet slots", |own| own.flowlet_slots *= 2),
];

impl Shown for LetItFlow {}
