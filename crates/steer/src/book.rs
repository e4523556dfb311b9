//! Which ports are in use.

use std::collections::BTreeSet;

use heddle_policy::cflb::Ports;

/// The ports in use between pairs of hosts, so that no two flows are given the same ones.
#[derive(Clone, Debug, Default)]
pub struct PortBook {
    /// Source, destination, ports as in a header.
    used: BTreeSet<(u32, u32, u32)>,
}

impl PortBook {
    /// Whether a flow from `from` to `to` may use these ports.
    pub fn is_free(&self, from: u32, to: u32, ports: Ports) -> bool {
        !self.used.contains(&(from, to, ports.bits()))
    }

    /// Takes ports; `false` if they were taken.
    pub fn take(&mut self, from: u32, to: u32, ports: Ports) -> bool {
        self.used.insert((from, to, ports.bits()))
    }

    /// Gives ports back; `false` if they were free.
    pub fn release(&mut self, from: u32, to: u32, ports: Ports) -> bool {
        self.used.remove(&(from, to, ports.bits()))
    }

    /// How many are taken.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Whether none is taken.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }
}
