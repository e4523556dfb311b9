//! The settings of a network namespace without which the agent can do nothing.

use std::fs;
use std::path::Path;

/// A setting that is missing.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unmet {
    /// The kernel was built without MPTCP, or is older than 5.19.
    #[error("this kernel has no MPTCP path manager for programs")]
    NoMptcp,
    /// MPTCP is switched off.
    #[error("net.mptcp.enabled is 0: connections are plain TCP")]
    Disabled,
    /// The kernel's own path manager is in charge.
    #[error("net.mptcp.pm_type is {0}: the kernel's own path manager opens subflows")]
    KernelManager(String),
}

impl Unmet {
    /// The remedy.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Unmet::NoMptcp => "it needs Linux 5.19 or later with CONFIG_MPTCP",
            Unmet::Disabled => "sysctl -w net.mptcp.enabled=1",
            Unmet::KernelManager(_) => {
                "sysctl -w net.mptcp.pm_type=1, which counts for connections opened from then on"
            }
        }
    }
}

/// Checks the network namespace of this process.
///
/// # Errors
/// The first setting that is missing.
pub fn check() -> Result<(), Unmet> {
    check_in(Path::new("/proc/sys/net/mptcp"))
}

fn check_in(folder: &Path) -> Result<(), Unmet> {
    let read =
        |name: &str| fs::read_to_string(folder.join(name)).map(|text| text.trim().to_owned());
    let kind = read("pm_type").map_err(|_| Unmet::NoMptcp)?;
    if read("enabled").is_ok_and(|enabled| enabled == "0") {
        return Err(Unmet::Disabled);
    }
    match kind.as_str() {
        "1" => Ok(()),
        _ => Err(Unmet::KernelManager(kind)),
    }
}

/// The TTL of packets that this host sends, which the kernel does not let a path manager choose.
#[must_use]
pub(crate) fn default_ttl() -> u32 {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_default_ttl");
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_setting_has_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(check_in(folder.path()), Err(Unmet::NoMptcp));
        write("pm_type", "0\n");
        assert_eq!(check_in(folder.path()), Err(Unmet::KernelManager("0".into())));
        write("pm_type", "1\n");
        write("enabled", "0\n");
        assert_eq!(check_in(folder.path()), Err(Unmet::Disabled));
        write("enabled", "1\n");
        assert_eq!(check_in(folder.path()), Ok(()));
    }
}
