//! Sends packets, millions a second: the kernel makes frames and an XDP program gives them to an
//! interface.

use aya::maps::{Array, MapData};

use crate::abi::{BENCH_HEAD, BenchFrame, BenchState};
use crate::bench::{bench_frame, load_object};
use crate::{Clients, Error, Program};

/// Frames that the kernel makes at a time.
const BATCH: u32 = 64;

/// Sends frames out of one interface, past its queues. At the other end of a veth pair a program
/// must be attached ([`crate::pass`]), or frames are lost.
pub struct Generator {
    program: Program,
    state: Array<MapData, BenchState>,
    frames: Array<MapData, BenchFrame>,
    interface: u32,
}

impl Generator {
    /// For this interface ([`crate::interface_index`]) of this thread's network namespace.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take the program.
    pub fn new(interface: u32) -> Result<Self, Error> {
        let mut object = load_object()?;
        let mut map = |name| object.take_map(name).ok_or(Error::Missing(name));
        let (state, frames) = (map("benches")?.try_into()?, map("frames")?.try_into()?);
        Ok(Self { program: Program::load(object, "heddle_bench_send")?, state, frames, interface })
    }

    /// Sends `count` frames, by this thread, which has them sent when this returns. What the
    /// interface has no room for is lost, as on any wire.
    ///
    /// # Errors
    /// [`Error::Bench`] for a frame of less than 60 bytes or more than 1600, and one that
    /// [`Clients`] cannot change; [`Error::Program`] if the kernel refuses the frame.
    pub fn send(&mut self, frame: &[u8], clients: Clients, count: u32) -> Result<(), Error> {
        let state = BenchState { interface: self.interface, ..clients.state(frame)? };
        if frame.len() < BENCH_HEAD as usize {
            return Err(Error::Bench(format!("a frame has {} bytes", frame.len())));
        }
        self.state.set(0, state, 0)?;
        self.frames.set(0, bench_frame(frame)?, 0)?;
        self.program.run_live(frame, count, BATCH)
    }
}
