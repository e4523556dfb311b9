//! Network interfaces as `ip -details -json link` describes them. In the network namespace of the
//! caller, which /sys need not be.

use std::process::Command;

use serde_json::Value;

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
    /// The id of an XDP program on it.
    pub(crate) program: Option<u64>,
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

pub(crate) fn parse(json: &[u8]) -> Result<Vec<Link>, serde_json::Error> {
    let links: Vec<Value> = serde_json::from_slice(json)?;
    Ok(links.iter().map(link).collect())
}

fn link(value: &Value) -> Link {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let info = &value["linkinfo"];
    let flags = value["flags"].as_array().map(Vec::as_slice).unwrap_or_default();
    Link {
        name: text(&value["ifname"]).unwrap_or_default(),
        index: value["ifindex"].as_u64().and_then(|index| index.try_into().ok()).unwrap_or(0),
        up: flags.iter().any(|flag| flag == "UP"),
        mtu: value["mtu"].as_u64().unwrap_or(0),
        kind: text(&info["info_kind"]).unwrap_or_default(),
        bond_mode: text(&info["info_data"]["mode"]),
        master: text(&value["master"]),
        master_kind: text(&info["info_slave_kind"]),
        lower: text(&value["link"]),
        vlan_protocol: text(&info["info_data"]["protocol"]).filter(|_| info["info_kind"] == "vlan"),
        program: value["xdp"]["prog"]["id"].as_u64(),
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
        let [_, eth0, vlan, bond, port] = links.try_into().unwrap();
        assert_eq!((eth0.up, eth0.mtu, eth0.program), (true, 1500, Some(42)));
        assert_eq!((vlan.up, &*vlan.kind, vlan.lower.as_deref()), (false, "vlan", Some("eth0")));
        assert_eq!((vlan.vlan_protocol.as_deref(), port.vlan_protocol), (Some("802.1Q"), None));
        assert_eq!((bond.mtu, bond.bond_mode.as_deref()), (9000, Some("802.3ad")));
        assert_eq!(
            (port.master.as_deref(), port.master_kind.as_deref()),
            (Some("bond0"), Some("bond"))
        );
    }
}
