/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The utilisation estimator of a port (HULA section 4.2): U = D + U * (1 - dt / tau), updated when a packet starts
 * transmission.
 *
 * Tau is a power of two of nanoseconds, at most 2^28, and the register at most 2^36 - 1 bytes: their product fits into
 * 64 bits. */
#pragma once

#include <linux/types.h>

#include "common/native.h"
#include "switch/clock.h"
#include "switch/digest.h"

#define DRE_MAX_SHIFT 28
#define DRE_MAX_BYTES ((1ULL << 36) - 1)
#define FULL_UTIL 0xffff /* a link's utilisation is a fraction of 65536 */

struct dre {
	__u64 bytes;
	__u64 last;
};

static __always_inline __u32 dre_shift(__u32 shift)
{
	return shift < DRE_MAX_SHIFT ? shift : DRE_MAX_SHIFT;
}

static __always_inline __u64 dre_decayed(const struct dre *dre, __u64 now, __u32 shift)
{
	__u64 dt = since(now, dre->last);

	shift = dre_shift(shift);
	if (dt >= 1ULL << shift)
		return 0;
	return dre->bytes - (dre->bytes * dt >> shift);
}

/* Counts a packet that starts transmission. */
static __always_inline void dre_add(struct dre *dre, __u64 now, __u32 bytes, __u32 shift)
{
	__u64 sum = dre_decayed(dre, now, shift) + bytes;

	dre->bytes = sum < DRE_MAX_BYTES ? sum : DRE_MAX_BYTES;
	dre->last = now;
}

/* The utilisation of a link that carries `full` bytes in tau, of 65536. The only division; not on the path of data
 * packets, but where Shuttle starts a flowlet. */
static __always_inline __u16 dre_util(const struct dre *dre, __u64 now, __u32 shift, __u64 full)
{
	__u64 util = (dre_decayed(dre, now, shift) << 16) / (full ? full : 1);

	return util < FULL_UTIL ? util : FULL_UTIL;
}

/* A utilisation cut to 1 to 16 bits; other numbers of bits count as the nearest of these. */
static __always_inline __u16 quantise(__u16 util, __u32 bits)
{
	if (!bits)
		bits = 1;
	return bits < 16 ? util >> (16 - bits) : util;
}

static __always_inline void dre_digest(const struct dre *dre, __u64 *digest)
{
	digest_word(digest, dre->bytes);
	digest_word(digest, dre->last);
}
