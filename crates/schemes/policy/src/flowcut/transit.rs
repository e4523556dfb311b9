//! Flowcuts of other switches' hosts: the port of each.

use bytemuck::Zeroable;

use crate::{Nanos, Port};

use super::sets::{Entry, Sets};

/// Switch bytes per flowcut: a 5-tuple (13), its number and its port (4), the time of its last
/// packet (6).
pub(super) const BYTES_PER_TRANSIT: usize = 23;

/// A flowcut. All zero while unused.
#[derive(Clone, Copy, Debug, Zeroable)]
pub(super) struct Transit {
    hash: u32,
    /// The flowcut's number, from 1.
    pub number: u16,
    inverted_port: u16,
    pub last: Nanos,
}

impl Entry for Transit {
    fn flow(&self) -> Option<u32> {
        (self.inverted_port != 0).then_some(self.hash)
    }

    fn last(&self) -> Nanos {
        self.last
    }
}

impl Transit {
    pub fn new(hash: u32, number: u16, port: Port, now: Nanos) -> Transit {
        Transit { hash, number, inverted_port: !port.0, last: now }
    }

    pub fn port(&self) -> Port {
        Port(!self.inverted_port)
    }

    pub fn set_port(&mut self, port: Port) {
        self.inverted_port = !port.0;
    }

    /// True if its last packet came longer than `lost_after` ago: none of its packets is behind
    /// this switch any more.
    pub fn is_gone(&self, now: Nanos, lost_after: Nanos) -> bool {
        now.saturating_sub(self.last) > lost_after
    }
}

impl Sets<Transit> {
    /// The slot for a flow's new flowcut: its last one's, or one with room.
    pub fn place(&mut self, hash: u32, gone: impl Fn(&Transit) -> bool) -> Option<&mut Transit> {
        if self.find(hash).is_some() {
            return self.find(hash);
        }
        self.room(hash, gone)
    }
}
