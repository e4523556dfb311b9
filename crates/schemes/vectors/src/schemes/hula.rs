use heddle_policy::{Hula, HulaConfig, Port, Scheme as _, SwitchInfo, Tor, Update};
use heddle_units::Time;

use super::{Config, Mistake, Reads, Traced, mistaken};
use crate::draw::Draw;
use crate::input::{Input, Originate};
use crate::inputs::Inputs;
use crate::reference::{Error, Shown, Switch, Target};

impl Traced for HulaConfig {
    fn draw(draw: &mut dyn Draw) -> HulaConfig {
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

    fn target(&self, info: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        Ok(Box::new(Switch(Hula::new(self, info))))
    }

    fn reads(&self) -> Reads {
        Reads { salt: true, tor: true, ..Reads::default() }
    }

    fn intervals(&self) -> Vec<u64> {
        let period = self.probe_period.as_nanos();
        let (gap, fail_after) = (self.flowlet_gap.as_nanos(), self.fail_after().as_nanos());
        vec![gap, fail_after, period, period - period / 8]
    }

    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
        match draw.below(8) {
            0..=3 => Input::Packet(inputs.packet(draw)),
            4..=6 => Input::Probe(inputs.probe(draw)),
            _ => Input::Originate(Originate {}),
        }
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        mistaken(self, |own| own, &MISTAKES, Config::Hula)
    }
}

impl Shown for Hula {
    fn best(&self, tor: Tor) -> Vec<(Port, u16)> {
        self.best_hop(tor).into_iter().collect()
    }
}

pub(super) const MISTAKES: [Mistake<HulaConfig>; 7] = [
    ("probes suppressed too long", |own| own.probe_period += Time::nanos(8)),
    ("entries that age a nanosecond late", |own| {
        own.fail_after = Some(own.fail_after() + Time::nanos(1));
    }),
    ("flowlets that end a nanosecond late", |own| own.flowlet_gap += Time::nanos(1)),
    ("twice the flowlet slots", |own| own.flowlet_slots *= 2),
    ("one bit more of utilisation", |own| own.util_bits += 1),
    ("the other update rule", |own| {
        own.update = match own.update {
            Update::Refresh => Update::Listing,
            Update::Listing => Update::Refresh,
        };
    }),
    ("ports that are down used, or the reverse", |own| own.local_detection = !own.local_detection),
];
