//! Traces' parts for each scheme: random parameters and inputs, the mistakes that a port can make
//! with a parameter, and the Rust under test.

mod cflb;
mod conga;
mod dre;
mod ecmp;
mod hula;
mod let_it_flow;
mod mp_hula;
mod shuttle;

use heddle_policy::{CongaConfig, HulaConfig, LetItFlowConfig, MpHulaConfig, ShuttleConfig};
use serde::{Deserialize, Serialize};

use crate::config::{CflbConstants, DreConfig, EcmpConfig, SwitchInfo};
use crate::draw::Draw;
use crate::input::Input;
use crate::inputs::Inputs;
use crate::reference::{Error, Target};

/// The scheme and its parameters, under the keys of a scenario's `[scheme]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Config {
    /// ECMP.
    Ecmp(EcmpConfig),
    /// HULA.
    Hula(HulaConfig),
    /// MP-HULA.
    MpHula(MpHulaConfig),
    /// CFLB.
    Cflb(CflbConstants),
    /// The utilisation estimator of a port.
    Dre(DreConfig),
    /// Shuttle.
    Shuttle(ShuttleConfig),
    /// CONGA.
    Conga(CongaConfig),
    /// LetItFlow.
    LetItFlow(LetItFlowConfig),
}

impl Config {
    /// The scheme's part of the traces.
    pub(crate) fn traced(&self) -> &dyn Traced {
        match self {
            Config::Ecmp(own) => own,
            Config::Hula(own) => own,
            Config::MpHula(own) => own,
            Config::Cflb(own) => own,
            Config::Dre(own) => own,
            Config::Shuttle(own) => own,
            Config::Conga(own) => own,
            Config::LetItFlow(own) => own,
        }
    }
}

/// A scheme that has traces.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name of its files.
    pub name: &'static str,
    draw: fn(&mut dyn Draw) -> Config,
}

impl Kind {
    /// All of them. A scheme's place is part of the seeds of its random traces.
    pub const ALL: [Kind; 8] = [
        Kind { name: "ecmp", draw: |draw| Config::Ecmp(Traced::draw(draw)) },
        Kind { name: "hula", draw: |draw| Config::Hula(Traced::draw(draw)) },
        Kind { name: "mp-hula", draw: |draw| Config::MpHula(Traced::draw(draw)) },
        Kind { name: "cflb", draw: |draw| Config::Cflb(Traced::draw(draw)) },
        Kind { name: "dre", draw: |draw| Config::Dre(Traced::draw(draw)) },
        Kind { name: "shuttle", draw: |draw| Config::Shuttle(Traced::draw(draw)) },
        Kind { name: "let-it-flow", draw: |draw| Config::LetItFlow(Traced::draw(draw)) },
        Kind { name: "conga", draw: |draw| Config::Conga(Traced::draw(draw)) },
    ];

    /// The one whose files have this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name == name)
    }

    /// A random configuration.
    pub fn config(self, draw: &mut dyn Draw) -> Config {
        (self.draw)(draw)
    }
}

/// The implementation in Rust.
///
/// # Errors
/// Constants of CFLB that make no codec.
pub fn reference(switch: &SwitchInfo, config: &Config) -> Result<Box<dyn Target>, Error> {
    config.traced().target(&switch.policy())
}

/// Inputs of a scheme beside its parameters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reads {
    /// The switch's salt.
    pub(crate) salt: bool,
    /// The ToR that the switch is, if it is one.
    pub(crate) tor: bool,
    /// Random bits.
    pub(crate) random: bool,
    /// Shims of packets from the fabric.
    pub(crate) shims: bool,
}

/// A scheme's parameters, with its part of the traces.
pub(crate) trait Traced {
    /// Random parameters.
    fn draw(draw: &mut dyn Draw) -> Self
    where
        Self: Sized;

    /// A switch in Rust.
    fn target(&self, info: &heddle_policy::SwitchInfo) -> Result<Box<dyn Target>, Error>;

    /// Its inputs beside the parameters.
    fn reads(&self) -> Reads;

    /// Nanoseconds after which decisions turn.
    fn intervals(&self) -> Vec<u64>;

    /// A random input.
    fn input(&self, inputs: &Inputs, draw: &mut dyn Draw) -> Input;

    /// Parameters that are wrong by one, with the name of the mistake.
    fn mistakes(&self) -> Vec<(&'static str, Config)>;
}

/// A mistake with a parameter: its name, and the change.
type Mistake<C> = (&'static str, fn(&mut C));

/// Copies of `config` with a mistake each, in the part of it that `part` names.
fn mistaken<C: Clone, P>(
    config: &C,
    part: fn(&mut C) -> &mut P,
    mistakes: &[Mistake<P>],
    whole: fn(C) -> Config,
) -> Vec<(&'static str, Config)> {
    let wrong = |&(name, change): &Mistake<P>| {
        let mut config = config.clone();
        change(part(&mut config));
        (name, whole(config))
    };
    mistakes.iter().map(wrong).collect()
}
