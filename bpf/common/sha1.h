/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Tokens of MPTCP version 0 (RFC 6824, section 3.2): the top 32 bits of a key's SHA-1 (FIPS 180-4). */
#pragma once

#include <linux/types.h>

#include "common/native.h"

struct sha1 {
	__u32 a, b, c, d, e;
	__u32 words[16]; /* of the message and its schedule: the last 16 */
};

static __always_inline __u32 sha1_rotate(__u32 x, int left)
{
	return x << left | x >> (32 - left);
}

/* The function and the constant of a round. */
static __always_inline __u32 sha1_mix(const struct sha1 *hash, int round)
{
	__u32 b = hash->b, c = hash->c, d = hash->d;

	if (round < 20)
		return (d ^ (b & (c ^ d))) + 0x5a827999;
	if (round < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (round < 60)
		return ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static __always_inline __u32 sha1_word(struct sha1 *hash, int round)
{
	__u32 *words = hash->words;

	if (round < 16)
		return words[round];
	words[round % 16] =
		sha1_rotate(words[(round - 3) % 16] ^ words[(round - 8) % 16] ^ words[(round - 14) % 16] ^ words[round % 16], 1);
	return words[round % 16];
}

static __always_inline void sha1_round(struct sha1 *hash, int round)
{
	__u32 a = sha1_rotate(hash->a, 5) + sha1_mix(hash, round) + hash->e + sha1_word(hash, round);

	hash->e = hash->d;
	hash->d = hash->c;
	hash->c = sha1_rotate(hash->b, 30);
	hash->b = hash->a;
	hash->a = a;
}

/* The first word of the hash of these two: one block, most of which is known when this is compiled. */
__noinline __u32 sha1_token(__u32 high, __u32 low)
{
	struct sha1 hash = {
		.a = 0x67452301,
		.b = 0xefcdab89,
		.c = 0x98badcfe,
		.d = 0x10325476,
		.e = 0xc3d2e1f0,
		.words = { high, low, 0x80000000, [15] = 64 },
	};

#pragma clang loop unroll(full)
	for (int round = 0; round < 80; round++) {
		keep_in_memory(hash.words);
		sha1_round(&hash, round);
	}
	return 0x67452301 + hash.a;
}

static __always_inline __u32 token_v0(const __u8 key[8])
{
	return sha1_token((__u32)key[0] << 24 | (__u32)key[1] << 16 | (__u32)key[2] << 8 | key[3],
			  (__u32)key[4] << 24 | (__u32)key[5] << 16 | (__u32)key[6] << 8 | key[7]);
}
