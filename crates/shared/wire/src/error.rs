//! Errors of parsing and emission.

/// Error of parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The bytes are another kind of option, or another protocol.
    #[error("another kind of header")]
    OtherKind,
    /// The header is truncated, or has a length that none of its forms has.
    #[error("no form of this header has this length")]
    Length,
    /// A fragment of an IP packet, and not the first: it has no transport header.
    #[error("a later fragment of an IP packet")]
    Fragment,
    /// An MPTCP subtype that neither RFC defines.
    #[error("MPTCP subtype {0:#x} is not defined")]
    Subtype(u8),
    /// A version of MPTCP other than 0 and 1.
    #[error("MPTCP version {0} is not known")]
    Version(u8),
    /// An address family that does not go with the header's length, or is not IPv4 or IPv6.
    #[error("the address family is not the one this length has")]
    AddressFamily,
}

/// Error of emission. The buffer may contain a part of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The buffer is shorter than the header.
    #[error("the buffer is too short")]
    NoRoom,
    /// Version 0 has no such form.
    #[error("MPTCP version 0 has no such form")]
    NotInVersion0,
}
