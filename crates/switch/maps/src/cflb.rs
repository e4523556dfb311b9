//! CFLB's constants as a router needs them.

use aya::maps::{Array, Map, MapData};
use heddle_bpf_loader::maps::{Access, Memory, array};
use heddle_bpf_loader::{Error, Program};

use crate::abi::CflbConstants;
use crate::object;

/// Writes the constants, prepared by the kernel's own run of bpf/switch/cflb_prepare.h, into the switch's map.
///
/// # Errors
/// [`Error::Bench`] never; [`Error`] if the kernel does not take the program; [`Error::Missing`] for constants that cannot be.
pub(crate) fn prepare(constants: &CflbConstants, to: Map) -> Result<(), Error> {
    let mut object = object::prepare()?;
    let mut take = |name| object.take_map(name).ok_or(Error::Missing(name));
    let mut input: Array<MapData, CflbConstants> = take("cflb_constants")?.try_into()?;
    let output = Memory::new("cflb_prepared", array(take("cflb_prepared")?)?, Access::Read)?;
    input.set(0, *constants, 0)?;
    if Program::load(object, "heddle_cflb_prepare")?.returned()? != 0 {
        return Err(Error::Missing("codec for these constants of CFLB"));
    }
    let into = Memory::new("cflb_prepared", array(to)?, Access::Write)?;
    for index in 0..into.entries(size_of::<u64>()) {
        into.write(index, output.read::<u64>(index).unwrap_or_default())?;
    }
    Ok(())
}
