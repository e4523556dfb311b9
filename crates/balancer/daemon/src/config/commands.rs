//! Commands that an operator runs on backends whose connections are joined at an address of their
//! own (`mptcp = "c-flag"`; RFC 8684, section 3.1: "C ... MUST NOT try to open any additional
//! subflows toward this address and port"; mptcp.dev, "Layer-4 load balancing").

use std::net::IpAddr;

use super::resolved::{Backend, Service};

/// The shell commands for one backend of a service, to be run as root; empty unless it has a join
/// address. The service listens on all addresses there (0.0.0.0 or ::), because joins come in at
/// the join address.
pub fn commands(service: &Service, backend: &Backend) -> Vec<String> {
    let Some(join) = backend.join_address else { return Vec::new() };
    vec![
        "sysctl -w net.mptcp.enabled=1".into(),
        "sysctl -w net.mptcp.allow_join_initial_addr_port=0".into(),
        on_loopback(service.address),
        on_loopback(join),
        "ip mptcp limits set subflows 8".into(),
        format!("ip mptcp endpoint add {join} dev lo signal"),
    ]
}

fn on_loopback(address: IpAddr) -> String {
    let bits = if address.is_ipv6() { 128 } else { 32 };
    format!("ip address replace {address}/{bits} dev lo")
}
