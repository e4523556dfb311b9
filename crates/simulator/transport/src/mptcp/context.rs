//! What every step of an end is given.

use heddle_units::Time;

use super::MptcpConfig;
use super::secrets::Secrets;
use crate::TcpConfig;

/// The parameters, the secrets and the time.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) config: &'a MptcpConfig,
    /// What each subflow runs with.
    pub(super) subflow: &'a TcpConfig,
    pub(super) secrets: &'a Secrets,
    pub(super) now: Time,
}
