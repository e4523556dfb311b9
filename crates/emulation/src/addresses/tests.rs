use std::collections::BTreeSet;

use heddle_scenario::{Source, load_fabric};

use super::*;

fn fabric(text: &str) -> Fabric {
    let no_files = |_: &str| Err(std::io::Error::other("none"));
    let file = load_fabric(&Source::new("fabric.toml", text), &no_files).expect("a fabric");
    Fabric::new(&file.fabric.graph).expect("a fabric")
}

#[test]
fn every_subflow_of_every_host_has_an_address_of_its_own_in_its_tors_prefix() {
    let fabric = fabric("[fabric]\nkind = \"two-pod\"\nhosts_per_tor = 16\n");
    let addresses = Addresses::new(&fabric, 4).unwrap();
    let all: Vec<Ipv4Addr> = (0..fabric.hosts).flat_map(|host| addresses.of_host(host)).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 64 * 4);
    // Host 17 is the first of the second ToR.
    assert_eq!(
        addresses.of_host(16)[..2],
        [Ipv4Addr::new(10, 2, 1, 1), Ipv4Addr::new(10, 2, 1, 2)]
    );
    assert_eq!(Addresses::tor_prefix(fabric.host_tor[16]), "10.2.0.0/16");
    assert_eq!(addresses.host_prefix(16), "10.2.1.0/24");
    for host in 0..fabric.hosts {
        assert!(addresses.of_host(host).into_iter().all(|own| addresses.host(own) == Some(host)));
    }
    assert_eq!(addresses.host(Ipv4Addr::new(10, 9, 1, 1)), None);
}

#[test]
fn a_tor_with_too_many_hosts_is_refused() {
    let fabric = fabric("[fabric]\nkind = \"leaf-spine\"\nhosts_per_leaf = 255\n");
    let error = Addresses::new(&fabric, 1).unwrap_err().to_string();
    assert!(error.contains("hosts of a ToR") && error.contains("254"), "{error}");
}

#[test]
fn ethernet_addresses_are_unicast_and_locally_administered() {
    let mac = LinkMac { link: 0x0102_0304, end: 1 };
    assert_eq!(mac.to_string(), "02:68:02:03:04:01");
}
