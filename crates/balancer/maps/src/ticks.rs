//! The balancer's time.

use crate::{Error, Program, object};

/// The time of balancers with [`crate::Clock::Kernel`], as they read it themselves. Needs no
/// capability once it is loaded.
#[derive(Debug)]
pub struct Ticks {
    program: Program,
}

impl Ticks {
    /// The clock, loaded.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take its program.
    pub fn load() -> Result<Self, Error> {
        Ok(Self { program: Program::load(object::tick()?, "heddle_tick")? })
    }

    /// The time now in ticks, which wrap. Neither 0 nor [`crate::abi::SEEN_BUSY`].
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses to run the program.
    pub fn now(&self) -> Result<u32, Error> {
        self.program.returned()
    }
}
