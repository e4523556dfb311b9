//! The backends' programs that put the assigned keys in place of the kernel's (`mptcp = "assign"`).

use std::path::{Path, PathBuf};
use std::{fs, io};

use aya::Ebpf;
use aya::maps::{Map, MapData};
use aya::programs::SchedClassifier;
use heddle_bpf_loader::maps::{Counts, Hash, Shape, absent_as_none};
use heddle_bpf_loader::{Pins, TcDirection, attach_tc, has_links, link_pin, remove_pins, run_tc};

use crate::abi::{Count, Opening, Subflow, SubflowKey, TranslateCounter, Translation};
use crate::{Attached, Error, Run, interface_index, object};

/// The names of the programs in the object, and of their links' pins.
const DIRECTIONS: [(TcDirection, &str, &str); 2] = [
    (TcDirection::Egress, "translate_out", "egress"),
    (TcDirection::Ingress, "translate_in", "ingress"),
];

/// The name of the counters' map.
const COUNTS: &str = "translate_counts";

/// The link-layer header of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// An Ethernet header.
    Ethernet,
    /// Nothing: a tunnel device (`ipip`, `sit`, `ip6tnl`).
    Bare,
}

/// Entries of the tables. The kernel removes the entry that was unused for the longest when one is
/// full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Connections, by their tokens.
    pub connections: u32,
    /// Subflows, those of joins included.
    pub subflows: u32,
    /// Handshakes under way.
    pub openings: u32,
}

impl Default for Room {
    /// For 32,768 connections of two subflows: about 20 MB.
    fn default() -> Self {
        Self { connections: 32_768, subflows: 65_536, openings: 16_384 }
    }
}

impl Room {
    fn shapes(&self) -> [Shape; 5] {
        [
            Shape::of::<SubflowKey, Opening>("openings", self.openings),
            Shape::of::<SubflowKey, Subflow>("subflows", self.subflows),
            Shape::of::<u32, Translation>("connections", self.connections),
            Shape::of::<u32, u32>("client_tokens", self.connections),
            Shape::of::<u32, Count>(COUNTS, TranslateCounter::ALL.len() as u32),
        ]
    }
}

/// Those programs (bpf/balancer/translate.bpf.c), loaded, with their maps.
pub struct Translate {
    object: Ebpf,
    directory: Option<PathBuf>,
    /// The programs' tables.
    pub tables: TranslateTables,
}

impl Translate {
    /// The programs with maps of their own, which end with them.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take them.
    pub fn load(link: Link, room: &Room) -> Result<Self, Error> {
        Self::load_from(&Pins::private()?, None, link, room)
    }

    /// The programs with the maps that are pinned in `directory`, or new ones: so that a program
    /// goes on with the connections of the one before it.
    ///
    /// # Errors
    /// [`Error::Pins`] if `directory` is on no BPF file system, [`Error::Misfit`] if the maps found
    /// there have other sizes or are of another version, [`Error`] if the kernel does not take the
    /// programs.
    pub fn load_pinned(directory: &Path, link: Link, room: &Room) -> Result<Self, Error> {
        let pins = Pins::lasting(directory)?;
        room.shapes().iter().try_for_each(|shape| shape.check(&directory.join(shape.name)))?;
        Self::load_from(&pins, Some(directory), link, room)
    }

    fn load_from(
        pins: &Pins,
        directory: Option<&Path>,
        link: Link,
        room: &Room,
    ) -> Result<Self, Error> {
        let bytes = if link == Link::Ethernet { 14 } else { 0 };
        let mut object = object::translate(bytes, &room.shapes(), pins)?;
        let tables =
            TranslateTables::take(|name| object.take_map(name).ok_or(Error::Missing(name)))?;
        for (_, name, _) in DIRECTIONS {
            let program = object.program_mut(name).ok_or(Error::Missing(name))?;
            <&mut SchedClassifier>::try_from(program)?.load()?;
        }
        let directory = directory.map(Path::to_owned);
        Ok(Self { object, directory, tables })
    }

