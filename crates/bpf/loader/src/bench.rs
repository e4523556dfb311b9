//! The time that a program takes for a packet.
//!
//! BPF_PROG_RUN gives a program its own output back from the second round on. So a wrapper
//! (bpf/tools/bench.bpf.c) runs in each round: it restores the frame and tail-calls the program.
//! Time is this thread's on its processor. The wrapper is measured before and after, with nothing
//! to call, and taken off.

use crate::abi::{BENCH_FRAMES, BenchFrame, BenchState};
use crate::processor::thread_time;
use crate::{Action, Error, Program};
use aya::maps::{Array, MapData, ProgramArray};
use aya::programs::ProgramFd;
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};

/// Rounds of one system call.
const BATCH: u32 = 100_000;

/// The wrapper, compiled.
const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/bench.o"));

/// The wrapper's object, with maps of its own.
pub(crate) fn load_object() -> Result<Ebpf, Error> {
    Ok(EbpfLoader::new().load(OBJECT)?)
}

/// The clients that the frames are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// As the frames say.
    AsWritten,
    /// Of this many clients in turn: with each round the source port, and each 32768 rounds the
    /// last two bytes of the source address, are the next client's. The checksums of TCP and UDP are left as they are.
    /// For IPv4 and IPv6 over Ethernet without VLAN tag or IP options.
    Many(u32),
    /// The same, but each round over them is in an order without pattern. As many as a power of
    /// two.
    Shuffled(u32),
}

impl Clients {
    /// The wrapper's parameters: the client's offsets in `frame`.
    pub(crate) fn state(self, frame: &[u8]) -> Result<BenchState, Error> {
        let state = BenchState::default();
        let (clients, shuffled) = match self {
            Self::AsWritten => return Ok(state),
            Self::Many(clients) => (clients, 0),
            Self::Shuffled(clients) if clients.is_power_of_two() => (clients, 1),
            Self::Shuffled(clients) => {
                return Err(Error::Bench(format!("{clients} clients cannot be shuffled")));
            }
        };
        let state = BenchState { clients, shuffled, ..state };
        match frame.get(12..14) {
            Some([0x08, 0x00]) => Ok(BenchState { address: 28, port: 34, checksum: 24, ..state }),
            Some([0x86, 0xdd]) => Ok(BenchState { address: 36, port: 54, ..state }),
            _ => Err(Error::Bench("many clients need frames of IPv4 or IPv6".into())),
        }
    }
}

/// A program under measurement.
pub struct Bench {
    wrapper: Program,
    nothing: Program,
    state: Array<MapData, BenchState>,
    frames: Array<MapData, BenchFrame>,
    programs: ProgramArray<MapData>,
}

/// Nanoseconds of processor time per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Of the program alone, the median over all batches: what it takes longer than one that does
    /// nothing. (Such a program by itself costs what [`Program::run`] of [`crate::pass`] says; that
    /// is in `wrapper`.)
    pub program: f64,
    /// Of the wrapper alone: the median over all batches.
    pub wrapper: f64,
    /// More than the first program of a comparison: the median of differences between batches that
    /// followed each other.
    pub more: f64,
    /// The median of shares of the first program's time, of batches that followed each other.
    pub share: f64,
    /// The verdict on the last packet.
    pub action: Action,
    /// Packets that the program was given, for comparison with its own counters.
    pub packets: u64,
}

impl Bench {
    /// The wrapper, loaded.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take it.
    pub fn new() -> Result<Self, Error> {
        let mut object = load_object()?;
        let mut map = |name| object.take_map(name).ok_or(Error::Missing(name));
        let (state, frames, programs) = (map("benches")?, map("frames")?, map("programs")?);
        Ok(Self {
            state: state.try_into()?,
            frames: frames.try_into()?,
            programs: programs.try_into()?,
            wrapper: Program::load(object, "heddle_bench")?,
            nothing: Program::load(load_object()?, "heddle_bench_nothing")?,
        })
    }

    /// Gives `program` the frames in turn, in `batches` of 100,000, and says what one costs.
    ///
    /// # Errors
    /// [`Error::Bench`] for no frame or batch, more than 1024 frames, a frame of more than 1600
    /// bytes, or one that [`Clients::Many`] cannot change; [`Error::Program`] if the kernel refuses
    /// to run it.
    pub fn measure(
        &mut self,
        program: &Program,
        frames: &[Vec<u8>],
        clients: Clients,
        batches: u32,
    ) -> Result<Cost, Error> {
        let costs = self.compare(&[program.fd()?], frames, clients, batches)?;
        costs.into_iter().next().ok_or_else(no_batch)
    }

