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
