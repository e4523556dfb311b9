/* SPDX-License-Identifier: Apache-2.0 */
/* Hashing of flows and selection by uniform bits, as in crates/schemes/policy/src/hash.rs. */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

/* Mixes a flow's hash with a switch's salt: the finaliser of MurmurHash3. */
static inline uint32_t mix(uint32_t flow_hash, uint32_t salt)
{
	uint32_t h = flow_hash ^ salt;

	h ^= h >> 16;
	h *= 0x85ebca6b;
	h ^= h >> 13;
	h *= 0xc2b2ae35;
	return h ^ (h >> 16);
}

/* Maps 32 uniform bits to 0 to n - 1. */
static inline size_t pick(uint32_t uniform, size_t n)
{
	return (size_t)(((uint64_t)uniform * n) >> 32);
}

#endif
