//! Probes of this ToR, sent by a program that user space runs: it needs neither a socket nor a
//! capability.

use aya::Ebpf;
use aya::programs::{SchedClassifier, TestRun, TestRunOptions};

use crate::Error;

/// The program's name (bpf/switch/switch.bpf.c).
const NAME: &str = "heddle_switch_originate";

/// The program that sends a frame on each uplink that is up.
#[derive(Debug)]
pub struct Originator {
    object: Ebpf,
}

impl Originator {
    pub(crate) fn load(mut object: Ebpf) -> Result<Originator, Error> {
        let program = object.program_mut(NAME).ok_or(Error::Missing(NAME))?;
        <&mut SchedClassifier>::try_from(program)?.load()?;
        Ok(Originator { object })
    }

    /// Sends a frame of 14 bytes or more, from the network namespace of the calling thread; its MAC
    /// addresses become the ports'.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses.
    pub fn send(&self, frame: &[u8]) -> Result<(), Error> {
        let program = self.object.program(NAME).ok_or(Error::Missing(NAME))?;
        let mut options = TestRunOptions::new();
        options.data_in = Some(frame);
        <&SchedClassifier>::try_from(program)?.test_run(options)?;
        Ok(())
    }
}
