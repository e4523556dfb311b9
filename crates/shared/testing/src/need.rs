//! Requirements that a test run can do without.

use crate::program;

/// A requirement whose tests can be skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Root's capabilities: network namespaces, eBPF.
    Root,
    /// The etcd server and its client.
    Etcd,
}

impl Need {
    /// Environment variable that skips the tests with this requirement where it is `1`.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Need::Root => "HEDDLE_WITHOUT_ROOT",
            Need::Etcd => "HEDDLE_WITHOUT_ETCD",
        }
    }

    /// Checks that the requirement is met.
    pub(crate) fn check(self) -> Result<(), String> {
        match self {
            Need::Root => check_privileges(),
            Need::Etcd => ["etcd", "etcdctl"]
                .into_iter()
                .zip(["etcd-server", "etcd-client"])
                .try_for_each(|(name, package)| program::check(name, package)),
        }
    }
}

/// Namespaces, eBPF programs and XDP take these capabilities.
#[cfg(target_os = "linux")]
fn check_privileges() -> Result<(), String> {
    use rustix::thread::{CapabilitySet, capabilities};
    let needed = CapabilitySet::SYS_ADMIN
        | CapabilitySet::NET_ADMIN
        | CapabilitySet::BPF
        | CapabilitySet::PERFMON;
    let held = capabilities(None).map_err(|error| format!("capabilities: {error}"))?.effective;
    let missing = (needed - held).iter_names().next();
    missing.map_or(Ok(()), |(name, _)| Err(format!("no CAP_{name}: run the test as root")))
}

#[cfg(not(target_os = "linux"))]
fn check_privileges() -> Result<(), String> {
    Err("Linux is needed".into())
}