    /// Attaches both programs to an interface of this thread's network namespace: by pinned links
    /// if the maps are pinned, else until this is dropped. Programs that are pinned there give
    /// their places to these.
    ///
    /// # Errors
    /// [`Error::Interface`] if there is none of this name, [`Error::Program`] if the kernel
    /// refuses, [`Error::Link`] if a link cannot be pinned.
    pub fn attach(&mut self, interface: &str) -> Result<Attached, Error> {
        let index = interface_index(interface)?;
        let mut attached = Attached::Afresh;
        for (direction, name, side) in DIRECTIONS {
            let pin = self.directory.as_ref().map(|directory| link_pin(directory, side, index));
            let pin = pin.transpose()?;
            attached = attach_tc(&mut self.object, name, interface, direction, pin.as_deref())?;
        }
        Ok(attached)
    }

    /// Runs a program on a frame `repeat` times, as if an interface had received it or were to send
    /// it.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses the frame.
    pub fn run(&self, direction: TcDirection, frame: &[u8], repeat: u32) -> Result<Run, Error> {
        let program_of = |(side, name, _): &(TcDirection, &'static str, _)| {
            (*side == direction).then_some(*name)
        };
        let name =
            DIRECTIONS.iter().find_map(program_of).ok_or(Error::Missing("program of this side"))?;
        run_tc(&self.object, name, frame, repeat)
    }
}

/// The tables of those programs.
pub struct TranslateTables {
    /// Handshakes under way.
    pub openings: Hash<SubflowKey, Opening>,
    /// Subflows of translated connections.
    pub subflows: Hash<SubflowKey, Subflow>,
    /// Translated connections, by the tokens of their assigned keys.
    pub connections: Hash<u32, Translation>,
    counts: Counts,
}

impl TranslateTables {
    /// Those that are pinned in `directory`.
    ///
    /// # Errors
    /// [`Error::Pins`] if there are none, [`Error::Map`] if the kernel would not.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let missing = |path: PathBuf| Error::Pins { path, error: io::ErrorKind::NotFound.into() };
        Self::take(|name| {
            let path = directory.join(name);
            let data = absent_as_none(MapData::from_pin(&path))?.ok_or_else(|| missing(path))?;
            Ok(match name {
                COUNTS => Map::PerCpuArray(data),
                _ => Map::LruHashMap(data),
            })
        })
    }

    fn take(mut map: impl FnMut(&'static str) -> Result<Map, Error>) -> Result<Self, Error> {
        Ok(Self {
            openings: Hash::new(map("openings")?)?,
            subflows: Hash::new(map("subflows")?)?,
            connections: Hash::new(map("connections")?)?,
            counts: Counts::new(map(COUNTS)?)?,
        })
    }

    /// The number of events of this kind, and the bytes of their packets.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn count(&self, event: TranslateCounter) -> Result<Count, Error> {
        self.counts.sum(event as u32)
    }

    /// The entries of each table, those of ended connections among them.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn entries(&self) -> Result<Room, Error> {
        let number = |entries: usize| u32::try_from(entries).unwrap_or(u32::MAX);
        Ok(Room {
            connections: number(self.connections.entries()?.len()),
            subflows: number(self.subflows.entries()?.len()),
            openings: number(self.openings.entries()?.len()),
        })
    }
}

/// Takes the programs off an interface by removing the links that are pinned in `directory`. With
/// the last interface their maps go, too: what they knew of connections.
///
/// # Errors
/// [`Error::Pins`] if no program is attached there, or a pin cannot be removed.
pub fn detach_translate(directory: &Path, interface: u32) -> Result<(), Error> {
    for (_, _, side) in DIRECTIONS {
        let path = link_pin(directory, side, interface)?;
        fs::remove_file(&path).map_err(|error| Error::Pins { path, error })?;
    }
    if has_links(directory)? { Ok(()) } else { remove_pins(directory) }
}
