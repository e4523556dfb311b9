//! The next-hop choosers that are compared: hashes of the 5-tuple modulo N (figure 3a), and CFLB's
//! routers (figure 3b).
//!
//! CRC16 is CRC-16/ARC, the `crc16` of Linux, in whose kernel the paper measured. CRC and Toeplitz
//! are linear: a router number behind the 5-tuple turns over the same bits of every flow's hash
//! ([`Salting::Appended`]). Routers one behind the other then agree about all flows or differ about
//! all of them, and of N^R paths few are used. [`Salting::Mixed`] is the remedy: a mixing that is
//! not linear.
//!
//! CFLB has a like weakness: equation 3 shifts all digits by one H(u), so that flows with one value
//! in the controllable fields have B sequences of digits at most. With both ports hardly any flows
//! share a value. With the source port all replies of a service do, and routers one behind the
//! other do not decide independently about them, unless B is well above N, where nearly all fall to
//! the hash of equation 7.

mod baseline;
mod hash;
mod modulo;
mod router;
mod toeplitz;
mod tuple;

pub use baseline::{Empty, RoundRobin};
pub use hash::Hash;
pub use modulo::{HashModulo, Salting};
pub use router::CflbRouter;
pub use toeplitz::{MICROSOFT_KEY, toeplitz};
pub use tuple::Tuple;

use heddle_policy::cflb::{Cipher, Field, Fields, PortRange};

/// A function that chooses next hops.
pub trait NextHop: Send + Sync {
    /// The next hop, below `next_hops` (at least 1), that router number `router` chooses for a
    /// packet with these fields.
    fn next_hop(&self, fields: &Fields, router: u32, next_hops: u16) -> u16;
}

/// A named function that chooses next hops.
pub struct Chooser {
    /// As a figure's legend has it, such as "md5" or "rc5, B = 4".
    pub name: String,
    /// The function.
    pub function: Box<dyn NextHop>,
}

impl Chooser {
    /// A function with its name.
    pub fn new(name: impl Into<String>, function: impl NextHop + 'static) -> Chooser {
        Chooser { name: name.into(), function: Box::new(function) }
    }
}

/// All that are compared where routers have `next_hops` next hops: [`hashes`], then [`routers`].
pub fn choosers(next_hops: u16) -> Vec<Chooser> {
    hashes().into_iter().chain(routers(next_hops)).collect()
}

/// Hash modulo N: every hash with the router number behind the 5-tuple ("md5"), and the linear ones
/// with it mixed in ("crc16, mixed").
pub fn hashes() -> Vec<Chooser> {
    let appended = [Hash::Crc16, Hash::Crc32, Hash::Toeplitz, Hash::Xxh64, Hash::Md5];
    let appended = appended.map(|hash| HashModulo { hash, salting: Salting::Appended });
    let mixed = [Hash::Crc16, Hash::Crc32, Hash::Toeplitz];
    let mixed = mixed.map(|hash| HashModulo { hash, salting: Salting::Mixed });
    appended
        .into_iter()
        .chain(mixed)
        .map(|function| Chooser::new(function.name(), function))
        .collect()
}

/// CFLB: each cipher on both ports and the Feistel network on the source port too, with B of 4, 16
/// and `next_hops` + 1 as far as they are not below `next_hops`; with the rules that spread evenly
/// and as published ("rc5, B = 3, as published").
pub fn routers(next_hops: u16) -> Vec<Chooser> {
    let source_port = Field::SourcePort(PortRange::ALL);
    let ciphers = [
        (Cipher::Rc5, Field::Ports),
        (Cipher::Skip32, Field::Ports),
        (Cipher::Feistel, Field::Ports),
        (Cipher::Feistel, source_port),
    ];
    let radices = radices(next_hops);
    let each = ciphers.iter().flat_map(|&(cipher, field)| {
        radices.iter().flat_map(move |&radix| CflbRouter::settings(cipher, field, radix))
    });
    each.map(|function| Chooser::new(function.name(), function)).collect()
}

/// Two powers of two and, for one that is usually none, the least B that leaves a digit over.
fn radices(next_hops: u16) -> Vec<u16> {
    let mut radices = vec![next_hops.saturating_add(1), 4, 16];
    radices.retain(|radix| *radix >= next_hops);
    radices.sort_unstable();
    radices.dedup();
    radices
}

#[cfg(test)]
mod tests;
