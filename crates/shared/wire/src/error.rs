//! Why bytes are not a header, and why a header cannot become bytes.

/// Why bytes do not hold what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Another kind of option, or another protocol.
    #[error("another kind of header")]
    OtherKind,
    /// Cut short, or of a length that no form of it has.
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

/// Why a representation was not written. The buffer may hold a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The buffer is shorter than the header.
    #[error("the buffer is too short")]
    NoRoom,
    /// Version 0 has no such form.
    #[error("MPTCP version 0 has no such form")]
    NotInVersion0,
}
