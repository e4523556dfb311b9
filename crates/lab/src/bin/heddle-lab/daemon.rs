//! heddled on each balancer, and the flows that its program knows.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;

use heddle_lab::{Daemons, LabError, Setup};
use heddle_program::{Failure, external};

const HELP: &str = "build it: ./x build, or cargo build --release --package heddled";

/// The most flows of a balancer that are read: many times those of a demonstration.
const FLOWS: usize = 1000;

/// Balancers in mode `learn`, with the heddled that is installed beside this program or on the
/// PATH.
///
/// # Errors
/// If heddled is not installed.
pub(crate) fn setup(port: u16) -> Result<Setup, Failure> {
    let program = external::find("heddled");
    let missing = || Failure::missing_program("the program heddled is not installed", HELP);
    Ok(Setup {
        program: program.ok_or_else(missing)?,
        mptcp: "learn",
        forwarding: "l2",
        port,
        etcd: None,
        extra_config: String::new(),
    })
}

/// A flow, as the balancer has it that its packets come to.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// The balancer.
    pub(crate) balancer: usize,
    /// The backend to which it sends the flow.
    pub(crate) backend: String,
    /// The last packet that the balancer has noted: it notes one a second.
    pub(crate) seen: Instant,
}

/// The flows in the tables of the balancers that run, by the client's address and port. Of several
/// balancers that know a flow its packets come to the one that saw the last: the others remember it
/// for them.
///
/// # Errors
/// If one does not answer.
pub(crate) fn flows(
    daemons: &Daemons<'_>,
    balancers: usize,
) -> Result<BTreeMap<SocketAddr, Flow>, LabError> {
    let mut found: BTreeMap<SocketAddr, Flow> = BTreeMap::new();
    for balancer in (0..balancers).filter(|balancer| daemons.process(*balancer).is_some()) {
        let asked = Instant::now();
        for flow in daemons.connections(balancer, FLOWS)?.flows {
            let seen = asked.checked_sub(flow.idle).unwrap_or(asked);
            if found.get(&flow.client).is_none_or(|known| known.seen < seen) {
                found.insert(flow.client, Flow { balancer, backend: flow.backend, seen });
            }
        }
    }
    Ok(found)
}
