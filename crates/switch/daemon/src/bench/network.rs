//! Veth pairs around a switch, in a network namespace of the thread's own: a generator's at the
//! host's port, and sinks at the uplinks.

use std::io::Write as _;
use std::process::{Command, Stdio};

use heddle_bpf_loader::{
    Error, Forwarding, Mode, Program, discard, interface_index, own_network, pass, received,
};
use heddle_switch_maps::{Hook, Switch};

use crate::rig::{PORTS, UPLINKS};

/// The network.
pub(super) struct Network {
    /// The interface out of which frames go to the host's port.
    pub(super) generator: u32,
    /// The switch's interfaces (`port0` to `port8`), the host's first.
    pub(super) ports: [u32; PORTS],
    _sink: Program,
}

impl Network {
    pub(super) fn new() -> Result<Network, Error> {
        own_network()?;
        without_ipv6();
        let mut lines = vec!["link add generator type veth peer name port0".to_owned()];
        lines.push("link set lo up".into());
        lines.push("link set generator up".into());
        // The address of all frames: the kernel routes what is for it.
        lines.push("link set port0 address 02:00:00:00:00:01 up".into());
        for port in 1..=UPLINKS {
            lines.push(format!("link add port{port} type veth peer name sink{port}"));
            lines.push(format!("link set port{port} up"));
            lines.push(format!("link set sink{port} address 02:00:00:00:01:0{port} up"));
            lines.push(format!(
                "neighbour add {} lladdr 02:00:00:00:01:0{port} dev port{port} nud permanent",
                gateway(port)
            ));
        }
        ip(&lines)?;
        for (key, value) in [
            ("ip_forward", "1"),
            ("fib_multipath_hash_policy", "1"),
            ("conf/all/rp_filter", "0"),
            ("conf/port0/rp_filter", "0"),
        ] {
            let path = format!("/proc/sys/net/ipv4/{key}");
            std::fs::write(&path, value).map_err(|error| failed(&path, &error))?;
        }
        let mut sink = discard()?;
        for port in 1..=UPLINKS {
            sink.attach(interface_index(&format!("sink{port}"))?, Mode::Native)?;
        }
        let mut ports = [0; PORTS];
        for (port, index) in ports.iter_mut().enumerate() {
            *index = interface_index(&format!("port{port}"))?;
        }
        Ok(Network { generator: interface_index("generator")?, ports, _sink: sink })
    }

    /// Attaches a switch to its ports.
    pub(super) fn attach(&self, switch: &mut Switch, hook: Hook) -> Result<(), Error> {
        let used = if hook == Hook::Xdp { 1 } else { PORTS };
        for (port, &index) in self.ports.iter().enumerate().take(used) {
            switch.attach(&format!("port{port}"), index)?;
        }
        Ok(())
    }

    /// The program that lets frames of an XDP generator pass to what is behind XDP, at the host's
    /// port.
    pub(super) fn behind_xdp(&self) -> Result<Program, Error> {
        let mut pass = pass()?;
        pass.attach(self.ports[0], Mode::Native)?;
        Ok(pass)
    }

    /// Sends all from the host's port to the first uplink.
    pub(super) fn bare(&self, hook: Hook) -> Result<Forwarding, Error> {
        match hook {
            Hook::Xdp => Forwarding::xdp(self.ports[0], self.ports[1]),
            Hook::Tc | Hook::XdpGeneric => Forwarding::tc("port0", self.ports[1]),
        }
    }

    /// Routes all to the first ports.
    pub(super) fn route_over(&self, ports: u16) -> Result<(), Error> {
        let hop = |port| format!("nexthop via {} dev port{port} onlink", gateway(port));
        let hops: Vec<String> = (1..=ports).map(hop).collect();
        ip(&[format!("route replace 10.0.1.0/24 {}", hops.join(" "))])
    }

    /// Packets that have reached the sinks.
    pub(super) fn arrived(&self) -> Result<u64, Error> {
        (1..=UPLINKS).map(|port| received(&format!("sink{port}"))).sum()
    }
}

/// No neighbour discovery among what is counted. A kernel without IPv6 has none.
fn without_ipv6() {
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

fn gateway(port: u16) -> String {
    format!("169.254.1.{port}")
}

/// Runs lines of `ip` in this thread's network namespace.
fn ip(lines: &[String]) -> Result<(), Error> {
    let mut child = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed("ip (of iproute2)", &error))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(lines.join("\n").as_bytes()).map_err(|error| failed("ip", &error))?;
    }
    let output = child.wait_with_output().map_err(|error| failed("ip", &error))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Bench(format!("ip: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    Error::Bench(format!("{what}: {error}"))
}
