//! The target of a given packet, as the program itself would decide now.

use aya::Ebpf;
use heddle_bpf_loader::Contents;

use crate::abi::{Counter, Trace};
use crate::maps::Traces;
use crate::object::BALANCER_PROGRAM;
use crate::{Error, Program, Run};

/// The balancer's program in a variant that decides as the live one, on its maps, and changes
/// nothing.
pub struct Explainer {
    program: Program,
    traces: Traces,
    /// Opened by the first that asks.
    contents: Option<Contents>,
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
        Ok(Self { program: Program::load(object, BALANCER_PROGRAM)?, traces, contents: None })
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
    /// The first map that explaining this frame changes: none, which tests check. Of all maps but
    /// the program's trace, what it has of the packet in process and keeps of services, and the
    /// large tables of hashes, which only user space writes.
    ///
    /// # Errors
    /// As [`Explainer::explain`].
    pub fn changed_by(&mut self, frame: &[u8]) -> Result<Option<String>, Error> {
        const LEFT_OUT: [&str; 6] = ["traces", "works", "known_vips", "maglev", "ring", "waiting"];
        let contents = match self.contents.take() {
            Some(contents) => contents,
            None => self.program.contents(&LEFT_OUT)?,
        };
        let before = contents.read()?;
        self.explain(frame)?;
        let after = contents.read()?;
        let changed = after.iter().find(|(map, content)| before[*map] != **content);
        let changed = changed.map(|(map, _)| (*map).to_owned());
        self.contents = Some(contents);
        Ok(changed)
    }
}

impl Trace {
    /// True if the packet would have raised this counter.
    pub fn counted(&self, counter: Counter) -> bool {
        let number = counter as usize;
        self.counters[number / 64] & 1 << (number % 64) != 0
    }
}
