//! MP-HULA's header between ToRs (MP-HULA section 2.2).

/// Names an MPTCP connection in the fabric: token A (of the end that opened it) and token B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MptcpId(pub u64);

/// A subflow's number within its connection, 1 to 16: the first subflow is 1. On the wire 4 bits carry the number less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subflow(u8);

/// What a ToR adds to the packets of a connection that has more than one subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shim {
    /// The connection.
    pub id: MptcpId,
    /// The subflow.
    pub subflow: Subflow,
}

impl Subflow {
    /// Subflows that 4 bits can tell apart.
    pub const MOST: u8 = 16;

    /// The first subflow, the one that opened the connection.
    pub const FIRST: Subflow = Subflow(1);

    /// The subflow with a number; `None` unless it is 1 to 16.
    pub const fn new(number: u8) -> Option<Subflow> {
        if number >= 1 && number <= Subflow::MOST { Some(Subflow(number)) } else { None }
    }

    /// Its number, from 1.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Shim {
    /// Bytes on the wire: the ID (8), the subflow (4 bits) and 12 reserved bits, the EtherType of what follows (2).
    pub const BYTES: usize = 12;
}
