/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Preparation of CFLB's constants for a router: in user space, or where constants are configured. Not on the packet
 * path. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/cflb.h"

/* The next of `count` indices. The verifier cannot follow a remainder. */
static __always_inline __u32 cyclic_next(__u32 index, __u32 count)
{
	return index + 1 < count ? index + 1 : 0;
}

/* Expands a key (Rivest 1994, section 4.3). */
static __always_inline void rc5_expand(struct rc5 *rc5, const __u8 key[16])
{
	__u16 l[8], a = 0, b = 0, word = 0xb7e1;
	__u32 at = 0;

	for (int i = 0; i < 8; i++)
		l[i] = key[2 * i] | (__u16)key[2 * i + 1] << 8;
	for (int i = 0; i < RC5_WORDS; i++) {
		rc5->s[i] = word;
		word += 0x9e37;
	}
	for (int i = 0; i < 3 * RC5_WORDS; i++) {
		__u16 *s = &rc5->s[at];

		a = rc5_left((__u16)(*s + a + b), 3);
		*s = a;
		b = rc5_left((__u16)(l[i % 8] + a + b), (__u16)(a + b));
		l[i % 8] = b;
		at = cyclic_next(at, RC5_WORDS);
	}
}

/* Each round takes the bytes of the key behind those of the round before, cyclically. */
static __always_inline void skip32_expand(struct skip32 *skip32, const __u8 key[SKIP32_KEY])
{
	__u32 at = 0;

	for (int i = 0; i < 4 * SKIP32_ROUNDS; i++) {
		skip32->rounds[i / 4][i % 4] = key[at];
		at = cyclic_next(at, SKIP32_KEY);
	}
}

/* A permutation of the numbers below `values`, 1 to 2^32. The words of the key are taken in rotation, each mixed into
 * the state before. */
static __always_inline void feistel_expand(struct feistel *feistel, __u64 values, const __u8 key[16])
{
	__u32 bits = 0, state = 0;

	feistel->last = values - 1;
	while (bits < 32 && feistel->last >> bits)
		bits++;
	feistel->right_bits = (bits + 1) / 2;
	feistel->left_mask = (1U << bits / 2) - 1;
	feistel->right_mask = (1U << feistel->right_bits) - 1;
	for (__u32 i = 0; i < 2 * FEISTEL_PAIRS; i++) {
		const __u8 *word = key + i % 4 * 4;

		state = mix(state ^ (word[0] | (__u32)word[1] << 8 | (__u32)word[2] << 16 | (__u32)word[3] << 24), i + 1);
		feistel->keys[i] = state;
	}
}

static __always_inline __u64 cflb_values(const struct cflb_constants *constants)
{
	if (constants->field == FIELD_PORTS)
		return 1ULL << 32;
	if (constants->field == FIELD_FLOW_LABEL)
		return 1 << 20;
	return constants->high < constants->low ? 0 : constants->high - constants->low + 1;
}

/* False for constants that cannot be: no ports, a cipher that does not fit the field, a radix below 2 or above the
 * number of values. */
static __always_inline bool cflb_prepare(const struct cflb_constants *constants, struct cflb *cflb)
{
	__u64 values = cflb_values(constants), power = 1;

	*cflb = (struct cflb){ .base = constants->radix, .low = constants->low, .high = constants->high };
	cflb->field = constants->field;
	cflb->cipher = constants->cipher;
	cflb->rules = constants->rules;
	if (constants->radix < 2 || constants->radix > values)
		return false;
	if (constants->cipher != CIPHER_FEISTEL && constants->field != FIELD_PORTS)
		return false;
	for (__u32 i = 0; i < CFLB_DIGITS; i++) {
		cflb->powers[i] = 1;
		if (i > cflb->length || power * constants->radix > values)
			continue;
		cflb->powers[i] = power;
		power *= constants->radix;
		cflb->length = i + 1;
	}
	cflb->selectors = power;
	if (constants->cipher == CIPHER_RC5)
		rc5_expand(&cflb->rc5, constants->key);
	else if (constants->cipher == CIPHER_SKIP32)
		skip32_expand(&cflb->skip32, constants->key);
	else
		feistel_expand(&cflb->feistel, values, constants->key);
	return true;
}
