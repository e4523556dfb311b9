//! Each finding by an interface that has it, and none by one that is as it should be.

use super::super::ethtool::{Channels, Range};
use super::super::finding::Severity;
use super::*;

fn combined(now: u64, most: u64) -> Option<Channels> {
    Some(Channels { kind: "combined", range: Range { now, most } })
}

fn device() -> Device {
    Device {
        driver: Some("ixgbe".into()),
        offloads: vec!["rx-checksumming".into(), "rx-vlan-offload".into()],
        channels: combined(8, 64),
        ring: Some(Range { now: 2048, most: 4096 }),
    }
}

fn link() -> Link {
    Link {
        name: "eth0".into(),
        index: 2,
        up: true,
        mtu: 1500,
        kind: String::new(),
        bond_mode: None,
        master: None,
        master_kind: None,
        lower: None,
        vlan_protocol: None,
        program: None,
    }
}

fn interface(link: &Link) -> Interface<'_> {
    Interface {
        link,
        device: device(),
        features: Some(Features(0x7f)),
        receivers: vec![("eth0".into(), device())],
        vlans: vec![],
        processors: 8,
        accepts_macs: false,
        is_pinned: Some(false),
        links: None,
    }
}

/// The findings but for notes.
fn found(interface: &Interface<'_>) -> Vec<Finding> {
    interface.findings().into_iter().filter(|found| found.severity != Severity::Note).collect()
}

/// The only finding, by severity and fix.
fn only(interface: &Interface<'_>) -> (Severity, String) {
    let found = found(interface);
    assert_eq!(found.len(), 1, "{found:?}");
    (found[0].severity, found[0].fix.clone().unwrap_or_default())
}

#[test]
fn a_sound_interface_has_none() {
    let link = link();
    assert_eq!(found(&interface(&link)), []);
    let note = interface(&link).findings().remove(0);
    assert_eq!((note.severity, &*note.message), (Severity::Note, "ixgbe: native XDP"));
}

#[test]
fn a_driver_without_native_xdp_takes_the_generic_path() {
    let link = link();
    let (severity, fix) = only(&Interface { features: Some(Features(0)), ..interface(&link) });
    assert_eq!(severity, Severity::Error);
    assert!(fix.contains("--attach generic"), "{fix}");
    let (severity, _) = only(&Interface { features: Some(Features(1)), ..interface(&link) });
    assert_eq!(severity, Severity::Warning, "no redirect");
}

#[test]
fn an_older_kernel_says_nothing_of_xdp() {
    let link = link();
    assert_eq!(Interface { features: None, ..interface(&link) }.findings(), []);
}

#[test]
fn bonds_take_programs_in_four_modes() {
    let bond = |mode: &str| Link { kind: "bond".into(), bond_mode: Some(mode.into()), ..link() };
    for mode in BOND_MODES {
        assert_eq!(found(&interface(&bond(mode))), []);
    }
    assert_eq!(only(&interface(&bond("balance-alb"))).0, Severity::Error);
}

#[test]
fn the_port_of_a_bond_sees_a_part_of_the_packets() {
    let port = Link { master: Some("bond0".into()), master_kind: Some("bond".into()), ..link() };
    assert_eq!(only(&interface(&port)), (Severity::Error, "interfaces = [\"bond0\"]".into()));
}

#[test]
fn the_port_of_a_bridge_needs_the_bridges_address() {
    let port = Link { master: Some("br0".into()), master_kind: Some("bridge".into()), ..link() };
    assert!(only(&interface(&port)).1.contains("accept_macs"));
    assert_eq!(found(&Interface { accepts_macs: true, ..interface(&port) }), []);
}

#[test]
fn a_device_with_vlans_must_leave_tags_in_frames() {
    let link = link();
    let vlans = || vec!["eth0.7"];
    let (severity, fix) = only(&Interface { vlans: vlans(), ..interface(&link) });
    assert_eq!((severity, &*fix), (Severity::Error, "ethtool -K eth0 rxvlan off"));
    let receivers = vec![("eth0".into(), Device { offloads: vec![], ..device() })];
    assert_eq!(found(&Interface { vlans: vlans(), receivers, ..interface(&link) }), []);
}

