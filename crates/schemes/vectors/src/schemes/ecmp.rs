use heddle_policy::{Ecmp, Scheme as _, SwitchInfo};

use super::{Config, Reads, Traced};
use crate::config::EcmpConfig;
use crate::draw::Draw;
use crate::input::Input;
use crate::inputs::Inputs;
use crate::reference::{Error, Shown, Switch, Target};

impl Traced for EcmpConfig {
    fn draw(_: &mut dyn Draw) -> EcmpConfig {
        EcmpConfig {}
    }

    fn target(&self, info: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        Ok(Box::new(Switch(Ecmp::new(&(), info))))
    }

    fn reads(&self) -> Reads {
        Reads { salt: true, ..Reads::default() }
    }

    fn intervals(&self) -> Vec<u64> {
        vec![1000]
    }

    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
        Input::Packet(inputs.packet(draw))
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        Vec::new()
    }
}

impl Shown for Ecmp {}
