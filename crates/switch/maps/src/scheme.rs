//! The programs that there are: a scheme at a hook.

use std::fmt;

use crate::abi::SwitchScheme;

/// A scheme that the switch can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Hash of the 5-tuple.
    Ecmp,
    /// Probes and flowlets.
    Hula,
    /// HULA with the best k next hops.
    MpHula,
    /// Paths named by header fields.
    Cflb,
    /// MP-HULA's tables with a random choice by present congestion.
    Shuttle,
    /// A random next hop for each flowlet.
    LetItFlow,
    /// The least congested uplink for each flowlet, of a leaf-spine fabric.
    Conga,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Scheme; 7] = [
        Scheme::Ecmp,
        Scheme::Hula,
        Scheme::MpHula,
        Scheme::Cflb,
        Scheme::Shuttle,
        Scheme::LetItFlow,
        Scheme::Conga,
    ];

    /// Its name, as in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Ecmp => "ecmp",
            Scheme::Hula => "hula",
            Scheme::MpHula => "mp-hula",
            Scheme::Cflb => "cflb",
            Scheme::Shuttle => "shuttle",
            Scheme::LetItFlow => "letitflow",
            Scheme::Conga => "conga",
        }
    }

    /// Its number in the maps.
    pub const fn number(self) -> u32 {
        match self {
            Scheme::Ecmp => SwitchScheme::Ecmp as u32,
            Scheme::Hula => SwitchScheme::Hula as u32,
            Scheme::MpHula => SwitchScheme::MpHula as u32,
            Scheme::Cflb => SwitchScheme::Cflb as u32,
            Scheme::Shuttle => SwitchScheme::Shuttle as u32,
            Scheme::LetItFlow => SwitchScheme::LetItFlow as u32,
            Scheme::Conga => SwitchScheme::Conga as u32,
        }
    }

    /// True if it needs probes.
    pub const fn has_probes(self) -> bool {
        matches!(self, Scheme::Hula | Scheme::MpHula | Scheme::Shuttle)
    }

    /// True if ToRs add shims to packets: of MPTCP's subflows, under CONGA to all.
    pub const fn has_shims(self) -> bool {
        matches!(self, Scheme::MpHula | Scheme::Shuttle | Scheme::Conga)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The point in the kernel at which the program gets frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hook {
    /// tc (tcx) at ingress and egress: behind queues with rates, with offloads of any kind.
    #[default]
    Tc,
    /// XDP in the driver: fast, past the queues of devices.
    Xdp,
    /// XDP behind the driver, where that knows no XDP.
    XdpGeneric,
}
