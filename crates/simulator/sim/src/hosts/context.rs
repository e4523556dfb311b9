//! Arguments common to every step of a host.

use heddle_fabric::{Fabric, Routes};
use heddle_units::Time;

use crate::network::Network;

/// Current time, network and routes.
pub(crate) struct HostContext<'a> {
    pub(crate) now: Time,
    pub(crate) network: &'a mut Network,
    pub(crate) fabric: &'a Fabric,
    pub(crate) routes: &'a Routes,
}
