/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) of whole words of eight bytes: a
 * pseudo-random function. Without the key its values cannot be told from random ones, nor one be derived from
 * others. */
#pragma once

#include <linux/types.h>

#include "common/native.h"

struct siphash {
	__u64 a, b, c, d;
};

static __always_inline __u64 sip_rotate(__u64 x, int left)
{
	return x << left | x >> (64 - left);
}

static __always_inline void sip_rounds(struct siphash *s, int rounds)
{
#pragma clang loop unroll(full)
	for (int i = 0; i < rounds; i++) {
		s->a += s->b;
		s->c += s->d;
		s->b = sip_rotate(s->b, 13) ^ s->a;
		s->d = sip_rotate(s->d, 16) ^ s->c;
		s->a = sip_rotate(s->a, 32);
		s->c += s->b;
		s->a += s->d;
		s->b = sip_rotate(s->b, 17) ^ s->c;
		s->d = sip_rotate(s->d, 21) ^ s->a;
		s->c = sip_rotate(s->c, 32);
	}
}

static __always_inline void sip_take(struct siphash *s, __u64 word)
{
	s->d ^= word;
	sip_rounds(s, 2);
	s->a ^= word;
}

static __always_inline struct siphash sip_start(const __u64 key[2])
{
	return (struct siphash){
		.a = key[0] ^ 0x736f6d6570736575ULL,
		.b = key[1] ^ 0x646f72616e646f6dULL,
		.c = key[0] ^ 0x6c7967656e657261ULL,
		.d = key[1] ^ 0x7465646279746573ULL,
	};
}

/* Behind `words` words. */
static __always_inline __u64 sip_end(struct siphash *s, __u32 words)
{
	sip_take(s, (__u64)(words * 8) << 56); /* how many bytes there were, modulo 256 */
	s->c ^= 0xff;
	sip_rounds(s, 4);
	return s->a ^ s->b ^ s->c ^ s->d;
}

/* Of the eight bytes that are `word` with the lowest first. */
static __always_inline __u64 siphash(const __u64 key[2], __u64 word)
{
	struct siphash s = sip_start(key);

	sip_take(&s, word);
	return sip_end(&s, 1);
}
