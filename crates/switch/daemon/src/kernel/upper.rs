//! The upper devices of ports, which are bonds, bridges and VRFs: whether the kernel's routes lead over
//! the ports of the configuration.

use std::collections::BTreeMap;
use std::io;

use heddle_daemon::{links, netlink};
use heddle_switch_maps::abi::SwitchRole;
use netlink_packet_route::link::{InfoPortKind, LinkAttribute, LinkInfo, LinkMessage};

use crate::config::{Config, Port, Routes, Table};

/// A device above another one, which is a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upper {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: InfoPortKind,
}

/// The upper device of each of these interfaces that has one, in the network namespace of the calling
/// thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn read(names: &[String]) -> io::Result<BTreeMap<String, Upper>> {
    let (netlink, _) = netlink::open(&[])?;
    let mut found = BTreeMap::new();
    for name in names {
        let Some((index, kind)) = links::by_name(&netlink, name).await?.and_then(upper_of) else {
            continue;
        };
        let upper = links::by_index(&netlink, index).await?.and_then(name_of);
        found.extend(upper.map(|upper| (name.clone(), Upper { name: upper, kind })));
    }
    Ok(found)
}

/// The number of the upper device, with its kind.
fn upper_of(link: LinkMessage) -> Option<(u32, InfoPortKind)> {
    let (mut index, mut kind) = (None, None);
    for attribute in link.attributes {
        match attribute {
            LinkAttribute::Controller(number) => index = Some(number),
            LinkAttribute::LinkInfo(infos) => kind = infos.into_iter().find_map(port_kind),
            _ => {}
        }
    }
    index.zip(kind)
}

fn port_kind(info: LinkInfo) -> Option<InfoPortKind> {
    match info {
        LinkInfo::PortKind(kind) => Some(kind),
        _ => None,
    }
}

fn name_of(link: LinkMessage) -> Option<String> {
    link.attributes.into_iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name),
        _ => None,
    })
}

/// Likely mistakes: with them the kernel's routes lead past the ports.
pub fn warnings(config: &Config, uppers: &BTreeMap<String, Upper>) -> Vec<String> {
    let Routes::Kernel(routes) = &config.routes else { return Vec::new() };
    let ports = config.ports.iter();
    ports.filter_map(|port| warning(port, uppers.get(&port.device), &routes.table)).collect()
}

/// The main table (linux/rtnetlink.h, `RT_TABLE_MAIN`).
const MAIN: Table = Table::Number(254);

fn warning(port: &Port, upper: Option<&Upper>, table: &Table) -> Option<String> {
    let device = &port.device;
    let Some(Upper { name, kind }) = upper else {
        let Table::Vrf(vrf) = table else { return None };
        let fix = format!("ip link set {device} master {vrf}");
        return Some(format!("{device} is not in the VRF {vrf}, whose routes are followed: {fix}"));
    };
    match kind {
        InfoPortKind::Vrf => {
            let is_another = matches!(table, Table::Vrf(vrf) if vrf != name) || *table == MAIN;
            let what = format!("{device} is in the VRF {name}, whose routes are not followed");
            is_another.then(|| format!("{what}: vrf = \"{name}\""))
        }
        // A host's frames may be taken before the bridge has them.
        InfoPortKind::Bridge if port.role == SwitchRole::Host => None,
        _ => Some(format!(
            "{device} is a part of {name} ({kind}), over which the routes lead: device = \"{name}\""
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The packaged leaf, with these keys.
    fn leaf(keys: &str) -> Config {
        let packaged =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../packaging/switch/leaf-1.toml");
        let text = fs::read_to_string(packaged).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leaf-1.toml");
        fs::write(&path, text.replacen("realms = true", &format!("realms = true\n{keys}"), 1))
            .unwrap();
        crate::config::read(&path).ok().unwrap()
    }

    /// The warnings about the leaf whose swp1 has an upper device.
    fn said(keys: &str, name: &str, kind: InfoPortKind) -> Vec<String> {
        let upper = Upper { name: name.into(), kind };
        warnings(&leaf(keys), &BTreeMap::from([("swp1".into(), upper)]))
    }

    #[test]
    fn parts_of_bonds_and_bridges_are_named_with_the_device_of_the_routes() {
        let bond = said("", "bond0", InfoPortKind::Bond);
        assert!(bond[0].starts_with("swp1 is a part of bond0 (bond)"), "{bond:?}");
        assert!(said("", "br0", InfoPortKind::Bridge)[0].ends_with("device = \"br0\""));
        assert_eq!(warnings(&leaf(""), &BTreeMap::new()), [""; 0]);
    }

    #[test]
    fn ports_are_in_the_vrf_whose_routes_are_followed() {
        assert!(said("", "red", InfoPortKind::Vrf)[0].ends_with("vrf = \"red\""));
        assert_eq!(said("table = 100", "red", InfoPortKind::Vrf), [""; 0]);
        let outside = said("vrf = \"red\"", "red", InfoPortKind::Vrf);
        assert_eq!(outside.len(), 2, "rack and swp2: {outside:?}");
        assert!(outside[1].ends_with("ip link set swp2 master red"), "{outside:?}");
        assert_eq!(said("vrf = \"red\"", "blue", InfoPortKind::Vrf).len(), 3);
    }
}
