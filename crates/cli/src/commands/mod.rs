//! One file a command.

pub(crate) mod bench;
#[cfg(feature = "captures")]
pub(crate) mod capture;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod fabric;
pub(crate) mod import;
pub(crate) mod on;
pub(crate) mod path;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod store;
pub(crate) mod study;
pub(crate) mod sweep;
