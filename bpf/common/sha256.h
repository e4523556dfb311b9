/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Tokens of MPTCP version 1 (RFC 8684, section 3.2): the top 32 bits of a key's SHA-256 (FIPS 180-4). */
#pragma once

#include <linux/types.h>

#include "common/native.h"

static const __u32 SHA256_CONSTANTS[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
	0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
	0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

struct sha256 {
	__u32 a, b, c, d, e, f, g, h;
	__u32 words[16]; /* of the message and its schedule: the last 16 */
};

static __always_inline __u32 sha256_rotate(__u32 x, int right)
{
	return x >> right | x << (32 - right);
}

static __always_inline __u32 sha256_word(struct sha256 *hash, int round)
{
	__u32 *words = hash->words, w15, w2;

	if (round < 16)
		return words[round];
	w15 = words[(round - 15) % 16];
	w2 = words[(round - 2) % 16];
	words[round % 16] += (sha256_rotate(w15, 7) ^ sha256_rotate(w15, 18) ^ w15 >> 3) +
			     (sha256_rotate(w2, 17) ^ sha256_rotate(w2, 19) ^ w2 >> 10) + words[(round - 7) % 16];
	return words[round % 16];
}

static __always_inline void sha256_round(struct sha256 *s, int round)
{
	__u32 choice = s->g ^ (s->e & (s->f ^ s->g));
	__u32 majority = (s->a & s->b) | (s->c & (s->a | s->b));
	__u32 sum = s->h + choice + SHA256_CONSTANTS[round] + sha256_word(s, round) +
		    (sha256_rotate(s->e, 6) ^ sha256_rotate(s->e, 11) ^ sha256_rotate(s->e, 25));

	s->h = s->g;
	s->g = s->f;
	s->f = s->e;
	s->e = s->d + sum;
	s->d = s->c;
	s->c = s->b;
	s->b = s->a;
	s->a = sum + majority + (sha256_rotate(s->b, 2) ^ sha256_rotate(s->b, 13) ^ sha256_rotate(s->b, 22));
}

/* The first word of the hash of these two: one block, most of which is known when this is compiled. */
__noinline __u32 sha256_token(__u32 high, __u32 low)
{
	struct sha256 hash = {
		.a = 0x6a09e667,
		.b = 0xbb67ae85,
		.c = 0x3c6ef372,
		.d = 0xa54ff53a,
		.e = 0x510e527f,
		.f = 0x9b05688c,
		.g = 0x1f83d9ab,
		.h = 0x5be0cd19,
		.words = { high, low, 0x80000000, [15] = 64 },
	};

#pragma clang loop unroll(full)
	for (int round = 0; round < 64; round++) {
		keep_in_memory(hash.words);
		sha256_round(&hash, round);
	}
	return 0x6a09e667 + hash.a;
}

static __always_inline __u32 token_v1(const __u8 key[8])
{
	return sha256_token((__u32)key[0] << 24 | (__u32)key[1] << 16 | (__u32)key[2] << 8 | key[3],
			    (__u32)key[4] << 24 | (__u32)key[5] << 16 | (__u32)key[6] << 8 | key[7]);
}
