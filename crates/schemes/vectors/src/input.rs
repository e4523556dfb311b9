//! Inputs of steps.

use std::net::IpAddr;

use heddle_policy::cflb::{self, Addresses};
use heddle_policy::{Header, Ingress, MptcpId, Port, Subflow, Tor};
use serde::{Deserialize, Serialize};

/// Input of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// A data packet to another ToR.
    Packet(Packet),
    /// A data packet from the fabric at its destination ToR (MP-HULA, Shuttle, CONGA).
    Egress(ShimPacket),
    /// A packet of a handshake or teardown at a ToR (MP-HULA, Shuttle).
    Handshake(HandshakePacket),
    /// A received probe (HULA, MP-HULA, Shuttle).
    Probe(ProbeInput),
    /// Time to send a probe (HULA, MP-HULA, Shuttle).
    Originate(Originate),
    /// A packet starts transmission (estimator).
    Sent(Sent),
    /// The estimator is read.
    Utilisation(Utilisation),
}

/// Side on which a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// A host of this ToR.
    Host,
    /// Another switch.
    Fabric,
}

/// A data packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// Hash of the 5-tuple.
    pub flow_hash: u32,
    /// ToR of the receiving host.
    pub dst_tor: u16,
    /// Side of arrival.
    pub from: Side,
    /// Next hops in order: distinct ports of the switch, at least one.
    pub next_hops: Vec<u16>,
    /// Ports of the switch that are down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub down: Vec<u16>,
    /// Load of the switch's own ports (Shuttle). Other ports are idle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<PortLoad>,
    /// MP-HULA's shim on arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shim: Option<Shim>,
    /// CONGA's tag on arrival.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tag: u16,
    /// Header fields that CFLB reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Fields>,
}

/// Load of a port: its number, its transmit utilisation of 65536, and the bytes in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortLoad(pub u16, pub u16, pub u32);

/// MP-HULA's shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shim {
    /// MPTCP ID in hex: token A, token B.
    #[serde(with = "hex_word")]
    pub id: u64,
    /// Subflow number, 1 to 16.
    pub subflow: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(number: &u16) -> bool {
    *number == 0
}

/// A packet that may have a shim or a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShimPacket {
    /// The shim on arrival.
    #[serde(default)]
    pub shim: Option<Shim>,
    /// The ToR of the sending host (CONGA).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub src_tor: u16,
    /// CONGA's tag on arrival.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tag: u16,
}

/// CFLB's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fields {
    /// Source address; IPv4 or IPv6 as `destination`.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol number.
    pub protocol: u8,
    /// Source and destination port.
    pub ports: Option<(u16, u16)>,
    /// IPv6's flow label.
    pub flow_label: u32,
    /// TTL or hop limit on arrival.
    pub ttl: u8,
}

/// A TCP packet that a ToR parses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandshakePacket {
    /// Hash of the 5-tuple in the direction from the ToR's host.
    pub out_hash: u32,
    /// From the host or to it.
    pub from: Side,
    /// TCP flags, CWR to FIN.
    pub flags: u8,
    /// Option area of the TCP header in hex, at most 40 bytes.
    #[serde(with = "hex_bytes")]
    pub options: Vec<u8>,
}

/// A received probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeInput {
    /// Ingress port.
    pub port: u16,
    /// ToR that originated it.
    pub tor: u16,
    /// Utilisation in the probe's quantisation.
    pub util: u16,
    /// True if `port` is a next hop towards `tor`.
    pub next_hop: bool,
    /// Transmit utilisation of `port`, of 65536.
    pub link_util: u16,
    /// Load of the other ports (Shuttle). Those that are not listed are idle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<PortLoad>,
}

/// Nothing but the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Originate {}

/// A packet that starts transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// Its bytes.
    pub bytes: u32,
}

/// Nothing but the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Utilisation {}

impl Side {
    /// As the policy has it.
    pub const fn policy(self) -> Ingress {
        match self {
            Side::Host => Ingress::Host,
            Side::Fabric => Ingress::Fabric,
        }
    }
}

impl Shim {
    /// As the policy has it; `None` if the subflow's number is none.
    pub fn policy(self) -> Option<heddle_policy::Shim> {
        Subflow::new(self.subflow)
            .map(|subflow| heddle_policy::Shim { id: MptcpId(self.id), subflow })
    }

    /// From the policy's.
    pub const fn of(shim: heddle_policy::Shim) -> Shim {
        Shim { id: shim.id.0, subflow: shim.subflow.number() }
    }
}

impl Fields {
    /// As the policy has it; `None` for addresses of two families.
    pub fn policy(&self) -> Option<cflb::Fields> {
        Some(cflb::Fields {
            addresses: Addresses::new(self.source, self.destination)?,
            protocol: self.protocol,
            ports: self.ports.map(|(source, destination)| cflb::Ports { source, destination }),
            flow_label: self.flow_label,
            ttl: self.ttl,
        })
    }
}

impl Packet {
    /// As the policy has it.
    pub fn header(&self) -> Header {
        Header {
            flow_hash: self.flow_hash,
            src_tor: Tor(0),
            dst_tor: Tor(self.dst_tor),
            ingress: self.from.policy(),
            tag: self.tag,
            shim: self.shim.and_then(Shim::policy),
            fields: self.fields.and_then(|fields| fields.policy()),
        }
    }

    /// The next hops as the policy has them.
    pub fn hops(&self) -> Vec<Port> {
        self.next_hops.iter().copied().map(Port).collect()
    }
}

/// A number of 64 bits as 16 hex digits.
pub(crate) mod hex_word {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(word: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{word:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        u64::from_str_radix(&text, 16).map_err(|_| D::Error::custom("not 16 hex digits"))
    }
}

/// Bytes as hex digits.
pub(crate) mod hex_bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let byte = |pair: &[u8]| {
            let digits = str::from_utf8(pair).ok().filter(|digits| digits.len() == 2)?;
            u8::from_str_radix(digits, 16).ok()
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        bytes.ok_or_else(|| D::Error::custom("not hex digits in pairs"))
    }
}
