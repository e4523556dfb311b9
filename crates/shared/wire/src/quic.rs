//! Connection ids of QUIC that name a server (draft-ietf-quic-load-balancers-21, without
//! encryption):
//!
//! ```text
//! first octet: config rotation (3 bits), length or random (5 bits)
//! server id (1 to 15 bytes)
//! nonce (4 bytes or more)
//! ```
//!
//! The place of the destination connection id is the same in all versions of QUIC (RFC 8999,
//! sections 5.1 and 5.2): behind five bytes and its length in a long header, behind one byte, and
//! without a length, in a short one. No other field of a packet is read.

/// The form of the connection ids by which a service's servers are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerIds {
    rotation: u8,
    length: u8,
}

/// A connection id that names no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unroutable {
    /// The datagram has fewer than [`LEAST_DATAGRAM`] bytes.
    #[error("the datagram has fewer than {LEAST_DATAGRAM} bytes")]
    Datagram,
    /// The connection id of a long header is longer than the datagram.
    #[error("the connection id ends behind the datagram")]
    Cut,
    /// It has no room for first octet, server id and nonce.
    #[error("the connection id has fewer than {0} bytes")]
    Length(u8),
    /// Another config rotation: another configuration's, a client's random choice, or 7, by which a
    /// server says that it names none.
    #[error("its config rotation is {0}")]
    Rotation(u8),
}

/// The least datagram that is read: a long header up to a server id of any length, and one byte
/// more. No packet of QUIC with such a connection id is shorter: behind a short header and six
/// bytes of it come at least 20 of packet number and ciphertext (RFC 9001, section 5.4.2).
pub const LEAST_DATAGRAM: usize = LONG_ID + 1 + MOST_SERVER_ID as usize + 1;

/// The longest server id in bytes.
pub const MOST_SERVER_ID: u8 = 15;

/// The highest config rotation: 7 is reserved for connection ids that name no server.
pub const MOST_ROTATION: u8 = 6;

const LONG_HEADER: u8 = 0x80;
const LONG_ID: usize = 6;
const SHORT_ID: usize = 1;
const LEAST_NONCE: u8 = 4;

impl ServerIds {
    /// Server ids of `length` bytes in connection ids with this config rotation; `None` unless that
    /// is at most [`MOST_ROTATION`], and the length 1 to [`MOST_SERVER_ID`].
    pub const fn new(rotation: u8, length: u8) -> Option<ServerIds> {
        if rotation <= MOST_ROTATION && length >= 1 && length <= MOST_SERVER_ID {
            Some(ServerIds { rotation, length })
        } else {
            None
        }
    }

    /// The config rotation, 0 to [`MOST_ROTATION`].
    pub const fn rotation(self) -> u8 {
        self.rotation
    }

    /// The length of a server id in bytes, 1 to [`MOST_SERVER_ID`].
    pub const fn length(self) -> u8 {
        self.length
    }

    /// The least connection id in bytes: first octet, server id, nonce.
    pub const fn least_id(self) -> u8 {
        1 + self.length + LEAST_NONCE
    }

    /// The server id in the first packet of a UDP datagram's payload.
    ///
    /// # Errors
    /// [`Unroutable`] if the connection id is not of this form.
    pub fn find(self, datagram: &[u8]) -> Result<&[u8], Unroutable> {
        let id = destination_id(datagram)?;
        if id.len() < usize::from(self.least_id()) {
            return Err(Unroutable::Length(self.least_id()));
        }
        let (first, rest) = id.split_first().ok_or(Unroutable::Datagram)?;
        let rotation = first >> 5;
        if rotation != self.rotation {
            return Err(Unroutable::Rotation(rotation));
        }
        rest.get(..self.length.into()).ok_or(Unroutable::Datagram)
    }
}

