//! The content of a program's maps, byte by byte: for tests that compare it.
#![allow(unsafe_code)] // System calls for which aya has no function.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use aya::maps::{MapData, MapError, MapInfo, MapType};
use aya::util::nr_cpus;

use crate::maps::{Access, Memory};
use crate::{Error, Program};

const BPF_MAP_LOOKUP_ELEM: libc::c_long = 1;
const BPF_MAP_LOOKUP_BATCH: libc::c_long = 24;
const BPF_F_MMAPABLE: u32 = 1 << 10;

/// Of `union bpf_attr` (linux/bpf.h): one element. A queue has no keys, and shows its head.
#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Of `union bpf_attr`: many elements.
#[repr(C)]
#[derive(Default)]
struct Batch {
    from: u64,
    next: u64,
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

impl Program {
    /// The content of each map that the program uses, by the map's name, but for those named in
    /// `without`: all keys and values, of a queue the first one, of an array in memory the values.
    /// The kernel cuts names off behind 15 bytes.
    ///
    /// # Errors
    /// [`Error::Program`] or [`Error::Map`] if the kernel would not.
    pub fn contents(&self, without: &[&str]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let maps = self.xdp()?.info()?.map_ids()?.unwrap_or_default();
        let mut contents = BTreeMap::new();
        for id in maps {
            let map = MapInfo::from_id(id)?;
            let name = map.name_as_str().unwrap_or_default().to_owned();
            if !without.contains(&name.as_str()) {
                contents.insert(name, content(&map)?);
            }
        }
        Ok(contents)
    }
}

fn content(map: &MapInfo) -> Result<Vec<u8>, Error> {
    if map.map_flags() & BPF_F_MMAPABLE != 0 {
        let map = MapData::from_id(map.id())?;
        return Ok(Memory::new("memory", map, Access::Read)?.bytes());
    }
    let (kind, fd) = (map.map_type()?, map.fd()?);
    let value = match kind {
        MapType::PerCpuArray | MapType::PerCpuHash | MapType::LruPerCpuHash => {
            let processors = nr_cpus().map_err(|(_, error)| MapError::IoError(error))?;
            map.value_size().next_multiple_of(8) as usize * processors
        }
        _ => map.value_size() as usize,
    };
    let read = match kind {
        MapType::Queue => head(fd.as_fd(), value),
        _ => all(fd.as_fd(), map.key_size() as usize, value, map.max_entries()),
    };
    Ok(read.map_err(MapError::IoError)?)
}

/// The first value of a queue; nothing if it is empty.
fn head(map: BorrowedFd<'_>, value: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; value];
    let value = bytes.as_mut_ptr().expose_provenance() as u64;
    let mut element = Element { map: map.as_raw_fd() as u32, value, ..Element::default() };
    // SAFETY: `element` points to a buffer of the map's value size.
    let found = unsafe { bpf(BPF_MAP_LOOKUP_ELEM, &raw mut element) };
    Ok(if exists(found)? { bytes } else { Vec::new() })
}

/// All keys, and behind them all values.
fn all(map: BorrowedFd<'_>, key: usize, value: usize, entries: u32) -> io::Result<Vec<u8>> {
    let (mut keys, mut values) =
        (vec![0_u8; key * entries as usize], vec![0_u8; value * entries as usize]);
    let mut next = [0_u8; 64]; // where the kernel would go on: as long as a key, or four bytes
    let mut batch = Batch {
        next: next.as_mut_ptr().expose_provenance() as u64,
        keys: keys.as_mut_ptr().expose_provenance() as u64,
        values: values.as_mut_ptr().expose_provenance() as u64,
        count: entries,
        map: map.as_raw_fd() as u32,
        ..Batch::default()
    };
    // SAFETY: `batch` points to buffers with room for `count` keys and values, and for a key.
    let found = unsafe { bpf(BPF_MAP_LOOKUP_BATCH, &raw mut batch) };
    exists(found)?;
    let found = batch.count as usize;
    keys.truncate(key * found);
    values.truncate(value * found);
    Ok([keys, values].concat())
}

/// False at "no such entry", which is also the end of a map.
fn exists(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// # Safety
/// Whatever the command reads or writes by the attributes' addresses must be there.
pub(crate) unsafe fn bpf<T>(command: libc::c_long, attributes: *mut T) -> io::Result<()> {
    // SAFETY: the caller's; the kernel reads no more of the attributes than their size.
    match unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size_of::<T>()) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
