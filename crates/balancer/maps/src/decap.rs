//! The backends' program: takes off the outer headers that balancers put on.

use std::path::Path;

use heddle_bpf_loader::maps::{Counts, Hash};

use crate::abi::{Address, Count, DecapCounter};
use crate::{Attached, Error, Mode, Program, Sources, object};

/// That program (bpf/balancer/decap.bpf.c), loaded. Dropped, it is gone from the kernel.
pub struct Decap {
    /// The XDP program.
    pub program: Program,
    /// This backend's addresses that balancers send to; the value means nothing.
    pub own: Hash<Address, u8>,
    /// The balancers, for [`Sources::Listed`]; the value means nothing.
    pub allowed: Hash<Address, u8>,
    counts: Counts,
}

impl Decap {
    /// The program, for GUE on this UDP port; 0 for none.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take it.
    pub fn load(gue_port: u16, sources: Sources) -> Result<Self, Error> {
        let mut object = object::decap(gue_port, sources)?;
        let mut map = |name| object.take_map(name).ok_or(Error::Missing(name));
        let (own, allowed) = (Hash::new(map("own")?)?, Hash::new(map("allowed")?)?);
        let counts = Counts::new(map("decap_counts")?)?;
        Ok(Self { program: Program::load(object, "heddle_decap")?, own, allowed, counts })
    }

    /// Attaches the program to an interface ([`crate::interface_index`]) by a link that is pinned
    /// in `directory` ([`Program::attach_lasting`]).
    ///
    /// # Errors
    /// As there.
    pub fn attach_pinned(
        &mut self,
        directory: &Path,
        interface: u32,
        mode: Mode,
    ) -> Result<Attached, Error> {
        self.program.attach_lasting(directory, interface, mode)
    }

    /// The number of packets with this outcome.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn count(&self, outcome: DecapCounter) -> Result<Count, Error> {
        self.counts.sum(outcome as u32)
    }
}
