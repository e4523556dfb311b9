//! Network interfaces as `ip -details -json link` describes them. In the network namespace of the
//! caller, which /sys need not be.

use std::process::Command;

use serde::Deserialize;
use serde_json::{Map, Value};

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) index: u32,
    pub(crate) up: bool,
    /// Bytes of IP.
    pub(crate) mtu: u64,
    /// `veth`, `vlan`, `bond`, `bridge`, ...; empty: a device with a driver.
    pub(crate) kind: String,
    /// The mode of a bond.
    pub(crate) bond_mode: Option<String>,
    /// The bond or bridge that it is a port of.
    pub(crate) master: Option<String>,
    /// The kind of that: `bond`, `bridge`.
    pub(crate) master_kind: Option<String>,
    /// The interface below a VLAN; the other end of a veth device in the same namespace.
    pub(crate) lower: Option<String>,
    /// The protocol of a VLAN's tags: `802.1Q`, `802.1ad`.
    pub(crate) vlan_protocol: Option<String>,
    /// The XDP program on it.
    pub(crate) program: Option<Program>,
}

/// All interfaces.
///
/// # Errors
/// A sentence, if `ip` is missing or fails.
pub(crate) fn all() -> Result<Vec<Link>, String> {
    let output = Command::new("ip")
        .args(["-details", "-json", "link", "show"])
        .output()
        .map_err(|error| format!("ip cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("ip failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    parse(&output.stdout).map_err(|error| format!("ip's answer is not understood: {error}"))
}

/// An interface as `ip -json link` describes it. Optional fields are those that some kinds of interface lack.
#[derive(Deserialize)]
struct Described {
    ifname: String,
    ifindex: u32,
    flags: Vec<String>,
    mtu: u64,
    master: Option<String>,
    link: Option<String>,
    #[serde(default)]
    linkinfo: Info,
    xdp: Option<Xdp>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info {
    info_kind: String,
    info_slave_kind: Option<String>,
    info_data: Data,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    mode: Option<Value>,
    protocol: Option<Value>,
}

#[derive(Deserialize)]
struct Xdp {
    prog: Option<Program>,
}

/// An eBPF program in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Program {
    pub(crate) id: u32,
    /// The first 15 characters of its name; empty: it has none.
    #[serde(default)]
    pub(crate) name: String,
}

/// Reads `ip`'s answer, in which an interface that it left out is an empty object.
pub(crate) fn parse(json: &[u8]) -> Result<Vec<Link>, serde_json::Error> {
    let links: Vec<Map<String, Value>> = serde_json::from_slice(json)?;
    let described = links.into_iter().filter(|link| !link.is_empty());
    described.map(|link| serde_json::from_value(link.into()).map(Described::link)).collect()
}

impl Described {
    fn link(self) -> Link {
        // Of other kinds these keys mean other things, numbers too.
        let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
        let Info { info_kind, info_slave_kind, info_data } = self.linkinfo;
        Link {
            name: self.ifname,
            index: self.ifindex,
            up: self.flags.iter().any(|flag| flag == "UP"),
            mtu: self.mtu,
            bond_mode: text(info_data.mode),
            master: self.master,
            master_kind: info_slave_kind,
            lower: self.link,
            vlan_protocol: text(info_data.protocol).filter(|_| info_kind == "vlan"),
            kind: info_kind,
            program: self.xdp.and_then(|xdp| xdp.prog),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As iproute2 6.1 writes it.
    const JSON: &str = r#"[{},{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":1500,
        "xdp":{"mode":1,"prog":{"id":42,"name":"other"},"attached":[]}},
        {"ifindex":5,"link":"eth0","ifname":"eth0.7","flags":["BROADCAST","M-DOWN"],"mtu":1500,
         "linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":7}}},
        {"ifindex":6,"ifname":"bond0","flags":["UP"],"mtu":9000,"linkinfo":{"info_kind":"bond","info_data":{"mode":"802.3ad"}}},
        {"ifindex":7,"ifname":"eth1","flags":["UP"],"mtu":9000,"master":"bond0","linkinfo":{"info_slave_kind":"bond"}}]"#;

    #[test]
    fn devices_vlans_bonds_and_their_ports() {
        let links = parse(JSON.as_bytes()).unwrap();
        let [eth0, vlan, bond, port] = links.try_into().unwrap();
        let program = Some(Program { id: 42, name: "other".into() });
        assert_eq!((eth0.up, eth0.mtu, eth0.program), (true, 1500, program));
        assert_eq!((vlan.up, &*vlan.kind, vlan.lower.as_deref()), (false, "vlan", Some("eth0")));
        assert_eq!((vlan.vlan_protocol.as_deref(), port.vlan_protocol), (Some("802.1Q"), None));
        assert_eq!((bond.mtu, bond.bond_mode.as_deref()), (9000, Some("802.3ad")));
        assert_eq!(
            (port.master.as_deref(), port.master_kind.as_deref()),
            (Some("bond0"), Some("bond"))
        );
    }
    #[test]
    fn an_answer_without_a_field_is_an_error_that_names_it() {
        for field in ["ifindex", "ifname", "flags", "mtu"] {
            let without = JSON.replace(&format!("\"{field}\":"), "\"other\":");
            let error = parse(without.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("missing field `{field}`")), "{error}");
        }
    }
}
