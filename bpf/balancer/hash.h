/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The balancer's hashes. heddle_hashing::hash is the same in Rust, and holds the tests of their quality.
 *
 * Two families, for two needs:
 *
 * - hash_flow, hash_token: where an entry is in this balancer's own tables. Keyed by settings.seed, which is secret. A
 *   client chooses most of what is hashed, and must not be able to fill one bucket. Promised, for keys chosen without
 *   knowledge of the seed: the core (a + seed0)(b + seed1) with 32-bit a, b and its upper half kept is multilinear
 *   hashing (Lemire and Kaser, "Strongly universal string hashing is fast", 2014), in which two keys agree with a
 *   probability of about 2^-32 over the seeds. IPv6 runs through it three times more. What follows the core is
 *   one-to-one, and public. Not promised: anything once hash values or the seed have leaked (it is no pseudo-random
 *   function).
 * - hash_maglev, hash_fragment, ring_slot_*: values that all balancers must agree on. Public quality only: an attacker
 *   who knows the seed can aim flows at one backend, as with any Maglev, but not at one bucket of the tables.
 */
#pragma once

#include <linux/types.h>

#include "common/native.h"
#include "include/abi.h"

#define HASH_MULTIPLIER 0x9e3779b97f4a7c15ULL /* 2^64 / golden ratio: odd, its bits without pattern */
#define HASH_MAPPED 0xffff                    /* what IPv4-mapped addresses have before the last 32 bits */

static __always_inline __u64 hash_be64(__u64 word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(word);
#else
	return word;
#endif
}

static __always_inline __u32 hash_be16(__be16 word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap16(word);
#else
	return word;
#endif
}

/* ---- keyed: this balancer's tables ---- */

static __always_inline __u64 hash_core(const __u64 seed[2], __u32 a, __u32 b)
{
	return (seed[0] + a) * (seed[1] + b);
}

/* Makes every bit of the core's product count for the lower and for the upper half of the result. */
static __always_inline __u64 hash_spread(__u64 core)
{
	core = (core ^ core >> 32) * HASH_MULTIPLIER;
	return core ^ core >> 32;
}

/* IPv6 in 32 bits. */
static __always_inline __u32 hash_address(const __u64 seed[2], __u64 high, __u64 low)
{
	__u32 network = hash_core(seed, high >> 32, high) >> 32;
	__u32 host = hash_core(seed, low >> 32, low) >> 32;

	return hash_core(seed, network, host) >> 32;
}

/* Lower half: a bucket of the main table. Upper half: the extra buckets. */
static __always_inline __u64 hash_flow(const __u64 seed[2], const struct address *client, __be16 port, __u16 vip)
{
	__u64 low = hash_be64(client->low);
	__u32 host = low;

	if (client->high || low >> 32 != HASH_MAPPED)
		host = hash_address(seed, hash_be64(client->high), low);
	return hash_spread(hash_core(seed, host, (__u32)vip << 16 | hash_be16(port)));
}

/* Halves as in hash_flow. */
static __always_inline __u64 hash_token(const __u64 seed[2], __u32 token, __u16 vip)
{
	return hash_spread(hash_core(seed, token, vip));
}

/* ---- shared: the same on all balancers ---- */

static __always_inline __u64 hash_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * HASH_MULTIPLIER;
	return hash ^ hash >> 32;
}

static __always_inline __u64 hash_mix_address(__u64 hash, const struct address *address)
{
	return hash_mix(hash_mix(hash, hash_be64(address->high)), hash_be64(address->low));
}

/* The flow's slot in its service's Maglev table is this modulo MAGLEV_SIZE. The service goes in by its address, port
 * and protocol, because its id is this balancer's own. `port` is the client's; 0 where only its address counts (mptcp =
 * "source-ip"). */
static __always_inline __u64 hash_maglev(__u64 maglev_seed, const struct address *client, __be16 port,
					 const struct vip_key *service)
{
	__u64 ports = (__u64)service->protocol << 32 | hash_be16(service->port) << 16 | hash_be16(port);
	__u64 hash = hash_mix_address(maglev_seed, client);

	hash = hash_mix_address(hash, &service->address);
	return hash_mix(hash_mix(hash, ports), HASH_MULTIPLIER);
}

/* The flow's slot in `ring`; `hash` is hash_maglev's, with the client's port. */
static __always_inline __u32 ring_slot_of_flow(__u64 hash)
{
	return hash >> (32 + RING_SHIFT);
}

static __always_inline __u32 ring_slot_of_token(__u32 token)
{
	return token >> RING_SHIFT;
}

static __always_inline __u32 hash_fragment(__u64 maglev_seed, const struct fragment_key *key)
{
	__u64 hash = hash_mix_address(maglev_seed, &key->source);

	hash = hash_mix_address(hash, &key->destination);
	hash = hash_mix(hash, (__u64)key->protocol << 32 | key->id);
	return hash_mix(hash, HASH_MULTIPLIER) >> 32;
}

static __always_inline __u32 ring_slot_of_fragment(__u64 maglev_seed, const struct fragment_key *key)
{
	return hash_fragment(maglev_seed, key) >> RING_SHIFT;
}
