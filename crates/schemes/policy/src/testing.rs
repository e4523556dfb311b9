//! Test support: fake ports, constructors of steps and packets, and a chi-square test.

use alloc::vec::Vec;

use crate::{Header, Ingress, Nanos, Port, Ports, Step, SwitchInfo, Tor, Util, mix};

/// Ports 0 to 15, idle and up by default. Higher numbers wrap.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakePorts {
    pub util: [Util; 16],
    pub queue: [u32; 16],
    pub down: [bool; 16],
}

impl Ports for FakePorts {
    fn tx_util(&mut self, port: Port) -> Util {
        self.util[usize::from(port.0 % 16)]
    }

    fn queue_bytes(&mut self, port: Port) -> u32 {
        self.queue[usize::from(port.0 % 16)]
    }

    fn is_up(&mut self, port: Port) -> bool {
        !self.down[usize::from(port.0 % 16)]
    }
}

/// Random bits for steps.
pub(crate) struct Random(pub u32);

impl Random {
    pub fn step(&mut self, now: Nanos) -> Step {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        Step { now, rnd: mix(self.0, 0x51ed_270b) }
    }
}

/// A step at `now` for a scheme that draws nothing.
pub(crate) fn at(now: Nanos) -> Step {
    Step { now, rnd: 0 }
}

/// A packet of flow `flow_hash` from a host of ToR 0 to ToR `dst`.
pub(crate) fn packet(flow_hash: u32, dst: u16) -> Header {
    Header {
        flow_hash,
        src_tor: Tor(0),
        dst_tor: Tor(dst),
        ingress: Ingress::Host,
        tag: 0,
        shim: None,
        fields: None,
    }
}

/// A switch above the ToRs of a fabric with 4 ToRs.
pub(crate) fn switch_info(salt: u32) -> SwitchInfo {
    SwitchInfo { salt, tor: None, ports: 16, tors: 4, same_pod: Vec::new() }
}

/// ToR `tor` of the same fabric.
pub(crate) fn tor_info(tor: u16) -> SwitchInfo {
    SwitchInfo { tor: Some(Tor(tor)), ..switch_info(u32::from(tor)) }
}

/// Pearson's statistic against equal counts: degrees of freedom are one less than the counts.
pub(crate) fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
}

/// Bound that Pearson's statistic exceeds with probability 10^-6 (Wilson and Hilferty 1931;
/// slightly too high for one degree of freedom).
pub(crate) fn chi_square_bound(degrees: u32) -> f64 {
    let variance = 2.0 / (9.0 * f64::from(degrees));
    f64::from(degrees) * (1.0 - variance + 4.753 * variance.sqrt()).powi(3)
}
