//! `heddle-agent` on each host: under CFLB it opens MPTCP's further subflows from the ports that encode their paths.

use std::ffi::OsString;

use heddle_scenario::{Scenario, Scheme, Transport};

use crate::EmulationError;
use crate::daemons::Daemons;
use crate::network::Network;
use crate::plane::agents_file;
use crate::state;

/// Subflows that agents open for each connection, the first included; `None` if there are none.
pub(crate) fn subflows(scenario: &Scenario) -> Option<u8> {
    match (&scenario.scheme, &scenario.transport) {
        (Scheme::Cflb(_), Transport::Mptcp(mptcp)) if mptcp.subflows > 1 => Some(mptcp.subflows),
        _ => None,
    }
}

/// Starts them, where the scenario has them, and waits until they run.
pub(crate) fn start(network: &Network) -> Result<Daemons, EmulationError> {
    let mut agents = Daemons::new("heddle-agent", "the agent runs");
    let Some(subflows) = subflows(&network.scenario) else { return Ok(agents) };
    let folder = state::folder(&network.state.name);
    for host in network.hosts() {
        let socket = folder.join(format!("{}.sock", network.fabric.node(host).name));
        let arguments: [OsString; 8] = [
            "run".into(),
            agents_file(&folder).into(),
            "--subflows".into(),
            subflows.to_string().into(),
            "--interval".into(),
            "500ms".into(),
            "--admin".into(),
            socket.into(),
        ];
        agents.spawn(network, host, arguments)?;
    }
    agents.wait_until_running(network)?;
    Ok(agents)
}
