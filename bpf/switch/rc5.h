/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* RC5 with 16-bit words, 12 rounds and a key of 16 bytes (Rivest, FSE 1994): blocks of 32 bits, of which the upper half
 * is the word A. */
#pragma once

#include <linux/types.h>

#include "common/native.h"

#define RC5_ROUNDS 12
#define RC5_WORDS (2 * (RC5_ROUNDS + 1))

struct rc5 {
	__u16 s[RC5_WORDS];
};

static __always_inline __u16 rc5_left(__u32 word, __u32 bits)
{
	word &= 0xffff;
	bits &= 15;
	return word << bits | word >> (16 - bits);
}

/* The word beside itself: a rotation is one shift. The word is in the lower half of the result. */
static __always_inline __u32 rc5_right(__u32 word, __u32 bits)
{
	word &= 0xffff;
	return (word << 16 | word) >> (bits & 15);
}

/* The inverse of F: from a value of the fields to a selector. */
static __always_inline __u32 rc5_decrypt(const struct rc5 *rc5, __u32 block)
{
	__u32 a = block >> 16, b = block; /* words in lower halves */

#pragma clang loop unroll(full)
	for (int round = RC5_ROUNDS; round >= 1; round--) {
		b = rc5_right(b - rc5->s[2 * round + 1], a) ^ a;
		a = rc5_right(a - rc5->s[2 * round], b) ^ b;
	}
	a -= rc5->s[0];
	b -= rc5->s[1];
	return a << 16 | (__u16)b;
}
