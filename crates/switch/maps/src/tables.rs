//! The schemes' tables, in memory that is the kernel's too.

use std::marker::PhantomData;

use aya::{Ebpf, Pod};
use heddle_bpf_loader::maps::{Access, Memory, array};

use crate::abi::{BestHop, Flowlet, HopTable, SubflowEntry};
use crate::scheme::Layout;
use crate::{Error, Scheme};

/// The tables of a scheme that has some.
#[derive(Debug)]
pub struct Tables {
    memory: Memory,
    layout: Layout,
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

impl Flowlet {
    /// The port, if the slot has one.
    pub fn port(&self) -> Option<u16> {
        (self.next_port() as u16).checked_sub(1)
    }

    /// Nanoseconds from its last packet until `now`; 0 if time went backwards. As
    /// bpf/switch/flowlet.h, whose times have 56 bits.
    pub fn idle(&self, now: u64) -> u64 {
        let idle = (now.wrapping_sub(self.last()) << 8) as i64 >> 8;
        idle.max(0) as u64
    }
}

impl Tables {
    /// Those of a scheme, out of its object.
    pub(crate) fn take(scheme: Scheme, object: &mut Ebpf) -> Result<Option<Tables>, Error> {
        let take = |layout: Layout| {
            let map = object.take_map(layout.map).ok_or(Error::Missing(layout.map))?;
            let memory = Memory::new(layout.map, array(map)?, Access::Read)?;
            Ok(Tables { memory, layout })
        };
        scheme.layout().map(take).transpose()
    }

    fn entries<T>(&self, first: Option<usize>) -> Option<Entries<'_, T>> {
        Some(Entries { memory: &self.memory, first: first?, of: PhantomData })
    }

    /// HULA's best hop of each ToR.
    pub fn best_hop(&self) -> Option<Entries<'_, BestHop>> {
        self.entries(self.layout.best_hop)
    }

    /// Flowlets.
    pub fn flowlets(&self) -> Option<Entries<'_, Flowlet>> {
        self.entries(self.layout.flowlets)
    }

    /// MP-HULA's best hops of each ToR, or the hops that Shuttle knows.
    pub fn hops(&self) -> Option<Entries<'_, HopTable>> {
        self.entries(self.layout.hops)
    }

    /// MP-HULA's and Shuttle's subflows.
    pub fn subflows(&self) -> Option<Entries<'_, SubflowEntry>> {
        self.entries(self.layout.subflows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flowlet(next_port: u64, last: u64) -> Flowlet {
        let mut flowlet = Flowlet::default();
        flowlet.set_next_port(next_port);
        flowlet.set_last(last);
        flowlet
    }

    #[test]
    fn a_flowlet_has_its_port_and_idle_time_in_one_word() {
        assert_eq!(size_of::<Flowlet>(), 8);
        assert_eq!(flowlet(0, 5).port(), None);
        assert_eq!(flowlet(64, 5).port(), Some(63));
        assert_eq!((flowlet(64, 5).idle(12), flowlet(64, 5).idle(4)), (7, 0));
    }

    #[test]
    fn idle_times_are_right_when_the_time_begins_anew() {
        let end = 1 << 56;
        assert_eq!(flowlet(1, end - 3).idle(end + 4), 7);
        assert_eq!(flowlet(1, 4).idle(end + 4), 0);
    }
}
