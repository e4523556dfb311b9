//! The requests of a client, and the response to an upload.

use super::payload::Damage;

/// Bytes of a request.
pub(crate) const REQUEST: usize = 17;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// The server's name. Answered by a byte of length, and the name.
    Name,
    /// Answered by one byte.
    Ping,
    /// Answered by the payload.
    Download { bytes: u64, seed: u64 },
    /// Followed by the payload; answered by one of the verdicts below.
    Upload { bytes: u64, seed: u64 },
    /// Followed by the payload of `up` bytes; answered by a verdict and the payload of `down` bytes
    /// of the seed's complement.
    Exchange { up: u32, down: u32, seed: u64 },
}

/// Response byte to a ping, and to an upload that arrived intact.
pub(crate) const INTACT: u8 = 1;

/// Response byte to an upload with a wrong byte; its place follows, and that of the bytes that came
/// instead, or [`NOWHERE`].
pub(crate) const DAMAGED: u8 = 0;

/// Bytes of the two places after [`DAMAGED`].
pub(crate) const PLACES: usize = 16;

const NOWHERE: u64 = u64::MAX;

/// The response to an upload.
pub(crate) fn encode_verdict(verdict: Result<(), Damage>) -> Vec<u8> {
    let Err(Damage { at, came_from }) = verdict else { return vec![INTACT] };
    let places = [at, came_from.unwrap_or(NOWHERE)].map(u64::to_be_bytes);
    [&[DAMAGED], places.as_flattened()].concat()
}

/// The damage that is encoded after [`DAMAGED`].
pub(crate) fn decode_damage(places: [u8; PLACES]) -> Damage {
    let both = u128::from_be_bytes(places);
    let [at, came_from] = [(both >> 64) as u64, both as u64];
    Damage { at, came_from: (came_from != NOWHERE).then_some(came_from) }
}

impl Request {
    pub(crate) fn encode(self) -> [u8; REQUEST] {
        let (kind, first, second) = match self {
            Request::Name => (0, 0, 0),
            Request::Ping => (1, 0, 0),
            Request::Download { bytes, seed } => (2, bytes, seed),
            Request::Upload { bytes, seed } => (3, bytes, seed),
            Request::Exchange { up, down, seed } => {
                (4, u64::from(up) << 32 | u64::from(down), seed)
            }
        };
        let mut encoded = [kind; REQUEST];
        encoded[1..9].copy_from_slice(&u64::to_be_bytes(first));
        encoded[9..].copy_from_slice(&u64::to_be_bytes(second));
        encoded
    }

    /// `None` for an unknown kind.
    pub(crate) fn decode(encoded: [u8; REQUEST]) -> Option<Request> {
        let (kind, numbers) = encoded.split_first()?;
        let (first, second) = numbers.split_first_chunk()?;
        let bytes = u64::from_be_bytes(*first);
        let seed = u64::from_be_bytes(second.try_into().ok()?);
        match kind {
            0 => Some(Request::Name),
            1 => Some(Request::Ping),
            2 => Some(Request::Download { bytes, seed }),
            3 => Some(Request::Upload { bytes, seed }),
            4 => Some(Request::Exchange { up: (bytes >> 32) as u32, down: bytes as u32, seed }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_wrong_byte() {
        assert_eq!(encode_verdict(Ok(())), [INTACT]);
        for came_from in [None, Some(7)] {
            let damage = Damage { at: 1 << 40, came_from };
            let encoded = encode_verdict(Err(damage));
            assert_eq!(encoded[0], DAMAGED);
            assert_eq!(decode_damage(encoded[1..].try_into().unwrap()), damage);
        }
    }

    #[test]
    fn a_request_is_what_it_was() {
        let download = Request::Download { bytes: 1, seed: 2 };
        let expected = [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2];
        assert_eq!(download.encode(), expected);
        let upload = Request::Upload { bytes: u64::MAX, seed: 7 };
        let exchange = Request::Exchange { up: 1, down: u32::MAX, seed: 7 };
        for request in [Request::Name, Request::Ping, download, upload, exchange] {
            assert_eq!(Request::decode(request.encode()), Some(request));
        }
        assert_eq!(Request::decode([5; REQUEST]), None);
    }
}
