//! Findings about the interfaces that clients' packets arrive at.

use super::ethtool::{Channels, Device};
use super::finding::Finding;
use super::link::{Link, Program};
use super::xdp_features::Features;

/// The longest frame for which drivers with a page for each packet attach XDP: 4096 bytes, without
/// the headroom of 256 (XDP_PACKET_HEADROOM) and the 320 of `struct skb_shared_info`.
const PAGE_FRAME: u64 = 4096 - 256 - 320;
/// Ethernet's header with a VLAN tag.
const HEADER: u64 = 18;
/// The shortest receive ring that rides out a pause of 100 us at 10 million packets a second.
const SHORT_RING: u64 = 1024;
/// Modes of bonds for which the kernel's bonding driver takes XDP programs (`bond_xdp_check`).
const BOND_MODES: [&str; 4] = ["balance-rr", "active-backup", "balance-xor", "802.3ad"];

/// All that is known of an interface.
pub(crate) struct Interface<'a> {
    pub(crate) link: &'a Link,
    pub(crate) device: Device,
    /// None: the kernel is older than 6.3, or the interface is unknown to it.
    pub(crate) features: Option<Features>,
    /// The devices that receive its frames: itself, or the ports of a bond.
    pub(crate) receivers: Vec<(String, Device)>,
    /// VLAN interfaces above it.
    pub(crate) vlans: Vec<&'a str>,
    pub(crate) processors: u64,
    /// The configuration has `accept_macs`.
    pub(crate) accepts_macs: bool,
    /// A daemon of this configuration has attached its program; none: not known.
    pub(crate) is_pinned: Option<bool>,
    /// The links that hold the program that is attached; none: not known.
    pub(crate) links: Option<Vec<u32>>,
}

/// The balancer's program, by the name that the kernel has.
const OWN: &str = "heddle_balancer";

