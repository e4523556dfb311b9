//! The schemes' tables, in memory that is the kernel's too.

use std::marker::PhantomData;
use std::mem::offset_of;

use aya::{Ebpf, Pod};
use heddle_bpf_loader::maps::{Access, Memory, array};

use crate::abi::{
    AssociationTables, BestHop, CongaTables, Flowlet, HopTable, HulaTables, LetItFlowTables,
    MpHulaTables, OwnedFlowlet, SubflowEntry,
};
use crate::{Error, Scheme};

/// The maps that one scheme or another has beside those of every scheme (`SCHEME_MAPS` in
/// bpf/switch/scheme_*.h).
pub(crate) const MAPS: [&str; 8] = [
    "hula_tables",
    "mp_hula_tables",
    "tor_locks",
    "association_lock",
    "cflb_prepared",
    "cflb_memo",
    "let_it_flow_tables",
    "conga_tables",
];

/// The tables of a scheme that has some.
#[derive(Debug)]
pub enum Tables {
    /// HULA's.
    Hula(Memory),
    /// MP-HULA's and Shuttle's.
    MpHula(Memory),
    /// CONGA's.
    Conga(Memory),
    /// LetItFlow's.
    LetItFlow(Memory),
}

/// One table: entries of one type, at a place in the memory.
#[derive(Debug)]
pub struct Entries<'a, T> {
    memory: &'a Memory,
    first: usize,
    of: PhantomData<T>,
}

impl<T: Pod> Entries<'_, T> {
    /// Entry `index`, word by word while the program writes; none beyond the memory's end.
    pub fn get(&self, index: usize) -> Option<T> {
        self.memory.read_at(self.first + index * size_of::<T>())
    }
}

impl Tables {
    /// Those of a scheme, out of its object.
    pub(crate) fn take(scheme: Scheme, object: &mut Ebpf) -> Result<Option<Tables>, Error> {
        let mut memory = |name| {
            let map = object.take_map(name).ok_or(Error::Missing(name))?;
            Memory::new(name, array(map)?, Access::Read)
        };
        Ok(match scheme {
            Scheme::Ecmp | Scheme::Cflb => None,
            Scheme::Hula => Some(Tables::Hula(memory("hula_tables")?)),
            Scheme::MpHula | Scheme::Shuttle => Some(Tables::MpHula(memory("mp_hula_tables")?)),
            Scheme::Conga => Some(Tables::Conga(memory("conga_tables")?)),
            Scheme::LetItFlow => Some(Tables::LetItFlow(memory("let_it_flow_tables")?)),
        })
    }

    fn entries<T>(memory: &Memory, first: usize) -> Option<Entries<'_, T>> {
        Some(Entries { memory, first, of: PhantomData })
    }

    /// HULA's best hop of each ToR.
    pub fn best_hop(&self) -> Option<Entries<'_, BestHop>> {
        match self {
            Tables::Hula(memory) => Tables::entries(memory, offset_of!(HulaTables, best)),
            _ => None,
        }
    }

    /// Flowlets without an owner.
    pub fn flowlets(&self) -> Option<Entries<'_, Flowlet>> {
        match self {
            Tables::Hula(memory) => Tables::entries(memory, offset_of!(HulaTables, flowlets)),
            Tables::LetItFlow(memory) => {
                Tables::entries(memory, offset_of!(LetItFlowTables, flowlets))
            }
            Tables::Conga(memory) => Tables::entries(memory, offset_of!(CongaTables, flowlets)),
            Tables::MpHula(_) => None,
        }
    }

    fn mp_hula<T>(&self, first: usize) -> Option<Entries<'_, T>> {
        match self {
            Tables::MpHula(memory) => Tables::entries(memory, first),
            _ => None,
        }
    }

    /// MP-HULA's best hops of each ToR, or the hops that Shuttle knows.
    pub fn hops(&self) -> Option<Entries<'_, HopTable>> {
        self.mp_hula(offset_of!(MpHulaTables, best))
    }

    /// MP-HULA's and Shuttle's flowlets.
    pub fn owned_flowlets(&self) -> Option<Entries<'_, OwnedFlowlet>> {
        self.mp_hula(offset_of!(MpHulaTables, flowlets))
    }

    /// MP-HULA's and Shuttle's subflows.
    pub fn subflows(&self) -> Option<Entries<'_, SubflowEntry>> {
        let entries = offset_of!(AssociationTables, entries);
        self.mp_hula(offset_of!(MpHulaTables, association) + entries)
    }
}
