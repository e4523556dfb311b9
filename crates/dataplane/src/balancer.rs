//! The balancer's program with its maps.

use std::path::Path;

use crate::object::{self, Effect};
use crate::pins::Pins;
use crate::{Error, Program, Sizes};

/// A balancer: its program, and its maps as types. Dropped, it is gone from the kernel, but for what is pinned or attached.
#[derive(Debug)]
pub struct Balancer {
    /// The XDP program.
    pub program: Program,
    sizes: Sizes,
    clock: Clock,
    pins: Pins,
}

/// What time it is for a balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The kernel's.
    Kernel,
    /// [`crate::abi::Settings::now`]: tests and studies.
    Settings,
}

impl Balancer {
    /// A balancer with maps of its own, that nothing else sees. A process may have many.
    ///
    /// # Errors
    /// [`Error::Pins`] without CAP_SYS_ADMIN, [`Error`] if the kernel does not take program or maps.
    pub fn load(sizes: &Sizes, clock: Clock) -> Result<Self, Error> {
        Self::load_from(Pins::private()?, sizes, clock, Effect::Acts)
    }

    /// A balancer whose maps are pinned in `directory`, where those of the balancer before it may be: then it goes on
    /// with their flows. `directory` is on a BPF file system, and is made if need be.
    ///
    /// # Errors
    /// [`Error::Misfit`] if the maps found there are not of this size or of another version of the program,
    /// [`Error::Pins`] if there is no BPF file system, [`Error`] if the kernel does not take program or maps.
    pub fn load_pinned(directory: &Path, sizes: &Sizes) -> Result<Self, Error> {
        Self::load_from(Pins::lasting(directory)?, sizes, Clock::Kernel, Effect::Acts)
    }

    /// A balancer with the same maps that changes nothing: asked what would become of a frame
    /// ([`Program::run`]), it says so in its trace.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take the program.
    pub fn explainer(&self) -> Result<Self, Error> {
        Self::load_from(self.pins.try_clone()?, &self.sizes, self.clock, Effect::Explains)
    }

    fn load_from(pins: Pins, sizes: &Sizes, clock: Clock, effect: Effect) -> Result<Self, Error> {
        let object = object::balancer(sizes, clock, effect, &pins)?;
        let program = Program::load(object, "heddle_balancer")?;
        Ok(Self { program, sizes: *sizes, clock, pins })
    }
}
