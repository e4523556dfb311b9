//! Requirements that a test run can do without.

use rustix::thread::{CapabilitySet, capabilities};

use crate::program;

/// Capabilities that namespaces, eBPF programs and XDP take.
const PRIVILEGES: [CapabilitySet; 4] = [
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::NET_ADMIN,
    CapabilitySet::BPF,
    CapabilitySet::PERFMON,
];

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

fn check_privileges() -> Result<(), String> {
    let held = capabilities(None).map_err(|error| format!("capabilities: {error}"))?.effective;
    let missing = PRIVILEGES.into_iter().find(|privilege| !held.contains(*privilege));
    missing.map_or(Ok(()), |missing| {
        let names: Vec<&str> = missing.iter_names().map(|(name, _)| name).collect();
        Err(format!("no CAP_{}: run the test as root", names.join(" ")))
    })
}
