use heddle_policy::{Counters, DigestState as _, Dre, DreShift, SwitchInfo};

use super::{Config, Mistake, Reads, Traced, mistaken};
use crate::config::DreConfig;
use crate::draw::Draw;
use crate::input::{Input, Sent, Utilisation};
use crate::inputs::Inputs;
use crate::output::Output;
use crate::reference::{Error, Target};

impl Traced for DreConfig {
    fn draw(draw: &mut dyn Draw) -> DreConfig {
        let full = draw.choose(&[2_621_440, 1, 0, 1 << 36, u64::from(u32::MAX)]);
        DreConfig { shift: draw.choose(&[19, 0, 4, 28, 40]), full }
    }

    fn target(&self, _: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        Ok(Box::new(Estimator { dre: Dre::default(), config: *self }))
    }

    fn reads(&self) -> Reads {
        Reads::default()
    }

    fn intervals(&self) -> Vec<u64> {
        vec![1 << self.shift.min(28), 300]
    }

    fn input(&self, _: &Inputs, draw: &mut dyn Draw) -> Input {
        match draw.below(3) {
            0 => Input::Utilisation(Utilisation {}),
            _ => Input::Sent(Sent { bytes: draw.choose(&[1500, 64, 0, 65_535, u32::MAX]) }),
        }
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        const MISTAKES: [Mistake<DreConfig>; 2] =
            [("twice the tau", |own| own.shift += 1), ("a byte more in tau", |own| own.full += 1)];
        mistaken(self, |own| own, &MISTAKES, Config::Dre)
    }
}

/// The estimator of one port.
struct Estimator {
    dre: Dre,
    config: DreConfig,
}

impl Target for Estimator {
    fn step(&mut self, now: u64, _: u32, input: &Input) -> Output {
        let shift = DreShift(self.config.shift);
        match input {
            Input::Sent(sent) => self.dre.add(now, sent.bytes, shift),
            Input::Utilisation(_) => {
                let util = self.dre.util(now, shift, self.config.full);
                return Output { util: Some(util), ..Output::default() };
            }
            _ => {}
        }
        Output::default()
    }

    fn digest(&self) -> u64 {
        self.dre.digest()
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
