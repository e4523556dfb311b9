//! The steering header (`struct steering`) of a packet to another balancer, read from the frame as
//! it would leave.

use std::num::NonZeroU32;

use crate::ids::WireId;

const ETHERNET: usize = 14;
const UDP: usize = 8;
/// `backend` in `struct steering`: behind version, kind, asked, reserved and the token.
const BACKEND: usize = 8;

/// The backend that the header names, if it names one.
pub(super) fn backend(frame: &[u8]) -> Option<WireId> {
    let ip = match frame.get(ETHERNET)? >> 4 {
        4 => 20,
        _ => 40,
    };
    let bytes = frame.get(ETHERNET + ip + UDP + BACKEND..)?.first_chunk()?;
    NonZeroU32::new(u32::from_be_bytes(*bytes)).map(WireId)
}