/// The destination connection id; of a short header, which has no length of it, with all that
/// follows.
fn destination_id(datagram: &[u8]) -> Result<&[u8], Unroutable> {
    let (Some(first), true) = (datagram.first(), datagram.len() >= LEAST_DATAGRAM) else {
        return Err(Unroutable::Datagram);
    };
    if first & LONG_HEADER == 0 {
        return Ok(&datagram[SHORT_ID..]);
    }
    let length = usize::from(datagram[LONG_ID - 1]);
    datagram.get(LONG_ID..LONG_ID + length).ok_or(Unroutable::Cut)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const IDS: ServerIds = ServerIds::new(2, 3).unwrap();
    /// Config rotation 2, seven bytes behind the first octet; server id 0xed793a, nonce 0x01020304.
    const ID: [u8; 8] = [0x47, 0xed, 0x79, 0x3a, 1, 2, 3, 4];

    fn short(id: &[u8], bytes: usize) -> Vec<u8> {
        let mut datagram = [&[0x40], id].concat();
        datagram.resize(bytes, 0xff);
        datagram
    }

    fn long(id: &[u8], length: u8, bytes: usize) -> Vec<u8> {
        let mut datagram = [&[0xc0, 0, 0, 0, 1, length], id].concat();
        datagram.resize(bytes, 0xff);
        datagram
    }

    #[test]
    fn both_headers_have_the_server_id() {
        let found = Ok(&[0xed, 0x79, 0x3a][..]);
        assert_eq!(IDS.find(&short(&ID, LEAST_DATAGRAM)), found);
        assert_eq!(IDS.find(&long(&ID, 8, 1200)), found);
        assert_eq!(IDS.find(&long(&ID, 8, LEAST_DATAGRAM)), found);
        let other_version = [&[0x80, 0xde, 0xad, 0xbe, 0xef, 8], &ID[..], &[0; 20]].concat();
        assert_eq!(IDS.find(&other_version), found, "whatever the version and the other bits");
    }

    /// The draft's appendix "Load Balancer Test Vectors", the first of those without encryption.
    #[test]
    fn the_drafts_connection_id_has_the_drafts_server_id() {
        let ids = ServerIds::new(0, 3).unwrap();
        let id = [0x07, 0xc4, 0x60, 0x5e, 0x45, 0x04, 0xcc, 0x4f];
        assert_eq!(ids.find(&short(&id, 30)), Ok(&[0xc4, 0x60, 0x5e][..]));
    }

    #[test]
    fn what_is_too_short_names_none() {
        assert_eq!(IDS.find(&[]), Err(Unroutable::Datagram));
        assert_eq!(IDS.find(&short(&ID, 21)), Err(Unroutable::Datagram));
        assert_eq!(IDS.find(&long(&ID, 7, 1200)), Err(Unroutable::Length(8)));
        assert_eq!(IDS.find(&long(&ID, 0, 1200)), Err(Unroutable::Length(8)));
        assert_eq!(IDS.find(&long(&ID, 255, 200)), Err(Unroutable::Cut));
        assert_eq!(IDS.find(&long(&ID, 18, LEAST_DATAGRAM)), Err(Unroutable::Cut));
    }

    #[test]
    fn other_rotations_name_none() {
        for rotation in [0, 1, 3, 4, 5, 6, 7] {
            let id = [&[rotation << 5 | 7], &ID[1..]].concat();
            assert_eq!(IDS.find(&short(&id, 40)), Err(Unroutable::Rotation(rotation)));
        }
    }

    #[test]
    fn lengths_and_rotations_have_bounds() {
        for (rotation, length) in [(7, 1), (0, 0), (0, 16), (255, 255)] {
            assert_eq!(ServerIds::new(rotation, length), None);
        }
        let longest = ServerIds::new(6, 15).unwrap();
        let id = [&[0xd3][..], &[9; 15], &[0; 4]].concat();
        assert_eq!(longest.find(&short(&id, 40)), Ok(&[9; 15][..]));
        assert_eq!(longest.find(&long(&id, 19, 40)), Err(Unroutable::Length(20)));
    }
}
