//! The options of a TCP header (RFC 9293 section 3.1).

/// The kind of MPTCP's options (RFC 6824 section 8, RFC 8684 section 3).
pub const MPTCP: u8 = 30;

/// The most bytes of options that a TCP header has room for.
pub const MOST_OPTION_BYTES: usize = 40;

const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;

/// One option of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TcpOption<'a> {
    /// Its kind; never 0 (end of list) or 1 (no operation).
    pub kind: u8,
    /// All of it, kind and length included; at least 2 bytes.
    pub bytes: &'a [u8],
}

/// Walks over the options in the option area of a TCP header.
///
/// No-operations are passed over. The walk stops at an end-of-list, and at an option whose length is
/// less than 2 or more than there is: what follows such an option cannot be told.
pub const fn options(bytes: &[u8]) -> TcpOptions<'_> {
    TcpOptions { rest: bytes }
}

/// The iterator of [`options`].
#[derive(Clone, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = TcpOption<'a>;

    fn next(&mut self) -> Option<TcpOption<'a>> {
        let padding = self.rest.iter().take_while(|&&kind| kind == NO_OPERATION).count();
        let (option, rest) = split_option(self.rest.get(padding..)?).unwrap_or_default();
        self.rest = rest;
        Some(TcpOption { kind: *option.first()?, bytes: option })
    }
}

/// The option at the front of `bytes` and what follows; `None` at the end of the list and at a bad length.
fn split_option(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match bytes {
        [END_OF_LIST, ..] | [_, 0 | 1, ..] => None,
        [_, len, ..] => bytes.split_at_checked(usize::from(*len)),
        _ => None,
    }
}

impl core::iter::FusedIterator for TcpOptions<'_> {}
