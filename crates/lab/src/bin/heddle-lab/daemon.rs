//! The balancer's programs: heddled on each balancer, and heddle-lb, which reads its flow table.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use heddle_lab::Setup;
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

/// The backend to which the daemon at a socket sends a client's flow; `None` if it does not know the flow.
pub(crate) fn backend_of(socket: &Path, client: SocketAddr) -> Option<String> {
    let mut command = Command::new(external::locate("heddle-lb"));
    command.args(["connections", "--json", "--limit", "100", "--client", &client.ip().to_string()]);
    let output = command.arg("--socket").arg(socket).output().ok()?;
    let connections: Value = serde_json::from_slice(&output.stdout).ok()?;
    let flows = connections["flows"].as_array()?;
    let flow = flows.iter().find(|flow| flow["client"] == client.to_string())?;
    Some(flow["backend"].as_str()?.to_owned())
}
