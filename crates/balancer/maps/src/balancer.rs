//! The balancer's program with its maps.

use std::path::Path;

use aya::maps::{Map, MapData};
use heddle_bpf_loader::{Pins, remove_pins};

use crate::explain::Explainer;
use crate::maps::{Fragments, Maps, PeerStates, PinnedMaps, ReadyKeys, Replaced, Waiting};
use crate::object::{self, Effect};
use crate::{Attached, Clock, Error, Mode, Program, Sizes, Ticks};

/// The folder in that of a balancer's pins in which maps are pinned until all of them are there.
const NEW: &str = "new";

/// A balancer. Dropped, it is gone from the kernel, but for what is pinned.
pub struct Balancer {
    /// The XDP program.
    pub program: Program,
    /// Its maps.
    pub maps: Maps,
    sizes: Sizes,
    clock: Clock,
    /// None: the time is in the settings.
    ticks: Option<Ticks>,
    pins: Pins,
    replaced: Option<Replaced>,
}

impl Balancer {
    /// A balancer with maps of its own, that nothing else sees. A process may have many.
    ///
    /// # Errors
    /// [`Error::Pins`] without CAP_SYS_ADMIN, [`Error`] if the kernel does not take program or
    /// maps.
    pub fn load(sizes: &Sizes, clock: Clock) -> Result<Self, Error> {
        Self::load_from(Pins::private()?, sizes, clock)
    }

    /// A balancer whose maps are pinned in `directory`, where those of the balancer before it may
    /// be: then it goes on with their flows. If they are not of these sizes or of another version
    /// of the program, all maps are made afresh in their place ([`Balancer::replaced`]); the
    /// program before goes on with its own until [`Balancer::attach`]. `directory` is on a BPF file
    /// system, and is made if need be.
    ///
    /// # Errors
    /// [`Error::Misfit`] if a map there is another program's, [`Error::Pins`] if there is no BPF
    /// file system, [`Error`] if the kernel does not take program or maps: those found stay then.
    pub fn load_pinned(directory: &Path, sizes: &Sizes) -> Result<Self, Error> {
        let pins = Pins::lasting(directory)?;
        // Of a start that was killed.
        remove_pins(&directory.join(NEW))?;
        match PinnedMaps::new(sizes).misfits(directory)? {
            None => Self::load_from(pins, sizes, Clock::Kernel),
            Some(replaced) => {
                let afresh = Self::load_afresh(directory, sizes, &replaced)?;
                Ok(Self { pins, replaced: Some(replaced), ..afresh })
            }
        }
    }

    /// A balancer with maps of its own, whose pins take the place of those in `directory` as soon as
    /// the kernel has taken all of it.
    fn load_afresh(directory: &Path, sizes: &Sizes, replaced: &Replaced) -> Result<Self, Error> {
        let new = directory.join(NEW);
        let loaded = Self::load_from(Pins::lasting(&new)?, sizes, Clock::Kernel);
        let moved = loaded.and_then(|balancer| {
            PinnedMaps::new(sizes).move_pins(&new, directory, replaced)?;
            Ok(balancer)
        });
        let removed = remove_pins(&new);
        moved.and_then(|balancer| removed.map(|()| balancer))
    }

    /// The maps found that this balancer has not taken over; none: all were, or there were none.
    pub fn replaced(&self) -> Option<&Replaced> {
        self.replaced.as_ref()
    }

    fn load_from(pins: Pins, sizes: &Sizes, clock: Clock) -> Result<Self, Error> {
        let mut object = object::balancer(sizes, clock, Effect::Acts, &pins)?;
        let maps = Maps::take(&mut object)?;
        let program = Program::load(object, object::BALANCER_PROGRAM)?;
        Ok(Self {
            program,
            maps,
            sizes: *sizes,
            clock,
            ticks: (clock == Clock::Kernel).then(Ticks::load).transpose()?,
            pins,
            replaced: None,
        })
    }

    /// The balancer's time in ticks, which wrap.
    ///
    /// # Errors
    /// [`Error`] if the kernel would not.
    pub fn now(&self) -> Result<u32, Error> {
        match &self.ticks {
            Some(ticks) => ticks.now(),
            None => Ok(self.maps.settings.get()?.now),
        }
    }

    /// The explainer of the balancer's decisions: the same program on the same maps, without side
    /// effects.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take the program.
    pub fn explainer(&self) -> Result<Explainer, Error> {
        let object = object::balancer(&self.sizes, self.clock, Effect::Explains, &self.pins)?;
        Explainer::new(object)
    }

    /// Attaches the program to an interface ([`crate::interface_index`]). If the balancer is
    /// pinned, so is the link: it outlives the process, and the next balancer's program takes this
    /// one's place between two packets, unless it is of another mode ([`Program::attach_by`]).
    ///
    /// # Errors
    /// [`Error::Program`] if the interface has another program or knows no native mode,
    /// [`Error::Link`] if the link cannot be pinned.
    pub fn attach(&mut self, interface: u32, mode: Mode) -> Result<Attached, Error> {
        self.program.attach_by(&self.pins, interface, mode)
    }

    /// The queues of keys made ahead once more, for threads of their own: those of MPTCP version 0
    /// and of version 1.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn ready_keys(&self) -> Result<[ReadyKeys; 2], Error> {
        let queue = |name| ReadyKeys::new(Map::Queue(MapData::from_pin(self.pins.path(name))?));
        Ok([queue("ready_keys")?, queue("ready_keys_v1")?])
    }

    /// The later fragments that wait for their first one, for a thread of its own: no other reads
    /// them.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn waiting(&self) -> Result<Waiting, Error> {
        Waiting::new(Map::RingBuf(MapData::from_pin(self.pins.path("waiting"))?))
    }

    /// The targets of fragments once more, for a thread of its own.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn fragments(&self) -> Result<Fragments, Error> {
        Fragments::new(Map::Array(MapData::from_pin(self.pins.path("fragments"))?))
    }

    /// The state of the other balancers once more, for a thread of its own.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn peer_states(&self) -> Result<PeerStates, Error> {
        PeerStates::new(Map::Array(MapData::from_pin(self.pins.path("peer_states"))?))
    }

    /// The sizes that it was loaded with.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }
}
