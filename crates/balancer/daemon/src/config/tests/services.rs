//! Services beside each other: names, addresses, ports, groups.

use super::*;

#[test]
fn services_are_told_apart() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let twice = |web: &str| load("a", &format!("{SOUND}{web}")).map_err(|error| error.to_string());
    assert!(twice(web).unwrap_err().contains("service.1.name: `web` is given twice"));
    let renamed = web.replace("\"web\"", "\"web2\"");
    assert!(twice(&renamed).unwrap_err().contains("service.1.address: `web` has this address"));
    let config = twice(&renamed.replace("443", "80")).unwrap();
    let ids =
        config.services.iter().flat_map(|service| &service.backends).map(|backend| backend.id);
    let distinct: std::collections::BTreeSet<_> = ids.collect();
    assert_eq!(distinct.len(), 4, "one machine, two services: two ids");
}

/// A group's services have the same hosts behind them, by name.
#[test]
fn groups_are_of_the_same_backends() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let grouped = |text: &str| text.replacen("name = \"web\"", "name = \"web\"\ngroup = \"g\"", 1);
    let second = grouped(web).replacen("\"web\"", "\"web2\"", 1).replace("443", "80");
    let load = |second: &str| {
        load("a", &format!("{}{second}", grouped(SOUND))).map_err(|error| error.to_string())
    };
    assert_eq!(load(&second).unwrap().services[1].group.as_deref(), Some("g"));
    let other = load(&second.replace("be2", "be3")).unwrap_err();
    assert!(other.contains("service.1.group: backend `be2` of `web` is none of `web2`"), "{other}");
    let off = load(&second.replace("port = 80", "port = 80\nmptcp = \"off\"")).unwrap_err();
    assert!(off.contains("service.1.group: `mptcp = \"off\"` stores no tokens"), "{off}");
}

#[test]
fn services_of_one_address_do_not_share_ports() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let second =
        web.replacen("\"web\"", "\"web2\"", 1).replace("health = { ", "health = { port = 80, ");
    let load = |ports: &str| {
        let second = second.replace("port = 443", &format!("ports = \"{ports}\""));
        let room = format!("tables = {{ ports = 65535 }}\n{SOUND}{second}");
        load("a", &room).map_err(|error| error.to_string())
    };
    assert_eq!(load("444-500").unwrap().services[1].endpoint(), "192.0.2.10:444-500");
    assert_eq!(load("all").unwrap().services[1].ports, Ports::All);
    let problem = load("400-443").unwrap_err();
    assert!(
        problem.contains("service.1.address: `web` has this address, port and protocol already")
    );
}

/// Packets that are for no service have no other owner than the address.
#[test]
fn services_of_one_address_agree_on_closed_ports_and_echo() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let choosing = |text: &str, choice: &str| {
        text.replacen("name = \"web\"", &format!("name = \"web\"\n{choice}"), 1)
    };
    let load = |first: &str, second: &str| {
        let other = choosing(web, second).replacen("\"web\"", "\"web2\"", 1).replace("443", "80");
        load("a", &format!("{}{other}", choosing(SOUND, first))).map_err(|error| error.to_string())
    };
    let config = load("closed_ports = \"refuse\"", "echo = \"answer\"").unwrap();
    assert_eq!(config.services[0].closed_ports, Some(ClosedPorts::Refuse));
    assert_eq!(config.services[1].echo, Some(Echo::Answer));
    load("echo = \"drop\"", "echo = \"drop\"").unwrap();
    let problem = load("closed_ports = \"drop\"", "closed_ports = \"pass\"").unwrap_err();
    assert!(problem.contains("service.1.closed_ports: `web`, at the same address, has another"));
    assert!(problem.contains("leave `closed_ports` out of one of them"), "{problem}");
    let problem = load("echo = \"answer\"", "echo = \"drop\"").unwrap_err();
    assert!(problem.contains("service.1.echo: `web`, at the same address"), "{problem}");
}
