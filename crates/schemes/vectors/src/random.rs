//! Random switches and steps: few flows, ToRs and ports, so that they meet; times around the
//! parameters, where decisions turn.

use crate::config::SwitchInfo;
use crate::draw::Draw;
use crate::input::Input;
use crate::inputs::Inputs;
use crate::schemes::Config;

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
pub fn switch(draw: &mut dyn Draw) -> SwitchInfo {
    let tors = 1 + draw.below(6) as u16;
    let tor = draw.chance(1, 2).then(|| draw.below(tors.into()) as u16);
    let ports = draw.choose(&[4, 2, 8, 64]);
    SwitchInfo { salt: draw.number(4), tor, ports, tors }
}

/// Draws the steps of one switch.
#[derive(Clone, Debug)]
pub struct Steps {
    inputs: Inputs,
    config: Config,
    /// Intervals at which decisions turn.
    intervals: Vec<u64>,
    now: u64,
}

impl Steps {
    /// Steps for a switch, from time 0.
    pub fn new(switch: &SwitchInfo, config: &Config) -> Steps {
        Steps {
            inputs: Inputs { switch: switch.clone(), shims: config.traced().reads().shims },
            config: config.clone(),
            intervals: config.traced().intervals(),
            now: 0,
        }
    }

    /// The next step.
    pub fn next(&mut self, draw: &mut dyn Draw) -> StepInput {
        self.advance(draw);
        let scheme = self.config.traced();
        let input = scheme.input(&self.inputs, draw);
        let rnd = if scheme.reads().random { draw.number(4) } else { 0 };
        StepInput { now: self.now, rnd, input }
    }

    /// Time goes on, mostly by about one of the intervals; sometimes it stays, goes back, or jumps.
    fn advance(&mut self, draw: &mut dyn Draw) {
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
}
