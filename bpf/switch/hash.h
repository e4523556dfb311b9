/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Hashing of flows, and selection by uniform bits. */
#pragma once

#include <linux/types.h>

#include "common/native.h"

/* Mixes a flow's hash with a switch's salt: the finaliser of MurmurHash3, with full avalanche. */
static __always_inline __u32 mix(__u32 flow_hash, __u32 salt)
{
	__u32 h = flow_hash ^ salt;

	h ^= h >> 16;
	h *= 0x85ebca6b;
	h ^= h >> 13;
	h *= 0xc2b2ae35;
	return h ^ h >> 16;
}

/* Maps 32 uniform bits to 0 .. n - 1 without a division; 0 for n = 0. */
static __always_inline __u32 pick(__u32 uniform, __u32 n)
{
	return (__u64)uniform * n >> 32;
}

/* A word into the state of MurmurHash3 (x86, 32 bits; Appleby 2011). */
static __always_inline __u32 murmur_word(__u32 state, __u32 word)
{
	word *= 0xcc9e2d51;
	word = word << 15 | word >> 17;
	state ^= word * 0x1b873593;
	return (state << 13 | state >> 19) * 5 + 0xe6546b64;
}

static __always_inline __u32 murmur_end(__u32 state, __u32 words)
{
	return mix(state ^ 4 * words, 0);
}
