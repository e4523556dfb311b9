//! Discrete event engine.

mod event;
mod prefetch;
mod wheel;

pub(crate) use event::Event;
pub(crate) use prefetch::{prefetch, prefetch_whole};
pub(crate) use wheel::{Scheduled, Wheel};
