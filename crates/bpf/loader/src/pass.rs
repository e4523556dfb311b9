//! A program that passes everything.

use aya::{EbpfLoader, include_bytes_aligned};

use crate::{Error, Program};

const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/pass.o"));

/// The program that passes everything: what the far end of a veth pair needs, or native XDP's frames are lost there.
///
/// # Errors
/// [`Error`] if the kernel does not take it: not root, or no eBPF.
pub fn pass() -> Result<Program, Error> {
    Program::load(EbpfLoader::new().load(OBJECT)?, "heddle_pass")
}
