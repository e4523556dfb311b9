//! The balancer's programs: heddled on each balancer, and heddle-lb, which reads its flow table.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use heddle_lab::{Daemons, Setup};
use heddle_program::{Failure, external};
use serde_json::Value;

const HELP: &str =
    "build it: ./x build, or cargo build --release --package heddled --package heddle-lb";

/// Balancers in mode `learn`, with the heddled that is installed beside this program or on the PATH.
///
/// # Errors
/// If heddled or heddle-lb is not installed.
pub(crate) fn setup(port: u16) -> Result<Setup, Failure> {
    installed("heddle-lb")?;
    Ok(Setup {
        program: installed("heddled")?,
        mptcp: "learn",
        forwarding: "l2",
        port,
        etcd: None,
        extra_config: String::new(),
    })
}

fn installed(program: &str) -> Result<PathBuf, Failure> {
    match external::output(program, ["--version"]) {
        Some(_) => Ok(external::locate(program)),
        None => {
            Err(Failure::missing_program(format!("the program {program} is not installed"), HELP))
        }
    }
}

/// A flow, as the balancer has it that its packets come to.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// The balancer.
    pub(crate) balancer: usize,
    /// The backend to which it sends the flow.
    pub(crate) backend: String,
    idle: Duration,
}

/// The flows in the tables of these balancers, by the client's address and port. Of several balancers that know a flow its packets
/// come to the one that saw the last: the others remember it for them.
pub(crate) fn flows(daemons: &Daemons<'_>, balancers: usize) -> BTreeMap<SocketAddr, Flow> {
    let mut found: BTreeMap<SocketAddr, Flow> = BTreeMap::new();
    for balancer in 0..balancers {
        for (client, flow) in flows_of(balancer, &daemons.socket(balancer)).unwrap_or_default() {
            let known = found.get(&client);
            if known.is_none_or(|known| flow.idle < known.idle) {
                found.insert(client, flow);
            }
        }
    }
    found
}

fn flows_of(balancer: usize, socket: &Path) -> Option<Vec<(SocketAddr, Flow)>> {
    let mut command = Command::new(external::locate("heddle-lb"));
    command.args(["connections", "--json", "--limit", "1000", "--socket"]).arg(socket);
    let output = command.output().ok()?;
    let connections: Value = serde_json::from_slice(&output.stdout).ok()?;
    let flow = |flow: &Value| {
        let client = flow["client"].as_str()?.parse().ok()?;
        let idle = serde_json::from_value(flow["idle"].clone()).ok()?;
        let backend = flow["backend"].as_str()?.to_owned();
        Some((client, Flow { balancer, backend, idle }))
    };
    Some(connections["flows"].as_array()?.iter().filter_map(flow).collect())
}
