//! The content of a program's maps, byte by byte: for tests that compare it.
#![allow(unsafe_code)] // System calls for which aya has no function.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use aya::maps::{MapData, MapError, MapFd, MapInfo, MapType};
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

/// A program's maps, opened to be read whole, again and again.
#[derive(Debug)]
pub struct Contents(Vec<Opened>);

#[derive(Debug)]
struct Opened {
    name: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// An array in memory.
    Memory(Memory),
    Queue {
        map: MapFd,
        value: usize,
    },
    Elements {
        map: MapFd,
        key: usize,
        value: usize,
        entries: u32,
    },
}

impl Program {
    /// The maps that the program uses, but for those named in `without`. The kernel cuts names off
    /// behind 15 bytes.
    ///
    /// # Errors
    /// [`Error::Program`] or [`Error::Map`] if the kernel would not.
    pub fn contents(&self, without: &[&str]) -> Result<Contents, Error> {
        let mut opened = Vec::new();
        for id in self.xdp()?.info()?.map_ids()?.unwrap_or_default() {
            let map = MapInfo::from_id(id)?;
            let name = map.name_as_str().unwrap_or_default().to_owned();
            if !without.contains(&name.as_str()) {
                opened.push(Opened { name, source: Source::of(&map)? });
            }
        }
        Ok(Contents(opened))
    }
}

impl Contents {
    /// The content of each map, by its name: all keys and values, of a queue the first one, of an
    /// array in memory the values.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn read(&self) -> Result<BTreeMap<&str, Vec<u8>>, Error> {
        self.0.iter().map(|map| Ok((map.name.as_str(), map.source.read()?))).collect()
    }
}

impl Source {
    fn of(map: &MapInfo) -> Result<Self, Error> {
        if map.map_flags() & BPF_F_MMAPABLE != 0 {
            let map = MapData::from_id(map.id())?;
            return Ok(Self::Memory(Memory::new("memory", map, Access::Read)?));
        }
        let (value, kind) = (map.value_size(), map.map_type()?);
        let value = match kind {
            MapType::PerCpuArray | MapType::PerCpuHash | MapType::LruPerCpuHash => {
                let processors = nr_cpus().map_err(|(_, error)| MapError::IoError(error))?;
                value.next_multiple_of(8) as usize * processors
            }
            _ => value as usize,
        };
        let (key, entries) = (map.key_size() as usize, map.max_entries());
        let map = map.fd()?;
        Ok(match kind {
            MapType::Queue => Self::Queue { map, value },
            _ => Self::Elements { map, key, value, entries },
        })
    }

    fn read(&self) -> Result<Vec<u8>, Error> {
        let read = match self {
            Self::Memory(memory) => return Ok(memory.bytes()),
            Self::Queue { map, value } => head(map.as_fd(), *value),
            Self::Elements { map, key, value, entries } => all(map.as_fd(), *key, *value, *entries),
        };
        Ok(read.map_err(MapError::IoError)?)
    }
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
