//! Programs that do nothing but one action.

use aya::maps::Array;
use aya::programs::SchedClassifier;
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};

use crate::{Error, Mode, Program, TcDirection, attach_tc};

const PASS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/pass.o"));
const BARE: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/bare.o"));

/// The program that passes everything: what the far end of a veth pair needs, or native XDP's
/// frames are lost there.
///
/// # Errors
/// [`Error`] if the kernel does not take it: not root, or no eBPF.
pub fn pass() -> Result<Program, Error> {
    Program::load(EbpfLoader::new().load(PASS)?, "heddle_pass")
}

/// The program that sends everything back where it came in: the least that any forwarding takes.
///
/// # Errors
/// As for [`pass`].
pub fn send_back() -> Result<Program, Error> {
    Program::load(EbpfLoader::new().load(BARE)?, "heddle_return")
}

/// The program that drops everything.
///
/// # Errors
/// As for [`pass`].
pub fn discard() -> Result<Program, Error> {
    Program::load(EbpfLoader::new().load(BARE)?, "heddle_discard")
}

/// A program on an interface that sends all that comes in there out of another one: the least that
/// any forwarding takes. Dropped, it is detached.
#[derive(Debug)]
pub struct Forwarding {
    _program: Forwarder,
}

#[derive(Debug)]
enum Forwarder {
    Xdp { _program: Program },
    Tc { _object: Ebpf },
}

impl Forwarding {
    /// By XDP, from one interface to another, by their numbers.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take the program, or the interface has one.
    pub fn xdp(from: u32, to: u32) -> Result<Forwarding, Error> {
        let mut program = Program::load(forwarder(to)?, "heddle_forward")?;
        program.attach(from, Mode::Native)?;
        Ok(Forwarding { _program: Forwarder::Xdp { _program: program } })
    }

    /// By tc, at the ingress of the interface `from`.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take the program.
    pub fn tc(from: &str, to: u32) -> Result<Forwarding, Error> {
        const NAME: &str = "heddle_forward_tc";
        let mut object = forwarder(to)?;
        let program = object.program_mut(NAME).ok_or(Error::Missing(NAME))?;
        <&mut SchedClassifier>::try_from(program)?.load()?;
        attach_tc(&mut object, NAME, from, TcDirection::Ingress, None)?;
        Ok(Forwarding { _program: Forwarder::Tc { _object: object } })
    }
}

/// The object with its interface set.
fn forwarder(to: u32) -> Result<Ebpf, Error> {
    const MAP: &str = "forward_to";
    let mut object = EbpfLoader::new().load(BARE)?;
    let map = object.map_mut(MAP).ok_or(Error::Missing(MAP))?;
    Array::<_, u32>::try_from(map)?.set(0, to, 0)?;
    Ok(object)
}
