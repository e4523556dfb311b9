//! Encoding of a path into header fields.

use heddle_fabric::{Path, router_choices};
use heddle_policy::cflb::{Addresses, EncodeError, Field, Fields, Ports};

use crate::{Network, PathEncoderError};

/// The header fields of a flow that the sender cannot choose, and its preferred values of the
/// others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The addresses of both ends.
    pub addresses: Addresses,
    /// The protocol's number: 6 is TCP, 17 UDP.
    pub protocol: u8,
    /// The ports, of which those are kept that do not encode the path: none with [`Field::Ports`],
    /// the destination's with [`Field::SourcePort`], both with flow labels.
    pub ports: Ports,
}

/// A path and the header fields that encode it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedPath {
    /// The header fields that the sender must use: ports or flow label, and the initial TTL.
    pub fields: Fields,
    /// The path.
    pub path: Path,
}

impl Network {
    /// Header fields that make a flow take a path: the first of its encodings, from number `start`
    /// on, that the rules allow and `is_free` accepts.
    ///
    /// # Errors
    /// [`PathEncoderError::RadixTooSmall`], [`PathEncoderError::TooLong`],
    /// [`PathEncoderError::TtlTooLow`], [`PathEncoderError::NoField`],
    /// [`PathEncoderError::NoneFree`]; [`PathEncoderError::NoSuchNextHop`] for a path of other
    /// routes.
    pub fn encode(
        &self,
        path: &Path,
        flow: &Flow,
        start: u32,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<EncodedPath, PathEncoderError> {
        let rules = self.rules();
        let lowest = self.lowest_ttl(path)?;
        let ttls = lowest.max(*rules.ttls.start())..=*rules.ttls.end();
        let Flow { addresses, protocol, ports } = *flow;
        let ttl = if rules.ttl >= lowest { rules.ttl } else { *ttls.start() };
        let fields = Fields { addresses, protocol, ports: Some(ports), flow_label: 0, ttl };
        let is_usable = |fields: &Fields| self.allows(fields) && is_free(fields);
        let encoded =
            self.codec().encode_free(&router_choices(path), &fields, ttls, start, is_usable);
        let fields = encoded.map_err(|error| self.explain(error, path))?;
        Ok(EncodedPath { fields, path: path.clone() })
    }

    /// The lowest initial TTL that reaches the end of a path: each router decrements it, and none
    /// forwards a packet whose TTL is 1.
    fn lowest_ttl(&self, path: &Path) -> Result<u8, PathEncoderError> {
        let needed = path.hops.len() + 1;
        let highest = self.rules().ttl.max(*self.rules().ttls.end());
        match u8::try_from(needed) {
            Ok(lowest) if lowest <= highest => Ok(lowest),
            _ => {
                Err(PathEncoderError::TtlTooLow { ttl: highest, host: self.end_name(path), needed })
            }
        }
    }

    /// True if the rules allow the fields that encode the path.
    fn allows(&self, fields: &Fields) -> bool {
        let Some(ports) = fields.ports else { return true };
        match self.codec().field() {
            Field::Ports => {
                self.rules().allow(ports.source) && self.rules().allow(ports.destination)
            }
            Field::SourcePort(_) => self.rules().allow(ports.source),
            // Zero means that there is no flow label (RFC 6437, section 2).
            Field::FlowLabel => fields.flow_label != 0,
        }
    }

    fn explain(&self, error: EncodeError, path: &Path) -> PathEncoderError {
        let switch = |hop: u8| {
            path.hops
                .get(usize::from(hop))
                .map_or_else(String::new, |hop| self.switch_name(hop.switch))
        };
        match error {
            EncodeError::RadixTooSmall { hop, next_hops, radix } => {
                PathEncoderError::RadixTooSmall { switch: switch(hop), next_hops, radix }
            }
            EncodeError::NoSuchNextHop { hop, next_hop, next_hops } => {
                PathEncoderError::NoSuchNextHop { switch: switch(hop), next_hop, next_hops }
            }
            EncodeError::TooLong { first, second, length } => {
                PathEncoderError::TooLong { first: switch(first), second: switch(second), length }
            }
            EncodeError::TtlTooLow { ttl, .. } => {
                let needed = path.hops.len() + 1;
                PathEncoderError::TtlTooLow { ttl, host: self.end_name(path), needed }
            }
            EncodeError::NoField => PathEncoderError::NoField,
            EncodeError::NoneFree { tried } => PathEncoderError::NoneFree { tried },
        }
    }

    /// The node that a path's last hop leads to.
    fn end_name(&self, path: &Path) -> String {
        let last = path.ports(self.fabric()).next_back();
        last.map_or_else(String::new, |port| self.node_name(self.fabric().ports[port as usize].to))
    }
}
