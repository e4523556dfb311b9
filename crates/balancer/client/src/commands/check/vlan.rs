//! VLAN interfaces: what heddled attaches to instead, and those that it cannot serve.

use super::finding::Finding;
use super::link::Link;

/// The device below a VLAN interface, where heddled attaches.
///
/// # Errors
/// A finding, if the VLAN cannot be served in native mode.
pub(crate) fn lower<'a>(vlan: &Link, links: &'a [Link]) -> Result<&'a Link, Box<Finding>> {
    let refused = |message: &str| {
        Box::new(Finding::error(&vlan.name, message).fix(
            "systemctl edit heddled, with: [Service], ExecStart=, ExecStart=/usr/sbin/heddled --attach generic",
        ))
    };
    if vlan.vlan_protocol.as_deref().is_some_and(|protocol| protocol != "802.1Q") {
        return Err(refused("it is a VLAN of 802.1ad, and only 802.1Q's tags are read"));
    }
    let named = |name: &str| links.iter().find(|link| link.name == name);
    match vlan.lower.as_deref().and_then(named) {
        None => Err(refused("the device below it is in another network namespace")),
        Some(lower) if lower.kind == "vlan" => {
            Err(refused("it is a VLAN on a VLAN, and only one tag is read"))
        }
        Some(lower) => Ok(lower),
    }
}

/// A VLAN interface, as far as it is checked.
pub(crate) fn findings(vlan: &Link, lower: &Link) -> Vec<Finding> {
    let message =
        format!("a VLAN: heddled attaches to {}, and serves frames with its tag", lower.name);
    let note = Finding::note(&vlan.name, message);
    let up = format!("ip link set dev {} up", vlan.name);
    let down = (!vlan.up).then(|| Finding::warning(&vlan.name, "it is down").fix(up));
    [Some(note), down].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::super::link::parse;
    use super::*;

    /// As `ip -details -json link show` of iproute2 6.1 prints them.
    const LINKS: &str = r#"[
        {"ifindex":2,"ifname":"eth0","flags":["BROADCAST","UP"],"mtu":1500},
        {"ifindex":3,"link":"eth0","ifname":"eth0.7","flags":["UP"],"mtu":1500,
         "linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":7}}},
        {"ifindex":4,"link":"eth0.7","ifname":"inner","flags":["UP"],"mtu":1500,
         "linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":8}}},
        {"ifindex":5,"link":"eth0","ifname":"service","flags":["UP"],"mtu":1500,
         "linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1ad","id":9}}},
        {"ifindex":6,"link_index":9,"link_netnsid":0,"ifname":"far","flags":["UP"],"mtu":1500,
         "linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":10}}}]"#;

    #[test]
    fn a_vlan_is_served_at_the_device_below_unless_its_frames_cannot_be_read_there() {
        let links = parse(LINKS.as_bytes()).unwrap();
        assert_eq!(lower(&links[1], &links).unwrap().name, "eth0");
        for (vlan, word) in [(2, "on a VLAN"), (3, "802.1ad"), (4, "namespace")] {
            let found = lower(&links[vlan], &links).unwrap_err();
            assert_eq!(found.severity, Severity::Error);
            assert!(found.message.contains(word), "{found}");
            assert!(found.fix.unwrap().contains("--attach generic"));
        }
    }
}
