//! CFLB, controllable per-flow load balancing (Detal et al., Computer Networks 2013): a sender
//! encodes the path of a flow in header fields that it controls, and routers decode it without
//! state.
//!
//! A path is a sequence of choices among next hops. It is written as an unsigned number in base B,
//! the *path selector*, one digit a router; a router's digit is the one at its TTL modulo the
//! number of digits ([`Radix`]). Each digit is shifted by a hash of the fields that a sender cannot
//! choose (equation 3), and the selector goes through an invertible function with avalanche, F
//! ([`Function`]), into the fields that it can ([`Field`]). A router inverts F and takes the next
//! hop of its digit; flows that are not steered have random digits, and a digit without a next hop
//! is replaced by a hash (equation 7).
//!
//! [`Codec`] has both sides: [`Codec::decide`] is a router, [`Codec::encode`] a sender. [`Cflb`] is
//! the router as a [`crate::Scheme`].
//!
//! Details that the paper leaves open:
//!
//! - H is MurmurHash3 (x86, 32 bits) over 32-bit words; H(u) mod B is computed by multiplication.
//!   The hash that decides without a digit covers H(u), the controllable fields and the router's
//!   number, so that routers in a row decide independently.
//! - Equation 3 shifts all digits of a packet by the same H(u). Where few values of the
//!   controllable fields occur, as in replies from one server port when the source port encodes the
//!   path, the digits of routers in a row have few different distances, and few of the paths
//!   through them are used. [`Rules::Even`] shifts each digit by a hash of H(u) and its position,
//!   [`Rules::AsPublished`] does not.
//! - B^L is less than the number of values that the fields have, unless B is a power of two. A
//!   sender never writes a selector from B^L up. By the paper's equation 6 such a selector has
//!   digits all the same, and the highest one is 0 too often: with B = 3 and 32 bits in 46 of 100
//!   cases. [`Rules::Even`] hashes these packets instead, [`Rules::AsPublished`] does not.
//! - Fragments and protocols without ports have no ports to read: they are hashed.
//! - Routers L apart read the same digit: beyond L routers choices are not independent, and flows
//!   that are not steered polarise. A wide field and a small base keep L above the length of paths.
//! - A router that receives a TTL of 1 drops the packet, so the TTL must be at least 2 at each
//!   encoded router.

mod codec;
mod encode;
mod feistel;
mod field;
mod fields;
mod function;
mod hash;
mod radix;
mod rc5;
mod scheme;
mod skip32;
#[cfg(test)]
mod tests;

pub use codec::{CflbConfig, Codec, CodecError, Decision, Reason, Rules};
pub use encode::{EncodeError, RouterChoice};
pub use feistel::Feistel;
pub use field::{Field, PortRange};
pub use fields::{Addresses, Fields, Ports};
pub use function::{Cipher, Function};
pub use hash::hash_words;
pub use radix::{MAX_LENGTH, Radix};
pub use rc5::Rc5;
pub use scheme::Cflb;
pub use skip32::Skip32;
