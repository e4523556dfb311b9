//! The tables of HULA, MP-HULA and Shuttle, in memory that is the kernel's too.

use std::marker::PhantomData;
use std::mem::offset_of;

use aya::Pod;
use aya::maps::Map;
use heddle_bpf_loader::maps::{Access, Memory, array};

use crate::Error;
use crate::abi::{
    AssociationTables, BestHop, Flowlet, HopTable, HulaTables, MpHulaTables, OwnedFlowlet,
    SubflowEntry,
};

/// The tables of a scheme that has some.
#[derive(Debug)]
pub enum Tables {
    /// HULA's.
    Hula(Memory),
    /// MP-HULA's and Shuttle's.
    MpHula(Memory),
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
    pub(crate) fn hula(map: Map) -> Result<Tables, Error> {
        Ok(Tables::Hula(Memory::new("hula_tables", array(map)?, Access::Read)?))
    }

    pub(crate) fn mp_hula(map: Map) -> Result<Tables, Error> {
        Ok(Tables::MpHula(Memory::new("mp_hula_tables", array(map)?, Access::Read)?))
    }

    fn entries<T>(&self, hula: Option<usize>, mp_hula: Option<usize>) -> Option<Entries<'_, T>> {
        let (memory, first) = match self {
            Tables::Hula(memory) => (memory, hula?),
            Tables::MpHula(memory) => (memory, mp_hula?),
        };
        Some(Entries { memory, first, of: PhantomData })
    }

    /// HULA's best hop of each ToR.
    pub fn best_hop(&self) -> Option<Entries<'_, BestHop>> {
        self.entries(Some(offset_of!(HulaTables, best)), None)
    }

    /// HULA's flowlets.
    pub fn flowlets(&self) -> Option<Entries<'_, Flowlet>> {
        self.entries(Some(offset_of!(HulaTables, flowlets)), None)
    }

    /// MP-HULA's best hops of each ToR, or the hops that Shuttle knows.
    pub fn hops(&self) -> Option<Entries<'_, HopTable>> {
        self.entries(None, Some(offset_of!(MpHulaTables, best)))
    }

    /// MP-HULA's and Shuttle's flowlets.
    pub fn owned_flowlets(&self) -> Option<Entries<'_, OwnedFlowlet>> {
        self.entries(None, Some(offset_of!(MpHulaTables, flowlets)))
    }

    /// MP-HULA's and Shuttle's subflows.
    pub fn subflows(&self) -> Option<Entries<'_, SubflowEntry>> {
        let entries = offset_of!(AssociationTables, entries);
        self.entries(None, Some(offset_of!(MpHulaTables, association) + entries))
    }
}
