//! A hash modulo the number of next hops (figure 3a).

use heddle_policy::cflb::Fields;
use heddle_policy::mix;

use super::{Hash, NextHop, Tuple};

/// Use of a router's number in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Salting {
    /// It stands behind the 5-tuple, as in algorithm 1. It decorrelates routers only if the hash is
    /// not linear.
    Appended,
    /// The hash of the 5-tuple is mixed with it by MurmurHash3's finaliser, which is not linear.
    Mixed,
}

/// A hash modulo the number of next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashModulo {
    /// The hash.
    pub hash: Hash,
    /// Use of the router's number.
    pub salting: Salting,
}

impl HashModulo {
    /// Such as "crc16" or "crc16, mixed".
    pub fn name(&self) -> String {
        let name = self.hash.name();
        match self.salting {
            Salting::Appended => name.to_owned(),
            Salting::Mixed => format!("{name}, mixed"),
        }
    }
}

impl NextHop for HashModulo {
    #[inline]
    fn next_hop(&self, fields: &Fields, router: u32, next_hops: u16) -> u16 {
        let tuple = Tuple::new(fields);
        let hash = match self.salting {
            Salting::Appended => self.hash.of(tuple.with_router(router).bytes()),
            Salting::Mixed => mix(self.hash.of(tuple.bytes()), router),
        };
        (hash % u32::from(next_hops.max(1))) as u16
    }
}
