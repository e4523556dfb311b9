use heddle_policy::{
    Port, Scheme as _, Shuttle, ShuttleChoice, ShuttleConfig, ShuttleRules, ShuttleSubflows,
    SwitchInfo, Tor,
};
use heddle_units::Bytes;

use super::{Config, Mistake, Reads, Traced, hula, mistaken, mp_hula};
use crate::draw::Draw;
use crate::input::Input;
use crate::inputs::{Inputs, loaded};
use crate::reference::{Error, Shown, Switch, Target};

impl Traced for ShuttleConfig {
    fn draw(draw: &mut dyn Draw) -> ShuttleConfig {
        let mp_hula::Shared { tables, hula } = mp_hula::Shared::draw(draw);
        let rules = ShuttleRules {
            full_queue: Bytes(1 << draw.choose(&[16, 12, 0, 31, 40])),
            range: 1 << draw.choose(&[1, 0, 2, 8, 9]),
            draws: draw.choose(&[1, 2, 0, 3]),
            choice: draw.choose(&[
                ShuttleChoice::Weighted,
                ShuttleChoice::Weighted,
                ShuttleChoice::Least,
            ]),
            subflows: draw.choose(&[
                ShuttleSubflows::Apart,
                ShuttleSubflows::FirstFree,
                ShuttleSubflows::Alike,
            ]),
        };
        ShuttleConfig { tables, rules, hula }
    }

    fn target(&self, info: &SwitchInfo) -> Result<Box<dyn Target>, Error> {
        Ok(Box::new(Switch(Shuttle::new(self, info))))
    }

    fn reads(&self) -> Reads {
        Reads { salt: true, tor: true, random: true, shims: true }
    }

    fn intervals(&self) -> Vec<u64> {
        [self.hula.intervals(), vec![self.tables.association_idle.as_nanos()]].concat()
    }

    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input {
        loaded(mp_hula::input(inputs, draw), inputs, draw)
    }

    fn mistakes(&self) -> Vec<(&'static str, Config)> {
        [
            mistaken(self, |own| &mut own.hula, &hula::MISTAKES, Config::Shuttle),
            mistaken(self, |own| &mut own.tables, &mp_hula::TABLES, Config::Shuttle),
            mistaken(self, |own| &mut own.rules, &RULES, Config::Shuttle),
        ]
        .concat()
    }
}

impl Shown for Shuttle {
    fn best(&self, tor: Tor) -> Vec<(Port, u16)> {
        self.remote_figures(tor).collect()
    }
}

const RULES: [Mistake<ShuttleRules>; 6] = [
    ("twice the full queue", |own| own.full_queue.0 *= 2),
    ("twice the range", |own| own.range *= 2),
    ("one draw for two, or the reverse", |own| own.draws = if own.draws < 2 { 2 } else { 1 }),
    ("the other choice", |own| {
        own.choice = match own.choice {
            ShuttleChoice::Weighted => ShuttleChoice::Least,
            ShuttleChoice::Least => ShuttleChoice::Weighted,
        };
    }),
    ("first subflows apart, or free", |own| {
        own.subflows = match own.subflows {
            ShuttleSubflows::Apart => ShuttleSubflows::FirstFree,
            ShuttleSubflows::FirstFree | ShuttleSubflows::Alike => ShuttleSubflows::Apart,
        };
    }),
    ("subflows alike, or apart", |own| {
        own.subflows = match own.subflows {
            ShuttleSubflows::Apart | ShuttleSubflows::FirstFree => ShuttleSubflows::Alike,
            ShuttleSubflows::Alike => ShuttleSubflows::FirstFree,
        };
    }),
];
