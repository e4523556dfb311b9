//! The target of a given packet, as the program itself would decide now.

use std::collections::BTreeMap;

use aya::Ebpf;

use crate::abi::{Counter, Trace};
use crate::maps::Traces;
use crate::object::BALANCER_PROGRAM;
use crate::{Error, Program, Run};

/// The balancer's program in a variant that decides as the live one, on its maps, and changes
/// nothing.
pub struct Explainer {
    program: Program,
    traces: Traces,
}

/// The decision about a frame, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The verdict, and the frame as it would leave.
    pub run: Run,
    /// The program's findings and decision; none if it passed the frame before any.
    pub trace: Option<Trace>,
}

impl Explainer {
    pub(crate) fn new(mut object: Ebpf) -> Result<Self, Error> {
        let traces = object.take_map("traces").ok_or(Error::Missing("traces"))?;
        let traces = Traces::new(traces)?;
        Ok(Self { program: Program::load(object, BALANCER_PROGRAM)?, traces })
    }

    /// The decision about this frame (from its Ethernet header on) as of now.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses the frame: too short, or longer than about 3500
    /// bytes.
    pub fn explain(&mut self, frame: &[u8]) -> Result<Explanation, Error> {
        self.traces.clear()?;
        let run = self.program.run(frame, 1)?;
        Ok(Explanation { run, trace: self.traces.get()? })
    }
}

impl Explainer {
    /// The content of each map of the program but its trace, what it has of the packet in process
    /// and keeps of services, and the large tables of hashes, which only user space writes. Nothing
    /// of it changes by an explanation, which tests check.
    ///
    /// # Errors
    /// [`Error`] if the kernel would not.
    pub fn contents(&self) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        self.program.contents(&["traces", "works", "known_vips", "maglev", "ring", "waiting"])
    }
}

impl Trace {
    /// True if the packet would have raised this counter.
    pub fn counted(&self, counter: Counter) -> bool {
        let number = counter as usize;
        self.counters[number / 64] & 1 << (number % 64) != 0
    }
}
