//! The document of one switch, which `heddle-p4-switch` reads.
//!
//! `p4/control/heddle_p4/switch.schema.json` is the JSON Schema of these types: the control plane
//! checks a document by it.

use heddle_policy::cflb::CflbConfig;
use heddle_policy::{HulaConfig, MpHulaConfig, ShuttleConfig};
#[cfg(test)]
use schemars::JsonSchema;
use serde::Serialize;

/// A switch with the program of a scheme.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Switch {
    /// Its name.
    pub(super) node: String,
    /// Scheme and parameters.
    #[serde(flatten)]
    pub(super) scheme: Scheme,
    /// Of its hashes; under CFLB its router number.
    pub(super) salt: u32,
    /// Number of ToRs in the fabric.
    pub(super) tors: u32,
    /// Its own number, if it is a ToR.
    pub(super) tor: Option<u32>,
    /// Tau of the utilisation estimators is 2^`tau_shift` ns.
    pub(super) tau_shift: u32,
    /// Its ports.
    pub(super) ports: Vec<Port>,
    /// For each ToR the ports towards it, in order.
    pub(super) next_hops: Vec<Vec<u16>>,
    /// Addresses of hosts.
    pub(super) destinations: Vec<Destination>,
    /// Its own addresses, from which it answers packets whose TTL or hop limit ends: at most one of
    /// each family.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) icmp_source: Vec<String>,
}

/// The schemes that have a P4 program, with their parameters as a switch runs by them.
#[derive(Serialize)]
#[serde(tag = "scheme", content = "config", rename_all = "kebab-case")]
#[cfg_attr(test, derive(JsonSchema))]
pub(super) enum Scheme {
    Ecmp(Ecmp),
    Hula(HulaConfig),
    MpHula(MpHulaConfig),
    Shuttle(ShuttleConfig),
    Cflb(Cflb),
}

/// ECMP has no parameters.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Ecmp {}

/// CFLB's constants.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema), schemars(rename = "CflbWithKey", deny_unknown_fields))]
pub(super) struct Cflb {
    /// All but the key.
    #[serde(flatten)]
    pub(super) constants: CflbConfig,
    /// The key in hex digits.
    #[cfg_attr(test, schemars(regex(pattern = "^([0-9a-fA-F]{2})+$")))]
    pub(super) key: String,
}

/// A port.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Port {
    /// Its number.
    pub(super) number: u16,
    /// Its device.
    pub(super) device: String,
    /// The far end.
    pub(super) role: Role,
    /// Ethernet address of this end.
    #[cfg_attr(test, schemars(with = "tests::Ethernet"))]
    pub(super) own_mac: String,
    /// Ethernet address of the far end.
    #[cfg_attr(test, schemars(with = "tests::Ethernet"))]
    pub(super) peer_mac: String,
    /// Bytes that the link carries in tau.
    pub(super) full: u64,
    /// Its MTU: bytes of IP.
    pub(super) mtu: u16,
    /// Ports to which the probes that arrive by it are replicated.
    pub(super) probe_ports: Vec<u16>,
}

/// The far end of a port, as seen from this switch.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(JsonSchema))]
pub(super) enum Role {
    Host,
    Up,
    Down,
}

/// An address.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Destination {
    /// IPv4 or IPv6.
    pub(super) address: String,
    /// The ToR of its host.
    pub(super) tor: u32,
    /// The port to its host, at this ToR.
    pub(super) port: Option<u16>,
}

#[cfg(test)]
mod tests;
