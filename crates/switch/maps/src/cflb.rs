//! CFLB's constants as a router needs them.

use std::time::Duration;

use aya::maps::{Array, Map, MapData};
use heddle_bpf_loader::maps::{Access, Memory, array};
use heddle_bpf_loader::{Error, Program};

use crate::abi::CflbConstants;
use crate::object;

/// The time in which every packet that began with the old constants has ended: programs are not
/// preempted, and take microseconds.
const PACKETS_END: Duration = Duration::from_millis(1);

/// Writes the constants, prepared by the kernel's own run of bpf/switch/cflb_prepare.h, into the
/// switch's map `to`; if they are others than before, empties the memo of selectors.
///
/// # Errors
/// [`Error::Bench`] never; [`Error`] if the kernel does not take the program; [`Error::Missing`]
/// for constants that cannot be.
pub(crate) fn prepare(constants: &CflbConstants, to: Map, memo: Map) -> Result<(), Error> {
    let mut object = object::prepare()?;
    let mut take = |name| object.take_map(name).ok_or(Error::Missing(name));
    let mut input: Array<MapData, CflbConstants> = take("cflb_constants")?.try_into()?;
    let output = Memory::new("cflb_prepared", array(take("cflb_prepared")?)?, Access::Read)?;
    input.set(0, *constants, 0)?;
    if Program::load(object, "heddle_cflb_prepare")?.returned()? != 0 {
        return Err(Error::Missing("codec for these constants of CFLB"));
    }
    let into = Memory::new("cflb_prepared", array(to)?, Access::Write)?;
    let mut changed = false;
    for index in 0..into.entries(size_of::<u64>()) {
        let word = output.read::<u64>(index).unwrap_or_default();
        changed |= into.read::<u64>(index) != Some(word);
        into.write(index, word)?;
    }
    if changed {
        std::thread::sleep(PACKETS_END);
        let memo = Memory::new("cflb_memo", array(memo)?, Access::Write)?;
        (0..memo.entries(size_of::<u64>())).try_for_each(|index| memo.write(index, 0_u64))?;
    }
    Ok(())
}
