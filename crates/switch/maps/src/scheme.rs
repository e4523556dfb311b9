//! The programs that there are: a scheme at a hook.

use std::fmt;
use std::mem::offset_of;

pub use crate::abi::SwitchScheme as Scheme;
use crate::abi::{AssociationTables, CongaTables, HulaTables, LetItFlowTables, MpHulaTables};

/// Facts of a scheme that user space needs beside its parameters.
struct Facts {
    kind: &'static str,
    tables: Option<Layout>,
    has_probes: bool,
    has_shims: bool,
    choice: Option<&'static str>,
}

impl Facts {
    const fn new(kind: &'static str) -> Facts {
        Facts { kind, tables: None, has_probes: false, has_shims: false, choice: None }
    }
}

/// The places of a scheme's tables in its map, in bytes; those that it does not have are none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) map: &'static str,
    pub(crate) best_hop: Option<usize>,
    pub(crate) flowlets: Option<usize>,
    pub(crate) hops: Option<usize>,
    pub(crate) subflows: Option<usize>,
}

impl Layout {
    const fn new(map: &'static str) -> Layout {
        Layout { map, best_hop: None, flowlets: None, hops: None, subflows: None }
    }
}

const MP_HULA: Layout = Layout {
    hops: Some(offset_of!(MpHulaTables, best)),
    flowlets: Some(offset_of!(MpHulaTables, flowlets)),
    subflows: Some(offset_of!(MpHulaTables, association) + offset_of!(AssociationTables, entries)),
    ..Layout::new("mp_hula_tables")
};

impl Scheme {
    const fn facts(self) -> Facts {
        match self {
            Scheme::Ecmp => Facts::new("ecmp"),
            Scheme::Cflb => Facts::new("cflb"),
            Scheme::Hula => Facts {
                tables: Some(Layout {
                    best_hop: Some(offset_of!(HulaTables, best)),
                    flowlets: Some(offset_of!(HulaTables, flowlets)),
                    ..Layout::new("hula_tables")
                }),
                has_probes: true,
                ..Facts::new("hula")
            },
            Scheme::MpHula => Facts {
                tables: Some(MP_HULA),
                has_probes: true,
                has_shims: true,
                ..Facts::new("mp-hula")
            },
            Scheme::Shuttle => Facts {
                tables: Some(MP_HULA),
                has_probes: true,
                has_shims: true,
                ..Facts::new("shuttle")
            },
            Scheme::Conga => Facts {
                tables: Some(Layout {
                    flowlets: Some(offset_of!(CongaTables, flowlets)),
                    ..Layout::new("conga_tables")
                }),
                has_shims: true,
                choice: Some(
                    "the least congested: here the first; a packet from a host alone has a choice",
                ),
                ..Facts::new("conga")
            },
            Scheme::LetItFlow => Facts {
                tables: Some(Layout {
                    flowlets: Some(offset_of!(LetItFlowTables, flowlets)),
                    ..Layout::new("let_it_flow_tables")
                }),
                choice: Some("one of the next hops at random: here the first"),
                ..Facts::new("letitflow")
            },
        }
    }

    /// Its name, as in scenario files.
    pub const fn kind(self) -> &'static str {
        self.facts().kind
    }

    /// True if it needs probes.
    pub const fn has_probes(self) -> bool {
        self.facts().has_probes
    }

    /// True if ToRs add shims to packets: of MPTCP's subflows, under CONGA to all.
    pub const fn has_shims(self) -> bool {
        self.facts().has_shims
    }

    /// The next hop of a new flowlet, in words, where neither a hash nor probes select it.
    pub const fn choice(self) -> Option<&'static str> {
        self.facts().choice
    }

    pub(crate) const fn layout(self) -> Option<Layout> {
        self.facts().tables
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.kind())
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
