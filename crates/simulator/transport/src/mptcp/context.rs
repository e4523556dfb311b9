//! Arguments common to every step of a client or server.

use heddle_units::Time;

use super::MptcpConfig;
use super::secrets::Secrets;
use crate::TcpConfig;

/// Parameters, secrets and the current time.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) config: &'a MptcpConfig,
    /// TCP parameters of each subflow.
    pub(super) subflow: &'a TcpConfig,
    pub(super) secrets: &'a Secrets,
    pub(super) now: Time,
}
