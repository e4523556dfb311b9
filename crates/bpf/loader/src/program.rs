//! An XDP program, loaded: run on frames without any network.

use std::path::Path;
use std::time::Duration;

use aya::Ebpf;
use aya::programs::{ProgramFd, ProgramInfo, TestRun, TestRunAttrs, TestRunOptions, Xdp};

use crate::Error;

/// Bytes that a program may add to a frame and still be seen whole by [`Program::run`].
pub(crate) const GROWTH: usize = 256;
/// Bytes of the shortest frame that the kernel runs a program on: an Ethernet header.
const SHORTEST: usize = 14;
/// Bytes of a BPF instruction (linux/bpf.h, `struct bpf_insn`).
const BYTES_OF_INSTRUCTION: u32 = 8;

/// A loaded XDP program.
#[derive(Debug)]
pub struct Program {
    object: Ebpf,
    name: &'static str,
}

/// An XDP program's verdict on a frame (linux/bpf.h, `enum xdp_action`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The program failed: the frame is dropped, and a tracepoint tells.
    Aborted,
    /// Dropped.
    Drop,
    /// To the machine's own stack.
    Pass,
    /// Out where it came in.
    Tx,
    /// Out of another interface.
    Redirect,
    /// No such action: taken as [`Action::Aborted`].
    Unknown(u32),
}

impl From<u32> for Action {
    fn from(number: u32) -> Self {
        match number {
            0 => Self::Aborted,
            1 => Self::Drop,
            2 => Self::Pass,
            3 => Self::Tx,
            4 => Self::Redirect,
            other => Self::Unknown(other),
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The last round's verdict.
    pub action: Action,
    /// The frame as the last round left it.
    pub data: Vec<u8>,
    /// The mean time of a round in whole nanoseconds.
    pub duration: Duration,
}

/// A program's size (linux/bpf.h, `struct bpf_prog_info`); 0: the kernel does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Instructions, as the kernel has rewritten them.
    pub instructions: u32,
    /// Bytes of machine code.
    pub machine_code: u32,
    /// Instructions that the verifier followed, each as often as it did.
    pub verified: u32,
}

impl Program {
    /// The program `name` of `object`, loaded into the kernel.
    ///
    /// # Errors
    /// [`Error::Missing`] if the object has no such program, [`Error::Program`] if the verifier
    /// refuses it.
    pub fn load(mut object: Ebpf, name: &'static str) -> Result<Self, Error> {
        let program = object.program_mut(name).ok_or(Error::Missing(name))?;
        <&mut Xdp>::try_from(program)?.load()?;
        Ok(Self { object, name })
    }

    pub(crate) fn xdp(&self) -> Result<&Xdp, Error> {
        Ok(self.object.program(self.name).ok_or(Error::Missing(self.name))?.try_into()?)
    }

    pub(crate) fn xdp_mut(&mut self) -> Result<&mut Xdp, Error> {
        Ok(self.object.program_mut(self.name).ok_or(Error::Missing(self.name))?.try_into()?)
    }

    /// Its file descriptor.
    ///
    /// # Errors
    /// [`Error::Program`] if it is not loaded.
    pub fn fd(&self) -> Result<&ProgramFd, Error> {
        Ok(self.xdp()?.fd()?)
    }

    /// The program's id, by which the kernel lists it (`bpftool prog`, `ip link`).
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel does not say.
    pub fn id(&self) -> Result<u32, Error> {
        Ok(self.xdp()?.info()?.id())
    }

    /// Its size.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel does not say.
    pub fn size(&self) -> Result<Size, Error> {
        let info = self.xdp()?.info()?;
        Ok(Size {
            instructions: info.size_translated().unwrap_or(0) / BYTES_OF_INSTRUCTION,
            machine_code: info.size_jitted(),
            verified: info.verified_instruction_count().unwrap_or(0),
        })
    }

    /// Runs the program `repeat` times on `frame` (14 bytes or more), in this thread, without any
    /// network.
    ///
    /// A program that changes frames meets its own output from the second round on: to measure one,
    /// use [`crate::Bench`]. Maps keep what the rounds wrote.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses the frame (too short, or longer than about 3500
    /// bytes).
    pub fn run(&self, frame: &[u8], repeat: u32) -> Result<Run, Error> {
        let mut data = vec![0; frame.len() + GROWTH];
        let mut options = TestRunOptions::new();
        options.data_in = Some(frame);
        options.data_out = Some(&mut data);
        options.repeat = repeat;
        let result = self.xdp()?.test_run(options)?;
        data.truncate(result.data_size_out as usize);
        Ok(Run { action: result.return_value.into(), data, duration: result.duration })
    }

    /// The number that the program returns for a frame of zeros: of one that tells user space
    /// something, and takes no packets.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses to run it.
    pub fn returned(&self) -> Result<u32, Error> {
        let mut options = TestRunOptions::new();
        options.data_in = Some(&[0; SHORTEST]);
        Ok(self.xdp()?.test_run(options)?.return_value)
    }

    /// Sends `frame` `count` times: the kernel makes frames of their own of it, as if an interface
    /// had received them `batch` at a time, and does what the program says with each. With a
    /// program that redirects or passes, this is a packet generator; where frames come in is the
    /// first interface of this network namespace (lo).
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses the frame, or a batch of more than 256.
    pub fn run_live(&self, frame: &[u8], count: u32, batch: u32) -> Result<(), Error> {
        let mut options = TestRunOptions::new();
        options.data_in = Some(frame);
        options.repeat = count;
        options.attrs = TestRunAttrs::new().xdp_live_frames(batch);
        self.xdp()?.test_run(options)?;
        Ok(())
    }
}

/// A program that was loaded elsewhere and is pinned at `path`.
///
/// # Errors
/// [`Error::Program`] if there is none.
pub fn pinned_program(path: &Path) -> Result<ProgramFd, Error> {
    Ok(ProgramInfo::from_pin(path)?.fd()?)
}
