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

/// The sides of a flow that are in this partition of a run; both if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) client: bool,
    pub(crate) server: bool,
}

impl Sides {
    /// Those of a run that is not divided.
    pub(crate) const BOTH: Sides = Sides { client: true, server: true };
}
