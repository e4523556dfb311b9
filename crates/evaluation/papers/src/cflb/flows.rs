//! Packets of a trace, and the flows that they belong to.

use std::collections::BTreeMap;

use heddle_policy::cflb::Fields;
use heddle_units::Time;

use super::hashes::Tuple;

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Since the trace began.
    pub at: Time,
    /// Its flow's number. Flows are numbered from 0, in the order of their first packets.
    pub flow: u32,
    /// Its header, as the first router receives it.
    pub fields: Fields,
}

/// Numbers flows. A flow is a 5-tuple: a port that is used again belongs to the old flow, as a hash
/// decides for both alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows(BTreeMap<Tuple, u32>);

impl Flows {
    /// The flow's number: the next one if it is new.
    pub(super) fn number(&mut self, fields: &Fields) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(Tuple::new(fields)).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use heddle_policy::cflb::{Addresses, Ports};

    use super::*;

    fn fields(source: u16, ttl: u8) -> Fields {
        let addresses = Addresses::V4(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let ports = Some(Ports { source, destination: 80 });
        Fields { addresses, protocol: 6, ports, flow_label: 0, ttl }
    }

    /// Ports 7, 9, 7 again with another TTL, 8.
    #[test]
    fn flows_are_numbered_as_they_appear() {
        let mut flows = Flows::default();
        let seen = [fields(7, 64), fields(9, 64), fields(7, 63), fields(8, 64)];
        assert_eq!(seen.map(|fields| flows.number(&fields)), [0, 1, 0, 2]);
    }
}
