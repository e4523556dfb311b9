/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A permutation of any number of values up to 2^32: an alternating Feistel network over the bits that they need, walked
 * along its cycle until the value is in range (Black and Rogaway, CT-RSA 2002). */
#pragma once

#include <linux/types.h>

#include "common/native.h"
#include "switch/hash.h"

#define FEISTEL_PAIRS 3   /* of rounds */
#define FEISTEL_STEPS 128 /* of a walk: one that long has a probability under 2^-96 */

struct feistel {
	__u32 last; /* the largest value */
	__u32 right_bits;
	__u32 left_mask;
	__u32 right_mask;
	__u32 keys[2 * FEISTEL_PAIRS];
};

static __always_inline __u32 feistel_reverse(const struct feistel *feistel, __u32 block)
{
	__u32 left = block >> (feistel->right_bits & 31) & feistel->left_mask, right = block & feistel->right_mask;

#pragma clang loop unroll(full)
	for (int pair = FEISTEL_PAIRS - 1; pair >= 0; pair--) {
		right ^= mix(left, feistel->keys[2 * pair + 1]) & feistel->right_mask;
		left ^= mix(right, feistel->keys[2 * pair]) & feistel->left_mask;
	}
	return left << (feistel->right_bits & 31) | right;
}

/* The inverse of F: from a value of the fields to a selector. */
static __always_inline __u32 feistel_decrypt(const struct feistel *feistel, __u32 image)
{
#pragma clang loop unroll(disable)
	for (int step = 0; step < FEISTEL_STEPS; step++) {
		image = feistel_reverse(feistel, image);
		if (image <= feistel->last)
			break;
	}
	return image;
}
