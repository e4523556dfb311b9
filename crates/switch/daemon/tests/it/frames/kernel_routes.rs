//! Destinations by prefixes of the kernel's routes: what the program forwards and what it leaves to
//! the kernel.

use crate::frames::rigs::{judged, rig_at, shimmed, tagged};
use heddle_bpf_loader::Action;
use heddle_switch::frames::{self, MptcpOption};
use heddle_switch::plan;
use heddle_switch::rig::Rig;
use heddle_switch_maps::abi::SwitchCounter;
use heddle_switch_maps::{Hook, Scheme};
use heddle_testing::{Need, skip_without};

/// A rig whose ToR 1 has 10.2.0.0/16 and fd00:2::/64, but for 10.2.9.0/24, and no host addresses.
fn routed(hook: Hook, scheme: Scheme) -> Rig {
    let mut rig = rig_at(hook, scheme);
    let maps = &mut rig.switch.maps;
    for (address, _) in maps.destinations.entries().unwrap() {
        maps.destinations.remove(&address).unwrap();
    }
    let tors = [("10.2.0.0/16", Some(1)), ("fd00:2::/64", Some(1)), ("10.2.9.0/24", None)];
    let tors = tors.map(|(prefix, tor)| (prefix.parse().unwrap(), tor)).into();
    for (prefix, to) in plan::prefixes(Some(0), &tors) {
        maps.prefixes.insert(prefix, &to).unwrap();
    }
    let mut config = maps.config.get(&0, 0).unwrap();
    config.kernel_routes = 1;
    maps.config.set(0, config, 0).unwrap();
    rig
}

fn to(destination: &str) -> Vec<u8> {
    let source = if destination.contains(':') { "fd00::1" } else { "10.0.0.1" };
    frames::data(source, destination, (4000, 5000), MptcpOption::None)
}

#[test]
fn prefixes_are_forwarded_to_their_tor_and_the_rest_is_left_to_the_kernel() {
    if skip_without(Need::Root) {
        return;
    }
    for (hook, scheme) in [(Hook::Xdp, Scheme::Ecmp), (Hook::Tc, Scheme::Hula)] {
        let mut rig = routed(hook, scheme);
        for address in ["10.2.0.1", "10.2.255.255", "fd00:2::5"] {
            let (action, _) = judged(&rig, &to(address), address);
            assert_eq!(action, Action::Redirect, "{hook:?}, {scheme}, {address}");
        }
        assert_eq!(rig.forwarded().unwrap(), 3);
        let mut ends = to("10.2.0.1");
        ends[14 + 8] = 1;
        // The header's sum is the kernel's to check.
        let of_vlan = tagged(&to("10.2.0.1"));
        let left = [to("10.2.9.1"), to("10.0.0.1"), to("192.0.2.7"), to("fd00::1"), ends, of_vlan];
        for frame in &left {
            let (action, data) = judged(&rig, frame, "left to the kernel");
            assert_eq!((action, &data), (Action::Pass, frame), "{hook:?}, {scheme}");
        }
        assert_eq!(rig.count(SwitchCounter::Passed).unwrap(), left.len() as u64);
        // No path leads there: the kernel may have one.
        rig.switch.maps.tor_groups.set(1, 0, 0).unwrap();
        assert_eq!(judged(&rig, &to("10.2.0.1"), "no next hop").0, Action::Pass);
    }
}

#[test]
fn the_kernel_gets_packets_for_its_own_hosts_without_their_shim() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = routed(Hook::Xdp, Scheme::MpHula);
    rig.from_fabric(1).unwrap();
    let frame = to("10.0.0.1");
    let (action, data) = judged(&rig, &shimmed(&frame, 0), "with a shim");
    assert_eq!((action, data), (Action::Pass, frame));
}
