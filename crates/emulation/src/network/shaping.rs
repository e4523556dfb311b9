//! Rates and buffers of links.

use heddle_scenario::PortLimits;
use heddle_units::Rate;

use super::{Device, Network};

/// Ethernet's header, which counts against a shaper's rate.
const ETHERNET: u32 = 14;

impl Network {
    /// Lines of `tc` that give a device its rate and its buffer.
    pub(crate) fn shape_lines(&self, device: &Device<'_>) -> String {
        let rate = self.fabric.rate_of(device.info);
        let limits = if device.node < self.fabric.hosts {
            self.scenario.fabric.host_port
        } else {
            self.scenario.fabric.port
        };
        shaper(&device.name(), rate, limits, self.mtu(device) + ETHERNET)
    }
}

/// A token bucket with the buffer behind it. The bucket holds a frame, and what the rate sends in
/// 200 us, so that a timer that comes late loses nothing. A frame that finds the bucket full leaves
/// at once, where a wire would take its transmission time.
fn shaper(device: &str, Rate(bits): Rate, limits: PortLimits, frame: u32) -> String {
    let burst = u64::from(frame) + bits / 8 / 5000;
    let limit = limits.bytes.0.max(u64::from(frame));
    let bucket = format!(
        "qdisc replace dev {device} root handle 1: tbf rate {bits}bit burst {burst} limit {limit}\n"
    );
    match limits.packets {
        None => bucket,
        Some(packets) => {
            format!("{bucket}qdisc replace dev {device} parent 1:1 pfifo limit {packets}\n")
        }
    }
}

#[cfg(test)]
mod tests {
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
}
