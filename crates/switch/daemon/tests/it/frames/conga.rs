//! Fields that CONGA's packets carry between leaves (docs/src/switch.md).

use crate::frames::rigs::{rig, run};
use heddle_bpf_loader::Action;
use heddle_switch::frames::{self, MptcpOption};
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::SwitchCounter;
use heddle_testing::{Need, skip_without};

/// A frame with a shim of leaf 1 and this tag.
fn of_leaf_1(frame: &[u8], tag: [u8; 2]) -> Vec<u8> {
    let shim = [0x88, 0xb5, 0, 1, tag[0], tag[1], 0, 0, 0, 0, 0, 0];
    [&frame[..12], &shim, &frame[12..]].concat()
}

#[test]
fn a_metric_that_arrives_goes_back_in_the_next_packet_to_its_leaf() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::Conga);
    let there = frames::data("10.0.0.1", "10.0.1.1", (4000, 5000), MptcpOption::None);
    let (_, first) = run(&rig, &there);
    assert_eq!(first[12..16], [0x88, 0xb5, 0, 0], "a shim of leaf 0");
    assert_eq!((first[16] & 0x80, first[17]), (0x80, 0), "a path, and nothing to feed back");

    // LBTag 3 with a CE of 5.
    rig.from_fabric(1).unwrap();
    let back = frames::data("10.0.1.1", "10.0.0.1", (5000, 4000), MptcpOption::None);
    let (action, delivered) = run(&rig, &of_leaf_1(&back, [0x9d, 0]));
    assert_eq!((action, &delivered[12..14]), (Action::Redirect, &[8, 0][..]), "without its shim");
    assert_eq!(rig.count(SwitchCounter::Delivered).unwrap(), 1);

    rig.from_host().unwrap();
    let (_, next) = run(&rig, &there);
    assert_eq!((next[16] >> 3, next[17]), (first[16] >> 3, 0x9d), "its uplink, and the metric");
}
