//! A device's driver, offloads, queues and rings, as `ethtool` prints them.

use std::process::Command;

/// The settings that matter here; `None`, and no feature: the driver has no such setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) driver: Option<String>,
    /// Offloads that are on and can be turned off, by ethtool's long names.
    pub(crate) offloads: Vec<String>,
    /// Channels that receive.
    pub(crate) channels: Option<Channels>,
    /// Descriptors of a receive ring: in use, and the most there can be.
    pub(crate) ring: Option<Range>,
}

/// Channels of a kind: in use, and the most there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channels {
    /// `combined`, or of drivers that have none of those `rx`.
    pub(crate) kind: &'static str,
    pub(crate) range: Range,
}

/// A setting, and its largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) now: u64,
    pub(crate) most: u64,
}

impl Device {
    /// The settings of an interface.
    ///
    /// # Errors
    /// A sentence, if ethtool is missing or cannot be run.
    pub(crate) fn of(interface: &str) -> Result<Device, String> {
        let print = |option| run(option, interface);
        let channels = print("--show-channels")?;
        Ok(Device {
            driver: field(&print("--driver")?, "driver").map(str::to_owned),
            offloads: offloads(&print("--show-features")?),
            channels: receiving(&channels),
            ring: range(&print("--show-ring")?, "RX"),
        })
    }

    /// True if an offload is on and can be turned off.
    pub(crate) fn has(&self, offload: &str) -> bool {
        self.offloads.iter().any(|on| on == offload)
    }
}

/// The output of ethtool; empty if the device has no such setting.
fn run(option: &str, interface: &str) -> Result<String, String> {
    let output = Command::new("ethtool").args([option, interface]).output();
    let output = output.map_err(|error| format!("ethtool cannot be run: {error}"))?;
    let said =
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned());
    Ok(said.unwrap_or_default())
}

fn receiving(text: &str) -> Option<Channels> {
    let combined = range(text, "Combined").filter(|range| range.most > 0);
    match combined {
        Some(range) => Some(Channels { kind: "combined", range }),
        None => range(text, "RX").map(|range| Channels { kind: "rx", range }),
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) =
        text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name)?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

fn offloads(text: &str) -> Vec<String> {
    let on = text.lines().filter_map(|line| line.trim().strip_suffix(": on"));
    on.map(str::to_owned).collect()
}

/// A value of the sections "Pre-set maximums" and "Current hardware settings".
fn range(text: &str, name: &str) -> Option<Range> {
    let (maximums, current) = text.split_once("Current hardware settings:")?;
    let number = |section| field(section, name)?.parse().ok();
    Some(Range { now: number(current)?, most: number(maximums)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As ethtool 6.1 prints it.
    const CHANNELS: &str = "Channel parameters for eth0:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t16\nCurrent hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t4\n";
    const RING: &str = "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nTX:\t\t4096\nCurrent hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t512\n";

    #[test]
    fn ranges_of_channels_and_rings() {
        assert_eq!(range(CHANNELS, "Combined"), Some(Range { now: 4, most: 16 }));
        assert_eq!(range(CHANNELS, "RX"), None);
        assert_eq!(receiving(CHANNELS).map(|channels| channels.kind), Some("combined"));
        let veth =
            CHANNELS.replace("RX:\t\tn/a", "RX:\t\t8").replace("Combined:\t16", "Combined:\tn/a");
        let eight = Range { now: 8, most: 8 };
        assert_eq!(receiving(&veth), Some(Channels { kind: "rx", range: eight }));
        assert_eq!(range(RING, "RX"), Some(Range { now: 512, most: 4096 }));
        assert_eq!(range("", "RX"), None);
    }

    #[test]
    fn offloads_that_are_on_and_not_fixed() {
        let text = "Features for eth0:\nrx-checksumming: on\n\ttx-checksum-ipv4: on [fixed]\nlarge-receive-offload: on\nrx-vlan-offload: off\n";
        assert_eq!(offloads(text), ["rx-checksumming", "large-receive-offload"]);
    }

    #[test]
    fn the_driver() {
        assert_eq!(field("driver: ixgbe\nversion: 6.1\nbus-info: \n", "driver"), Some("ixgbe"));
        assert_eq!(field("bus-info: \n", "bus-info"), None);
    }
}
