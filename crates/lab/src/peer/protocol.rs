//! The requests of a client.

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
    /// Followed by the payload of `up` bytes; answered by a verdict and the payload of `down` bytes of the seed's complement.
    Exchange { up: u32, down: u32, seed: u64 },
}

/// Response byte to a ping, and to an upload that arrived intact.
pub(crate) const INTACT: u8 = 1;

/// Response byte to an upload with a wrong byte.
pub(crate) const DAMAGED: u8 = 0;

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