impl Interface<'_> {
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let checks = [
            self.state(),
            self.native(),
            self.bond(),
            self.bond_port(),
            self.bridge_port(),
            self.mtu(),
            self.queues(),
            self.ring(),
            self.offloads(),
            self.program(),
            self.veth(),
        ];
        checks.into_iter().flatten().chain(self.vlans_above()).collect()
    }

    fn name(&self) -> &str {
        &self.link.name
    }

    fn state(&self) -> Option<Finding> {
        let fix = format!("ip link set dev {} up", self.name());
        (!self.link.up).then(|| Finding::warning(self.name(), "it is down").fix(fix))
    }

    fn native(&self) -> Option<Finding> {
        let driver = self.device.driver.as_deref().unwrap_or("its driver");
        match self.features? {
            features if !features.basic() => {
                let message = format!(
                    "{driver} has no native XDP: packets take the generic path, several times slower"
                );
                Some(Finding::error(self.name(), message).fix(
                    "systemctl edit heddled, with: [Service], ExecStart=, ExecStart=/usr/sbin/heddled --attach generic",
                ))
            }
            features if !features.redirects() => {
                let message = format!(
                    "{driver} has no XDP redirect: backends must be reached through this interface itself"
                );
                Some(Finding::warning(self.name(), message))
            }
            _ => Some(Finding::note(self.name(), format!("{driver}: native XDP"))),
        }
    }

    fn bond(&self) -> Option<Finding> {
        let mode = self.link.bond_mode.as_deref().filter(|_| self.link.kind == "bond")?;
        if BOND_MODES.contains(&mode) {
            return None;
        }
        let message = format!("bonds of mode {mode} take no XDP program");
        Some(Finding::error(self.name(), message).fix(format!(
            "ip link set dev {} type bond mode 802.3ad, when it is down",
            self.name()
        )))
    }

    fn bond_port(&self) -> Option<Finding> {
        let master = self.master("bond")?;
        let message = format!(
            "it is a port of {master}: packets that arrive at the other ports pass the balancer"
        );
        Some(Finding::error(self.name(), message).fix(format!("interfaces = [\"{master}\"]")))
    }

    fn bridge_port(&self) -> Option<Finding> {
        let master = self.master("bridge").filter(|_| !self.accepts_macs)?;
        let message = format!(
            "it is a port of {master}: frames to the bridge's address are passed, not balanced"
        );
        Some(
            Finding::warning(self.name(), message)
                .fix(format!("accept_macs with the address of: ip link show {master}")),
        )
    }

    fn master(&self, kind: &str) -> Option<&str> {
        self.link.master.as_deref().filter(|_| self.link.master_kind.as_deref() == Some(kind))
    }

    /// A driver that takes tags out of frames hides from XDP which VLAN they are of.
    fn vlans_above(&self) -> Vec<Finding> {
        let message = || {
            let vlans = self.vlans.join(", ");
            format!(
                "it carries the VLANs {vlans}, whose tags the device takes out before XDP sees them"
            )
        };
        let takes_tags = |one: &&(String, Device)| one.1.has("rx-vlan-offload");
        let receivers = self.receivers.iter().filter(|_| !self.vlans.is_empty()).filter(takes_tags);
        let finding = |(name, _): &(String, Device)| {
            Finding::error(name, message()).fix(format!("ethtool -K {name} rxvlan off"))
        };
        receivers.map(finding).collect()
    }

    fn mtu(&self) -> Option<Finding> {
        let most = PAGE_FRAME - HEADER;
        if self.link.mtu <= most || !self.link.kind.is_empty() {
            return None;
        }
        let message = format!(
            "its MTU is {}: many drivers attach native XDP up to about {most} only",
            self.link.mtu
        );
        Some(
            Finding::warning(self.name(), message).fix(format!(
                "ip link set dev {} mtu {most}, if heddled cannot attach",
                self.name()
            )),
        )
    }

    fn queues(&self) -> Option<Finding> {
        let Channels { kind, range } = self.device.channels?;
        let wanted = range.most.min(self.processors);
        if range.now >= wanted {
            return None;
        }
        let message = format!("{} receive queues for {} processors", range.now, self.processors);
        Some(
            Finding::warning(self.name(), message)
                .fix(format!("ethtool -L {} {kind} {wanted}", self.name())),
        )
    }

    fn ring(&self) -> Option<Finding> {
        let ring = self.device.ring?;
        let wanted = ring.most.min(SHORT_RING);
        if ring.now >= wanted {
            return None;
        }
        let message =
            format!("its receive rings have {} places: short bursts are dropped", ring.now);
        Some(
            Finding::warning(self.name(), message)
                .fix(format!("ethtool -G {} rx {wanted}", self.name())),
        )
    }

    fn offloads(&self) -> Option<Finding> {
        let names = [("large-receive-offload", "lro"), ("rx-gro-hw", "rx-gro-hw")];
        let (long, short) = names.into_iter().find(|(long, _)| self.device.has(long))?;
        let message = format!("{long} is on: the device merges packets, which XDP cannot forward");
        Some(
            Finding::warning(self.name(), message)
                .fix(format!("ethtool -K {} {short} off", self.name())),
        )
    }

    fn program(&self) -> Option<Finding> {
        let Program { id, name } = self.link.program.as_ref()?;
        let is_own = name == OWN;
        let whose = match (self.is_pinned, is_own) {
            (Some(true), _) => return None,
            (Some(false), true) => ", that of a heddled with another `pin`: heddled",
            (Some(false), false) if name.starts_with("heddle_") => {
                ", Heddle's own and not the balancer's: heddled"
            }
            (Some(false), false) => ", which is not heddled's: heddled",
            (None, _) => ": unless it is its own, heddled",
        };
        let message =
            format!("the XDP program {name} (id {id}) is attached{whose} cannot attach another");
        let fix = match is_own {
            true => format!("`pin` as that heddled has it, to go on from it; or {}", self.detach()),
            false => format!("{}, if nothing needs it: bpftool prog show id {id}", self.detach()),
        };
        let finding = match self.is_pinned {
            Some(_) => Finding::error(self.name(), message),
            None => Finding::note(self.name(), message),
        };
        Some(finding.fix(fix))
    }

    /// The command that takes the program off. What a link holds, `ip link` cannot.
    fn detach(&self) -> String {
        let by_name = format!("ip link set dev {} xdp off", self.name());
        match self.links.as_deref() {
            Some([]) => by_name,
            Some([link]) => format!("bpftool link detach id {link}, or stop its owner"),
            Some(links) => {
                let links: Vec<String> = links.iter().map(u32::to_string).collect();
                format!(
                    "bpftool link detach id ID with one of {} (bpftool link show), or stop its owner",
                    links.join(", ")
                )
            }
            None => format!(
                "{by_name}, unless `bpftool link show` has a link of it: then bpftool link detach id ID, or stop its owner"
            ),
        }
    }

    fn veth(&self) -> Option<Finding> {
        if self.link.kind != "veth" {
            return None;
        }
        let message = "a veth device: the far end must take frames from XDP, and compute checksums before it sends";
        Some(
            Finding::note(self.name(), message)
                .fix("at the far end: heddle lb pass --interface DEV, and ethtool -K DEV tx off"),
        )
    }
}

#[cfg(test)]
mod tests;
