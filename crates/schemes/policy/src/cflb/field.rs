//! Controllable header fields.

use super::{Addresses, Fields, Ports};

/// Range of source ports that encode paths, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(from = "(u16, u16)", into = "(u16, u16)")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PortRange {
    /// The lowest.
    pub low: u16,
    /// The highest, not below `low`.
    pub high: u16,
}

impl From<(u16, u16)> for PortRange {
    fn from((low, high): (u16, u16)) -> PortRange {
        PortRange { low, high }
    }
}

impl From<PortRange> for (u16, u16) {
    fn from(range: PortRange) -> (u16, u16) {
        (range.low, range.high)
    }
}

impl PortRange {
    /// Every port.
    pub const ALL: PortRange = PortRange { low: 0, high: u16::MAX };

    /// Number of ports: 0 if `high` is below `low`.
    pub const fn len(self) -> u64 {
        (self.high as u64 + 1).saturating_sub(self.low as u64)
    }

    /// True if the range has no ports.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// The controllable fields, X bits of them. All other fields are uncontrollable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Field {
    /// Both ports, 32 bits: for senders that choose both, as MPTCP does for further subflows (the
    /// paper's choice).
    #[default]
    Ports,
    /// The source port alone, up to 16 bits, which a client chooses (section 5). Packets whose
    /// source port is outside of the range are not steered; a range is for tunnels (RFC 7348
    /// recommends 49152 to 65535) and hosts whose other ports are in use.
    SourcePort(PortRange),
    /// IPv6's flow label, 20 bits (section 5). Ports are uncontrollable then.
    FlowLabel,
}

impl Field {
    /// Number of values, at most 2^32.
    pub const fn values(self) -> u64 {
        match self {
            Field::Ports => 1 << 32,
            Field::SourcePort(range) => range.len(),
            Field::FlowLabel => 1 << 20,
        }
    }

    /// A packet's value, below [`Field::values`]. `None` if the packet has no such field, or a
    /// value outside the range.
    #[inline]
    pub fn read(self, fields: &Fields) -> Option<u32> {
        match self {
            Field::Ports => fields.ports.map(Ports::bits),
            Field::SourcePort(range) => {
                let port = fields.ports?.source;
                (range.low..=range.high).contains(&port).then(|| u32::from(port - range.low))
            }
            Field::FlowLabel => match fields.addresses {
                Addresses::V6(..) => Some(fields.flow_label & 0xf_ffff),
                Addresses::V4(..) => None,
            },
        }
    }

    /// Puts a value below [`Field::values`] into a packet that has the field; `None` if it has not.
    pub(super) fn write(self, fields: &Fields, value: u32) -> Option<Fields> {
        let ports = match self {
            Field::Ports => fields.ports.map(|_| Ports::from_bits(value)),
            Field::SourcePort(range) => fields
                .ports
                .map(|ports| Ports { source: range.low.wrapping_add(value as u16), ..ports }),
            Field::FlowLabel => {
                let is_v6 = matches!(fields.addresses, Addresses::V6(..));
                return is_v6.then_some(Fields { flow_label: value, ..*fields });
            }
        };
        ports.map(|ports| Fields { ports: Some(ports), ..*fields })
    }
}
