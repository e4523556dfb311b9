//! From a path to header fields.

use heddle_fabric::Path;
use heddle_policy::cflb::{Addresses, EncodeError, Field, Fields, Ports, Turn};

use crate::{Network, SteerError};

/// What a sender cannot choose, and the values of the rest that it would like to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The addresses of both ends.
    pub addresses: Addresses,
    /// The protocol's number: 6 is TCP, 17 UDP.
    pub protocol: u8,
    /// The ports, of which those are kept that name no path: none where both do ([`Field::Ports`]), the destination's where the
    /// source's does, both with flow labels.
    pub ports: Ports,
}

/// A path and the header fields that make a packet take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What the sender must write: ports or flow label, and the initial TTL.
    pub fields: Fields,
    /// The path.
    pub path: Path,
}

impl Network {
    /// Header fields that make a flow take a path: of its names the first one, from number `start` on, that the rules allow and
    /// `is_free` accepts.
    ///
    /// # Errors
    /// [`SteerError::RadixTooSmall`], [`SteerError::TooLong`], [`SteerError::TtlTooLow`], [`SteerError::NoField`],
    /// [`SteerError::NoneFree`]; [`SteerError::NoSuchNextHop`] for a path of other routes.
    pub fn encode(
        &self,
        path: &Path,
        flow: &Flow,
        start: u32,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<Named, SteerError> {
        let rules = self.rules();
        let lowest = self.lowest_ttl(path)?;
        let ttls = lowest.max(*rules.ttls.start())..=*rules.ttls.end();
        let Flow { addresses, protocol, ports } = *flow;
        let ttl = if rules.ttl >= lowest { rules.ttl } else { *ttls.start() };
        let fields = Fields { addresses, protocol, ports: Some(ports), flow_label: 0, ttl };
        let may_be = |fields: &Fields| self.allows(fields) && is_free(fields);
        let named = self.codec().encode_free(&turns(path), &fields, ttls, start, may_be);
        let fields = named.map_err(|error| self.explain(error, path))?;
        Ok(Named { fields, path: path.clone() })
    }

    /// The lowest initial TTL with which a path can be walked: each router takes one, and none forwards a packet with none left.
    fn lowest_ttl(&self, path: &Path) -> Result<u8, SteerError> {
        let needed = path.hops.len() + 1;
        let highest = self.rules().ttl.max(*self.rules().ttls.end());
        match u8::try_from(needed) {
            Ok(lowest) if lowest <= highest => Ok(lowest),
            _ => Err(SteerError::TtlTooLow { ttl: highest, host: self.end_name(path), needed }),
        }
    }

    /// Whether the rules allow the ports that name the path.
    fn allows(&self, fields: &Fields) -> bool {
        let Some(ports) = fields.ports else { return true };
        match self.codec().field() {
            Field::Ports => {
                self.rules().allow(ports.source) && self.rules().allow(ports.destination)
            }
            Field::SourcePort(_) => self.rules().allow(ports.source),
            // No label at all (RFC 6437, section 2).
            Field::FlowLabel => fields.flow_label != 0,
        }
    }

    fn explain(&self, error: EncodeError, path: &Path) -> SteerError {
        let switch = |hop: u8| {
            path.hops
                .get(usize::from(hop))
                .map_or_else(String::new, |hop| self.switch_name(hop.switch))
        };
        match error {
            EncodeError::RadixTooSmall { hop, next_hops, radix } => {
                SteerError::RadixTooSmall { switch: switch(hop), next_hops, radix }
            }
            EncodeError::NoSuchNextHop { hop, next_hop, next_hops } => {
                SteerError::NoSuchNextHop { switch: switch(hop), next_hop, next_hops }
            }
            EncodeError::TooLong { first, second, length } => {
                SteerError::TooLong { first: switch(first), second: switch(second), length }
            }
            EncodeError::TtlTooLow { ttl, .. } => {
                let needed = path.hops.len() + 1;
                SteerError::TtlTooLow { ttl, host: self.end_name(path), needed }
            }
            EncodeError::NoField => SteerError::NoField,
            EncodeError::NoneFree { tried } => SteerError::NoneFree { tried },
        }
    }

    /// The node that a path's last hop leads to.
    fn end_name(&self, path: &Path) -> String {
        let last = path.ports(self.fabric()).next_back();
        last.map_or_else(String::new, |port| self.node_name(self.fabric().ports[port as usize].to))
    }
}

/// The choices along a path, as the codec takes them.
pub fn turns(path: &Path) -> Vec<Turn> {
    let turn = |(hop, at): (usize, &heddle_fabric::Hop)| Turn {
        hop: hop as u8,
        next_hop: at.next_hop,
        next_hops: at.next_hops,
    };
    path.hops.iter().enumerate().map(turn).collect()
}
