//! Programs that do nothing but one action.

use aya::{EbpfLoader, include_bytes_aligned};

use crate::{Error, Program};

const PASS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/pass.o"));
const BARE: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/bare.o"));

/// The program that passes everything: what the far end of a veth pair needs, or native XDP's frames are lost there.
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
