//! A program in the kernel by which frames are sent as if an interface had received them.
#![allow(unsafe_code)] // A system call for which aya takes the program itself.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::contents::bpf;
use crate::{Error, Program};

const BPF_PROG_TEST_RUN: libc::c_long = 10;
const BPF_F_TEST_XDP_LIVE_FRAMES: u32 = 1 << 1;

/// The attributes of the call (linux/bpf.h, `union bpf_attr`, `test`).
#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    returned: u32,
    bytes_in: u32,
    bytes_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    context_in_bytes: u32,
    context_out_bytes: u32,
    context_in: u64,
    context_out: u64,
    flags: u32,
    processor: u32,
    batch: u32,
    pad: u32,
}

/// A program once more, for a thread of its own, which needs no privilege.
#[derive(Debug)]
pub struct LiveProgram {
    program: OwnedFd,
}

impl LiveProgram {
    /// The same program.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel has no descriptor for it.
    pub fn of(program: &Program) -> Result<Self, Error> {
        let program = program.xdp()?.fd()?.as_fd().try_clone_to_owned();
        Ok(Self { program: program.map_err(aya::programs::ProgramError::IOError)? })
    }

    /// Has the program process a frame as if the network namespace's first interface (lo) had
    /// received it: it is sent where the program says.
    ///
    /// # Errors
    /// If the kernel refuses the frame: too short, or longer than about 3500 bytes.
    pub fn process(&self, frame: &[u8]) -> io::Result<()> {
        let mut run = TestRun {
            program: self.program.as_raw_fd() as u32,
            bytes_in: frame.len() as u32,
            data_in: frame.as_ptr().expose_provenance() as u64,
            repeat: 1,
            flags: BPF_F_TEST_XDP_LIVE_FRAMES,
            batch: 1,
            ..TestRun::default()
        };
        // SAFETY: `data_in` names `bytes_in` bytes, which the kernel copies; it writes the attributes
        // alone.
        unsafe { bpf(BPF_PROG_TEST_RUN, &raw mut run) }
    }
}
