//! What balancers compute: hashes, Maglev tables, and who owns which token.
//!
//! The reference of bpf/lib/hash.h, bit by bit, and what fills the maps that the eBPF programs read. Integers only, no clock,
//! nothing drawn at random: all balancers with one configuration have the same tables.

pub mod hash;
