//! `heddle-agent` on each host: under CFLB it opens MPTCP's further subflows from the ports that
//! encode their paths.
//!
//! If several hosts send, one path service places the flows of all, as the simulator's scheduler
//! does; where one host sends, its agent places them.

use std::ffi::OsString;

use heddle_scenario::Scenario;

use crate::EmulationError;
use crate::daemons::Daemons;
use crate::management::{self, SERVICE};
use crate::network::Network;
use crate::plane::fabric_file;
use crate::roles::{Roles, agent_subflows};
use crate::state;

/// The path service's port of gRPC.
const PORT: u16 = 7340;

/// Agents, and the path service that they ask. Dropping it ends them.
pub(crate) struct Agents {
    _agents: Daemons,
    _service: Option<Daemons>,
}

/// True if flows of several hosts are to be placed.
pub(crate) fn have_service(scenario: &Scenario) -> bool {
    let one_sender = Roles::of(scenario).senders() == Some(1);
    agent_subflows(scenario).is_some() && !one_sender
}

/// Starts them, where the scenario has them, and waits until they run.
pub(crate) fn start(network: &Network) -> Result<Agents, EmulationError> {
    let service = have_service(&network.scenario).then(|| serve(network)).transpose()?;
    let mut agents = Daemons::new("heddle-agent", "the agent runs");
    let Some(subflows) = agent_subflows(&network.scenario) else {
        return Ok(Agents { _agents: agents, _service: None });
    };
    let folder = state::folder(&network.state.name);
    let paths: Vec<OsString> = match service {
        Some(_) => vec!["--service".into(), format!("{}:{PORT}", management::ADDRESS).into()],
        None => vec![fabric_file(&folder).into()],
    };
    for host in network.hosts() {
        let socket = folder.join(format!("{}.sock", network.fabric.node(host).name));
        let mut arguments: Vec<OsString> = vec!["run".into()];
        arguments.extend(paths.iter().cloned());
        arguments.extend(["--subflows".into(), subflows.to_string().into()]);
        arguments.extend(["--interval".into(), "500ms".into()]);
        arguments.extend(["--admin".into(), socket.into()]);
        agents.spawn(network, host, arguments)?;
    }
    agents.wait_until_running(network)?;
    Ok(Agents { _agents: agents, _service: service })
}

/// Starts a path service in a namespace of its own, which all hosts reach.
fn serve(network: &Network) -> Result<Daemons, EmulationError> {
    management::connect(network)?;
    let mut service = Daemons::new("heddle-path-service", "listening");
    let file = fabric_file(&state::folder(&network.state.name));
    let address = format!("{}:{PORT}", management::ADDRESS);
    let options: [OsString; 4] = ["--grpc".into(), address.into(), "--http".into(), "off".into()];
    let arguments = [OsString::from(file)].into_iter().chain(options);
    service.spawn_in(network, SERVICE, arguments)?;
    service.wait_until_running(network)?;
    Ok(service)
}