#[test]
fn the_ports_of_a_bond_with_vlans_must_leave_tags_in_frames() {
    let bond = Link { kind: "bond".into(), bond_mode: Some("802.3ad".into()), ..link() };
    let receivers = vec![("eth1".into(), device()), ("eth2".into(), device())];
    let interface = Interface { vlans: vec!["bond0.7"], receivers, ..interface(&bond) };
    let fixes: Vec<_> = found(&interface).into_iter().filter_map(|found| found.fix).collect();
    assert_eq!(fixes, ["ethtool -K eth1 rxvlan off", "ethtool -K eth2 rxvlan off"]);
}

/// 4096 - 256 - 320 - 18.
#[test]
fn a_page_holds_frames_up_to_an_mtu_of_3502() {
    assert_eq!(found(&interface(&Link { mtu: 3502, ..link() })), []);
    assert!(only(&interface(&Link { mtu: 3503, ..link() })).1.contains("mtu 3502"));
}

#[test]
fn queues_rings_and_offloads_have_the_command_that_fixes_them() {
    let link = link();
    let fix = |device| only(&Interface { device, ..interface(&link) }).1;
    assert_eq!(fix(Device { channels: combined(2, 64), ..device() }), "ethtool -L eth0 combined 8");
    let veth = Some(Channels { kind: "rx", range: Range { now: 1, most: 2 } });
    assert_eq!(fix(Device { channels: veth, ..device() }), "ethtool -L eth0 rx 2");
    let short = Some(Range { now: 512, most: 4096 });
    assert_eq!(fix(Device { ring: short, ..device() }), "ethtool -G eth0 rx 1024");
    let merging = vec!["large-receive-offload".into()];
    assert_eq!(fix(Device { offloads: merging, ..device() }), "ethtool -K eth0 lro off");
    let all_there_are = combined(4, 4);
    assert_eq!(
        found(&Interface {
            device: Device { channels: all_there_are, ..device() },
            ..interface(&link)
        }),
        []
    );
}

#[test]
fn an_interface_that_is_down_and_a_program_that_is_there_are_told() {
    assert_eq!(only(&interface(&Link { up: false, ..link() })).1, "ip link set dev eth0 up");
    let program = |name: &str| Some(Program { id: 42, name: name.into() });
    let (taken, own) =
        (Link { program: program("other"), ..link() }, Link { program: program(OWN), ..link() });
    let with = |is_pinned| Interface { is_pinned, ..interface(&taken) };
    let (severity, fix) = only(&with(Some(false)));
    assert_eq!(severity, Severity::Error, "another program: heddled cannot start");
    assert!(fix.starts_with("ip link set dev eth0 xdp off, unless `bpftool link show`"), "{fix}");
    assert_eq!(found(&with(Some(true))), [], "its own");
    assert!(with(None).findings().iter().any(|found| found.message.contains("other (id 42)")));
    let finding = found(&interface(&own)).remove(0);
    assert!(finding.message.contains("of a heddled with another `pin`"), "{finding}");
    let pass = Link { program: program("heddle_pass"), ..link() };
    assert!(found(&interface(&pass))[0].message.contains("Heddle's own and not the balancer's"));
}

/// `ip link` fails for links: "Can't replace active BPF XDP link".
#[test]
fn a_program_of_a_link_is_detached_by_the_link() {
    let taken = Link { program: Some(Program { id: 42, name: "other".into() }), ..link() };
    let fix = |links: &[u32]| only(&Interface { links: Some(links.into()), ..interface(&taken) }).1;
    assert!(fix(&[]).starts_with("ip link set dev eth0 xdp off, if nothing needs it"));
    assert!(fix(&[5]).starts_with("bpftool link detach id 5, or stop its owner"));
    assert!(fix(&[5, 7]).starts_with("bpftool link detach id ID with one of 5, 7 "));
}
