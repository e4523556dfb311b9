/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The Internet checksum (RFC 1071) and its change when a word changes (RFC 1624).
 *
 * Sums are of words as they lie in memory, of 16 or of 32 bits: a ones' complement sum is the same in either byte order
 * and width. */
#pragma once

#include <linux/types.h>

static __always_inline __u16 fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static __always_inline __u16 checksum(__u64 sum)
{
	return ~fold(sum);
}

/* Equation 3 of RFC 1624, which never makes 0xffff of a sum that is zero. */
static __always_inline __u16 checksum_update(__u16 check, __u16 old, __u16 new)
{
	return checksum((__u64)(__u16)~check + (__u16)~old + new);
}
