//! Kinds of network devices, each of which takes a driver in the kernel.

use std::process::Command;

/// A kind of network devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// VLAN interfaces.
    Vlan,
    /// Bonds.
    Bond,
    /// VRFs.
    Vrf,
}

impl Driver {
    /// The reason to skip a test of such devices ([`crate::skip_because`]), as root; none if the
    /// kernel has them.
    ///
    /// # Panics
    /// Without unshare(1) of util-linux.
    #[must_use]
    pub fn missing(self) -> Option<String> {
        let (name, device) = match self {
            Driver::Vlan => ("802.1Q VLANs", "link lo name a type vlan id 1"),
            Driver::Bond => ("bonds", "name a type bond"),
            Driver::Vrf => ("VRFs", "name a type vrf table 1"),
        };
        let mut add = Command::new("unshare");
        add.args(["--net", "ip", "link", "add"]).args(device.split_whitespace());
        let output = add.output().unwrap_or_else(|error| panic!("unshare: {error}"));
        let is_unknown = String::from_utf8_lossy(&output.stderr).contains("Unknown device type");
        is_unknown.then(|| format!("this kernel has no {name}"))
    }
}
