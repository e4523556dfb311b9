//! The balancer's hashes: bpf/balancer/hash.h in Rust. Their properties are documented there.
//!
//! Ports are in the machine's order here. Addresses are IPv6, IPv4 mapped into it
//! (`::ffff:a.b.c.d`).

use core::net::Ipv6Addr;

#[cfg(test)]
mod tests;

/// Slots of a Maglev table; prime, so that every stride visits all of them.
pub const MAGLEV_SIZE: u32 = 65_537;
/// Width of a slot of the ring, in low bits of a token.
pub const RING_SHIFT: u32 = 20;
/// Slots of the ring.
pub const RING_SIZE: usize = 1 << (32 - RING_SHIFT);

/// 2^64 / golden ratio: odd, its bits without pattern.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Bits 64 to 95 of an IPv4-mapped address.
const MAPPED: u64 = 0xffff;

/// Identifier of a service, equal on all balancers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceKey {
    /// Its address.
    pub address: Ipv6Addr,
    /// Its port.
    pub port: u16,
    /// Number of the IP protocol.
    pub protocol: u8,
}

/// Fields that all fragments of a packet share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FragmentKey {
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
    /// The identification field, its bytes on the wire read in host byte order
    /// (`struct fragment_key`).
    pub id: u32,
    /// Number of the IP protocol.
    pub protocol: u8,
}

/// A place in the table of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentPlace {
    /// The bucket.
    pub bucket: u32,
    /// The tag of the packet's entry in it.
    pub tag: u32,
}

/// Buckets that the packets of one source share.
const BUCKETS_OF_SOURCE: u32 = 16;
/// "frag": makes it another hash than the flow table's.
const SALT_OF_SOURCE: u32 = 0x6672_6167;

/// Hash of a flow for this balancer's own table. Lower half: a bucket of the main table; upper
/// half: the extra buckets. `vip` is this balancer's number for the service.
pub const fn flow(seed: [u64; 2], client: Ipv6Addr, port: u16, vip: u16) -> u64 {
    let [high, low] = halves(client);
    let host = if high != 0 || low >> 32 != MAPPED { address(seed, high, low) } else { low as u32 };
    spread(core(seed, host, (vip as u32) << 16 | port as u32))
}

/// Hash of a token for this balancer's own table; halves as in [`flow`].
pub const fn token(seed: [u64; 2], token: u32, vip: u16) -> u64 {
    spread(core(seed, token, vip as u32))
}

/// Hash of a flow, equal on all balancers: its slot in the Maglev table is this modulo
/// [`MAGLEV_SIZE`] ([`maglev_slot`]). `port` is the client's; 0 if only the client's address is
/// hashed (`mptcp = "source-ip"`).
pub const fn maglev(seed: u64, client: Ipv6Addr, port: u16, service: &ServiceKey) -> u64 {
    let ports = (service.protocol as u64) << 32 | (service.port as u64) << 16 | port as u64;
    let hash = mix_address(mix_address(seed, client), service.address);
    mix(mix(hash, ports), MULTIPLIER)
}

/// The slot of [`maglev`]'s hash in a Maglev table.
pub const fn maglev_slot(hash: u64) -> u32 {
    (hash % MAGLEV_SIZE as u64) as u32
}

/// Hash of a fragment, equal on all balancers.
pub const fn fragment(seed: u64, key: &FragmentKey) -> u32 {
    let hash = mix_address(mix_address(seed, key.source), key.destination);
    let hash = mix(hash, (key.protocol as u64) << 32 | key.id as u64);
    (mix(hash, MULTIPLIER) >> 32) as u32
}

/// The ring's slot of a flow; `hash` is [`maglev`]'s, with the client's port.
pub const fn ring_slot_of_flow(hash: u64) -> usize {
    (hash >> (32 + RING_SHIFT)) as usize
}

/// The ring's slot of a token.
pub const fn ring_slot_of_token(token: u32) -> usize {
    (token >> RING_SHIFT) as usize
}

/// The ring's slot of a fragment.
pub const fn ring_slot_of_fragment(seed: u64, key: &FragmentKey) -> usize {
    ring_slot_of_token(fragment(seed, key))
}

/// The place of a packet's fragments in this balancer's own table of `buckets` (a power of two).
pub const fn fragment_place(seed: [u64; 2], key: &FragmentKey, buckets: u32) -> FragmentPlace {
    let source = host(seed, key.source);
    let hosts = (core(seed, source, host(seed, key.destination)) >> 32) as u32;
    let packet = spread(core(seed, hosts, key.id ^ (key.protocol as u32) << 16));
    let region = spread(core(seed, source, SALT_OF_SOURCE)) as u32;
    let first = region.wrapping_mul(BUCKETS_OF_SOURCE) & (buckets - 1);
    let bucket = first + (packet % BUCKETS_OF_SOURCE as u64) as u32;
    FragmentPlace { bucket, tag: (packet >> 32) as u32 }
}

/// An address in 32 bits: IPv4's as it is.
const fn host(seed: [u64; 2], at: Ipv6Addr) -> u32 {
    let [high, low] = halves(at);
    if high == 0 && low >> 32 == MAPPED { low as u32 } else { address(seed, high, low) }
}

const fn halves(address: Ipv6Addr) -> [u64; 2] {
    let bits = address.to_bits();
    [(bits >> 64) as u64, bits as u64]
}

/// Multilinear hashing of two 32-bit words; the upper half is the hash.
const fn core(seed: [u64; 2], a: u32, b: u32) -> u64 {
    seed[0].wrapping_add(a as u64).wrapping_mul(seed[1].wrapping_add(b as u64))
}

/// Mixes every bit of the core's product into the lower and the upper half of the result.
const fn spread(core: u64) -> u64 {
    let hash = (core ^ core >> 32).wrapping_mul(MULTIPLIER);
    hash ^ hash >> 32
}

/// IPv6 in 32 bits.
const fn address(seed: [u64; 2], high: u64, low: u64) -> u32 {
    let network = core(seed, (high >> 32) as u32, high as u32) >> 32;
    let host = core(seed, (low >> 32) as u32, low as u32) >> 32;
    (core(seed, network as u32, host as u32) >> 32) as u32
}

const fn mix(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    hash ^ hash >> 32
}

const fn mix_address(hash: u64, address: Ipv6Addr) -> u64 {
    let [high, low] = halves(address);
    mix(mix(hash, high), low)
}
