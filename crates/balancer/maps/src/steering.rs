//! Messages between balancers, signed and checked: bpf/balancer/tag.h in Rust.
//!
//! A message is a header ([`Signed`]), and behind it the client's packet that it is about;
//! heartbeats have none.

use std::net::IpAddr;

use heddle_hashing::siphash;

use crate::abi::{STEERING_VERSION, SteeringKind};

/// Bytes of a header, with its tag.
pub const HEADER: usize = 20;
const UNSIGNED: usize = HEADER - 8;

/// A header with its tag.
pub type Signed = [u8; HEADER];

/// A key of tags: a half of `settings.steering_keys`.
pub type SteeringKey = [u64; 2];

/// The content of a steering header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its kind.
    pub kind: SteeringKind,
    /// The kind of the message that it replies to.
    pub query: Option<SteeringKind>,
    /// The token; the number of a heartbeat.
    pub token: u32,
    /// The backend's id; the sender's fingerprint in a heartbeat.
    pub backend: u32,
}

/// The fields of the packet behind a header that its tag is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inner {
    /// The source address.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The protocol: TCP, UDP or ICMP.
    pub protocol: u8,
    /// Source and destination port; 0 if there are none.
    pub ports: [u16; 2],
}

impl Message {
    /// A message of this kind that names neither token nor backend.
    pub fn of(kind: SteeringKind) -> Message {
        Message { kind, query: None, token: 0, backend: 0 }
    }

    /// A heartbeat.
    pub fn heartbeat(number: u32, fingerprint: u32) -> Message {
        Message { token: number, backend: fingerprint, ..Message::of(SteeringKind::Heartbeat) }
    }

    /// The header as this key's owner at `sender` sends it in front of `inner`.
    pub fn signed(&self, key: SteeringKey, sender: IpAddr, inner: Option<&Inner>) -> Signed {
        let query = self.query.map_or(0, |kind| kind as u8);
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&[STEERING_VERSION as u8, self.kind as u8, query, 0]);
        header[4..8].copy_from_slice(&self.token.to_be_bytes());
        header[8..UNSIGNED].copy_from_slice(&self.backend.to_be_bytes());
        sign(&mut header, key, sender, inner);
        header
    }

    /// The message in a header that `sender` has signed with one of these keys; none in another. A
    /// key of zeros signs nothing.
    pub fn verified(
        header: &Signed,
        keys: &[SteeringKey],
        sender: IpAddr,
        inner: Option<&Inner>,
    ) -> Option<Message> {
        let is_signed = |&key: &SteeringKey| {
            let mut again = *header;
            sign(&mut again, key, sender, inner);
            key != [0; 2] && again == *header
        };
        let kind_of = |kind: u8| SteeringKind::from_number(kind.into());
        let number =
            |at: usize| header[at..at + 4].iter().fold(0, |all, &b| all << 8 | u32::from(b));
        let known = header[0] == STEERING_VERSION as u8 && keys.iter().any(is_signed);
        let kind = kind_of(header[1]).filter(|_| known)?;
        Some(Message { kind, query: kind_of(header[2]), token: number(4), backend: number(8) })
    }
}

/// Writes the tag of a header, whatever its content.
pub fn sign(header: &mut Signed, key: SteeringKey, sender: IpAddr, inner: Option<&Inner>) {
    let mut bytes = header[..UNSIGNED].to_vec();
    let ports = inner.map_or([0; 2], |inner| inner.ports).map(u16::to_be_bytes);
    bytes.extend(ports.concat());
    bytes.extend(octets(sender));
    bytes.extend(inner.map_or([0; 16], |inner| octets(inner.source)));
    bytes.extend(inner.map_or([0; 16], |inner| octets(inner.destination)));
    bytes.extend([inner.map_or(0, |inner| inner.protocol), 0, 0, 0, 0, 0, 0, 0]);
    let (words, _) = bytes.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
    header[UNSIGNED..].copy_from_slice(&siphash(key, &words).to_le_bytes());
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
