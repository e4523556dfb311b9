//! A frame down to its MPTCP option, as a ToR reads it, behind a shim too.
#![no_main]

use heddle_wire::{EtherType, Ethernet, IpPacket, Shim, TcpFrame, TcpSegment, mptcp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(frame) = TcpFrame::parse(bytes) {
        assert!(frame.tcp.options.len() <= 40 && frame.tcp.options.len() % 4 == 0);
        mptcp::find(frame.tcp.options);
    }
    let Ok(Ethernet { ether_type: EtherType::SHIM, payload, .. }) = Ethernet::parse(bytes) else {
        return;
    };
    let Ok(inner) = Shim::parse(payload) else { return };
    if let Ok(segment) = IpPacket::parse(inner.ether_type, inner.payload)
        .and_then(|ip| TcpSegment::parse(ip.payload))
    {
        mptcp::find(segment.options);
    }
});
