//! The expected results of the balancer's search for MPTCP options (bpf/common/options.h), by
//! [`heddle_wire`]'s parser.

use heddle_wire::mptcp::{CapableKeys, MpCapable, MpJoin, MptcpOption};
use heddle_wire::{Key, ParseError, TcpFlags, Token, Version, tcp};

/// `enum mptcp_kind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// No MPTCP option.
    #[default]
    None,
    /// SYN: MP_CAPABLE in the form that a SYN has.
    CapableSyn,
    /// Not a SYN: MP_CAPABLE with both keys.
    CapableKeys,
    /// SYN: MP_JOIN with a token.
    JoinSyn,
    /// Not a SYN: DSS.
    Dss,
    /// Not a SYN: the MP_JOIN that ends a join's handshake.
    JoinAck,
    /// None of these, but another MPTCP option, or one of these that is out of its place.
    Other,
    /// None of these, and an MPTCP option or an option's length makes no sense.
    Malformed,
}

impl Kind {
    /// The kind of this number in C; a number that C does not have counts as [`Kind::Malformed`].
    pub(super) const fn from_c(kind: u8) -> Kind {
        match kind {
            0 => Kind::None,
            1 => Kind::CapableSyn,
            2 => Kind::CapableKeys,
            3 => Kind::JoinSyn,
            4 => Kind::Dss,
            5 => Kind::JoinAck,
            6 => Kind::Other,
            _ => Kind::Malformed,
        }
    }
}

/// `struct mptcp_found`. What is not there is 0; fields but `kind` are there only of the five kinds
/// that are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The kind of option found.
    pub kind: Kind,
    /// MP_CAPABLE's version.
    pub version: u8,
    /// MP_CAPABLE's flags A to H.
    pub flags: u8,
    /// The option's offset, in bytes from the start of the options.
    pub at: u8,
    /// Its length in bytes.
    pub length: u8,
    /// Of [`Kind::JoinSyn`].
    pub token: Token,
    /// The receiver's of [`Kind::CapableKeys`], the sender's of [`Kind::CapableSyn`] in version 0.
    pub key: Key,
}

/// The expected result for the option area of a TCP header with these flags.
pub fn expected(options: &[u8], flags: TcpFlags) -> Found {
    if options.len() > tcp::MAX_OPTION_BYTES {
        return Kind::Malformed.into();
    }
    let syn = flags.contains(TcpFlags::SYN) && !flags.contains(TcpFlags::ACK);
    let mut seen = Kind::None;
    let mut end = 0;
    for option in tcp::options(options) {
        let at = option.bytes.as_ptr().addr() - options.as_ptr().addr();
        end = at + option.bytes.len();
        if option.kind != tcp::MPTCP {
            continue;
        }
        let found = read(option.bytes, syn);
        if found.kind < Kind::Other {
            return Found { at: byte(at), length: byte(option.bytes.len()), ..found };
        }
        seen = seen.max(found.kind);
    }
    let rest = options.get(end..).unwrap_or_default();
    if is_padding(rest) { seen.into() } else { Kind::Malformed.into() }
}

/// True if nothing but padding was left at the end of the walk: no-operations, then the end or an
/// end-of-list.
fn is_padding(rest: &[u8]) -> bool {
    rest.iter().find(|&&kind| kind != 1).is_none_or(|&kind| kind == 0)
}

/// An offset within 40 bytes.
fn byte(offset: usize) -> u8 {
    u8::try_from(offset).unwrap_or(u8::MAX)
}

fn read(option: &[u8], syn: bool) -> Found {
    // The balancer does not look into other subtypes.
    if option.get(2).is_some_and(|byte| byte >> 4 > 2) {
        return Kind::Other.into();
    }
    match MptcpOption::parse(option) {
        Ok(MptcpOption::Capable(capable)) => read_capable(capable, syn),
        Ok(MptcpOption::Join(MpJoin::Syn { token, .. })) if syn => {
            Found { kind: Kind::JoinSyn, token, ..Found::default() }
        }
        Ok(MptcpOption::Join(MpJoin::Ack { .. })) if !syn => Kind::JoinAck.into(),
        Ok(MptcpOption::Dss(_)) if !syn => Kind::Dss.into(),
        Ok(_) | Err(ParseError::Version(_)) => Kind::Other.into(),
        Err(_) => Kind::Malformed.into(),
    }
}

fn read_capable(capable: MpCapable, syn: bool) -> Found {
    let (kind, key) = match (capable.keys, capable.version) {
        (CapableKeys::None, Version::V1) if syn => (Kind::CapableSyn, Key::default()),
        (CapableKeys::Sender(key), Version::V0) if syn => (Kind::CapableSyn, key),
        (CapableKeys::Both { receiver, .. } | CapableKeys::WithData { receiver, .. }, _)
            if !syn =>
        {
            (Kind::CapableKeys, receiver)
        }
        _ => return Kind::Other.into(),
    };
    let version = match capable.version {
        Version::V0 => 0,
        Version::V1 => 1,
    };
    Found { kind, version, flags: capable.flags.0, key, ..Found::default() }
}

impl From<Kind> for Found {
    fn from(kind: Kind) -> Found {
        Found { kind, ..Found::default() }
    }
}
