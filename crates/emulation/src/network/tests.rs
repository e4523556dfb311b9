use heddle_units::Bytes;

use super::*;

#[test]
fn a_shaper_has_the_links_rate_and_the_ports_buffer() {
    let limits = PortLimits { bytes: Bytes::kb(375), packets: None, mark_above: None };
    // A frame of 1514 bytes, and 40 Mbps for 200 us: 1000 bytes.
    assert_eq!(
        shaper("eth3", Rate::mbps(40), limits, 1514),
        "qdisc replace dev eth3 root handle 1: tbf rate 40000000bit burst 2514 limit 375000\n"
    );
}

#[test]
fn a_buffer_in_packets_is_a_fifo_in_the_shaper() {
    let limits = PortLimits { bytes: Bytes::mb(1), packets: Some(100), mark_above: None };
    let lines = shaper("eth0", Rate::mbps(10), limits, 1514);
    assert!(lines.ends_with("qdisc replace dev eth0 parent 1:1 pfifo limit 100\n"), "{lines}");
}
