//! The sub-commands, one file each.

pub(crate) mod backend;
pub(crate) mod backends;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod connections;
pub(crate) mod counters;
pub(crate) mod decap;
pub(crate) mod drain;
pub(crate) mod explain;
mod notes;
pub(crate) mod pass;
pub(crate) mod services;
pub(crate) mod status;
pub(crate) mod top;
pub(crate) mod translate;
pub(crate) mod weight;
