//! Discrete event engine.

mod event;
mod prefetch;
mod wheel;

pub(crate) use event::Event;
pub(crate) use prefetch::prefetch;
pub(crate) use wheel::Wheel;
