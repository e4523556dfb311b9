//! Limits of the connections that are opened at services.

use aya::maps::{Array, Map, MapData};

use crate::Error;
use crate::abi::AccessLimit;

/// The connections that a service's clients may open in a second at this balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceLimit {
    /// All of them; 0: any number.
    pub service: u32,
    /// Those of one source prefix; 0: any number.
    pub source: u32,
    /// Bits of an IPv4 source prefix: 1 to 32.
    pub ipv4_bits: u8,
    /// Bits of an IPv6 source prefix: 1 to 128.
    pub ipv6_bits: u8,
}

/// IPv4 addresses are mapped.
const MAPPED_BITS: u8 = 96;

impl From<ServiceLimit> for AccessLimit {
    fn from(limit: ServiceLimit) -> AccessLimit {
        AccessLimit {
            service: limit.service,
            source: limit.source,
            ipv4_bits: MAPPED_BITS + limit.ipv4_bits.min(32),
            ipv6_bits: limit.ipv6_bits.min(128),
            ..AccessLimit::default()
        }
    }
}

impl From<AccessLimit> for ServiceLimit {
    fn from(limit: AccessLimit) -> ServiceLimit {
        ServiceLimit {
            service: limit.service,
            source: limit.source,
            ipv4_bits: limit.ipv4_bits.saturating_sub(MAPPED_BITS),
            ipv6_bits: limit.ipv6_bits,
        }
    }
}

/// The limits, by service.
pub struct AccessLimits {
    map: Array<MapData, AccessLimit>,
}

impl AccessLimits {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// The limit of a service; none if it has none.
    ///
    /// # Errors
    /// [`Error::Map`] if the number is too large.
    pub fn get(&self, service: u16) -> Result<Option<ServiceLimit>, Error> {
        let limit = ServiceLimit::from(self.map.get(&service.into(), 0)?);
        Ok((limit.service != 0 || limit.source != 0).then_some(limit))
    }

    /// Sets a service's limit, or takes it away. What was counted in this second is forgotten.
    ///
    /// # Errors
    /// [`Error::Map`] if the number is too large.
    pub fn set(&mut self, service: u16, limit: Option<ServiceLimit>) -> Result<(), Error> {
        let limit = limit.map(AccessLimit::from).unwrap_or_default();
        Ok(self.map.set(service.into(), limit, 0)?)
    }

    /// The capacity, number 0 included.
    pub fn room(&self) -> u32 {
        self.map.len()
    }
}