    /// The same of several programs, a batch of each in turn: what disturbs the machine for a while
    /// disturbs all of them.
    ///
    /// # Errors
    /// As [`Bench::measure`].
    pub fn compare(
        &mut self,
        programs: &[&ProgramFd],
        frames: &[Vec<u8>],
        clients: Clients,
        batches: u32,
    ) -> Result<Vec<Cost>, Error> {
        let state = initial_state(frames, clients)?;
        self.set_frames(frames)?;
        let mut costs = vec![Costs::new(state); programs.len()];
        for _ in 0..batches {
            let mut unused = state;
            let wrapper = self.batch(Called::Nothing, programs, &mut unused, frames)?.0;
            for (number, cost) in costs.iter_mut().enumerate() {
                let called = Called::Program(number);
                let (time, action) = self.batch(called, programs, &mut cost.state, frames)?;
                cost.wrapper.push(wrapper);
                cost.program.push(time);
                cost.action = Some(action);
            }
        }
        let first = costs.first().map(|cost| cost.program.clone()).unwrap_or_default();
        costs.into_iter().map(|cost| cost.summary(&first)).collect()
    }

    fn set_frames(&mut self, frames: &[Vec<u8>]) -> Result<(), Error> {
        (0..)
            .zip(frames)
            .try_for_each(|(index, frame)| Ok(self.frames.set(index, bench_frame(frame)?, 0)?))
    }

    /// One system call: nanoseconds per round, and the verdict. `state` goes on. Each system call
    /// has its frame elsewhere in memory.
    fn batch(
        &mut self,
        called: Called,
        programs: &[&ProgramFd],
        state: &mut BenchState,
        frames: &[Vec<u8>],
    ) -> Result<(f64, Action), Error> {
        let callee = match called {
            Called::Program(number) => programs[number],
            Called::Nothing => self.nothing.fd()?,
        };
        self.programs.set(0, callee, 0)?;
        self.state.set(0, BenchState { start: 0, ..*state }, 0)?;
        let start = thread_time();
        let run = self.wrapper.run(&frames[0], BATCH)?;
        let cost = (thread_time() - start).as_nanos() as f64 / f64::from(BATCH);
        *state = self.state.get(&0, 0)?;
        Ok((cost, run.action))
    }
}

/// A frame for the wrapper.
pub(crate) fn bench_frame(frame: &[u8]) -> Result<BenchFrame, Error> {
    let too_long = || Error::Bench(format!("a frame has {} bytes", frame.len()));
    let mut entry = BenchFrame { length: frame.len() as u32, ..BenchFrame::default() };
    entry.bytes.get_mut(..frame.len()).ok_or_else(too_long)?.copy_from_slice(frame);
    Ok(entry)
}

/// The program that the wrapper calls: one of those compared, by number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Called {
    Nothing,
    Program(usize),
}

/// Those of one program, by batch.
#[derive(Clone)]
struct Costs {
    state: BenchState,
    wrapper: Vec<f64>,
    program: Vec<f64>,
    action: Option<Action>,
}

impl Costs {
    fn new(state: BenchState) -> Self {
        Self { state, wrapper: Vec::new(), program: Vec::new(), action: None }
    }

    /// `first`: of the first program, batch by batch.
    fn summary(mut self, first: &[f64]) -> Result<Cost, Error> {
        let action = self.action.ok_or_else(no_batch)?;
        let packets = self.program.len() as u64 * u64::from(BATCH);
        let pairs = || self.program.iter().zip(first);
        let mut more: Vec<f64> = pairs().map(|(own, it)| own - it).collect();
        let alone = pairs().zip(&self.wrapper);
        let mut shares: Vec<f64> =
            alone.map(|((own, it), wrapper)| (own - wrapper) / (it - wrapper)).collect();
        let wrapper = median(&mut self.wrapper);
        let program = median(&mut self.program) - wrapper;
        let (more, share) = (median(&mut more), median(&mut shares));
        Ok(Cost { program, wrapper, more, share, action, packets })
    }
}

fn no_batch() -> Error {
    Error::Bench("no batch".into())
}

/// The upper one of two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn initial_state(frames: &[Vec<u8>], clients: Clients) -> Result<BenchState, Error> {
    if frames.is_empty() || frames.len() > BENCH_FRAMES as usize {
        let why = format!("{} frames; one to {BENCH_FRAMES} can be given in turn", frames.len());
        return Err(Error::Bench(why));
    }
    let state = clients.state(&frames[0])?;
    for frame in frames {
        let other = clients.state(frame)?;
        if (other.address, other.port) != (state.address, state.port) {
            return Err(Error::Bench("many clients need frames of one kind".into()));
        }
    }
    Ok(BenchState { frames: frames.len() as u32, ..state })
}
