/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* CFLB (Detal et al., Computer Networks 2013): a router takes the next hop that the sender has encoded in a packet, and
 * hashes other packets.
 *
 * A port of the Rust (crates/schemes/policy/src/cflb), which decides on what the paper leaves open. No decision depends
 * on what is stored; cflb_prepare.h makes `struct cflb` of the constants. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/abi.h"
#include "switch/feistel.h"
#include "switch/next_hops.h"
#include "switch/rc5.h"
#include "switch/skip32.h"

#define CFLB_DIGITS 32 /* of a selector at most: 32 bits in base 2 */

/* The constants as a router needs them. */
struct cflb {
	__u64 selectors; /* B^L: every selector is below it */
	__u32 base;      /* B */
	__u32 length;    /* L */
	__u16 low;
	__u16 high;
	__u8 field;
	__u8 cipher;
	__u8 rules;
	__u8 pad;
	__u32 powers[CFLB_DIGITS]; /* B^i below L */
	union {
		struct rc5 rc5;
		struct skip32 skip32;
		struct feistel feistel;
	};
};

/* Selectors computed before, by value: Skip32's 96 dependent reads of a table cost more than the rest of a packet (RC5
 * and the Feistel network cost less than a miss of the cache). An entry is a value and its selector, read and written
 * at once; none has the value 0. It is of the constants of `struct cflb`: who changes these empties it. */
struct cflb_memo {
	__u64 sets[MEMO_SETS][MEMO_WAYS];
};

static __always_inline __u32 both_ports(const struct cflb_fields *fields)
{
	return fields->has_ports ? (__u32)fields->source_port << 16 | fields->destination_port : 0;
}

/* The ports that are not controllable. */
static __always_inline __u32 cflb_other_ports(const struct cflb *cflb, const struct cflb_fields *fields)
{
	if (cflb->field == FIELD_PORTS)
		return 0;
	return cflb->field == FIELD_SOURCE_PORT ? both_ports(fields) & 0xffff : both_ports(fields);
}

/* H(u): a hash of the fields that a sender cannot choose. */
static __always_inline __u32 cflb_hash(const struct cflb *cflb, const struct cflb_fields *fields)
{
	__u32 words = fields->v6 ? 4 : 1, state = 0;

	for (__u32 i = 0; i < 4 && i < words; i++)
		state = murmur_word(state, fields->source[i]);
	for (__u32 i = 0; i < 4 && i < words; i++)
		state = murmur_word(state, fields->destination[i]);
	state = murmur_word(state, fields->protocol);
	state = murmur_word(state, cflb_other_ports(cflb, fields));
	return murmur_end(state, 2 * words + 2);
}

/* The value of the controllable fields. False: the packet has none, or one out of range. */
static __always_inline bool cflb_read(const struct cflb *cflb, const struct cflb_fields *fields, __u32 *value)
{
	*value = 0;
	if (cflb->field == FIELD_FLOW_LABEL) {
		*value = fields->v6 ? fields->flow_label & 0xfffff : 0;
		return fields->v6;
	}
	if (!fields->has_ports)
		return false;
	if (cflb->field == FIELD_PORTS) {
		*value = both_ports(fields);
		return true;
	}
	if (fields->source_port < cflb->low || fields->source_port > cflb->high)
		return false;
	*value = fields->source_port - cflb->low;
	return true;
}

/* The inverse of F. A global function, which the verifier looks at by itself. */
__noinline __u32 cflb_invert(const struct cflb *cflb, __u32 value)
{
	if (!cflb)
		return 0;
	if (cflb->cipher == CIPHER_RC5)
		return rc5_decrypt(&cflb->rc5, value);
	if (cflb->cipher == CIPHER_SKIP32)
		return skip32_decrypt(&cflb->skip32, value);
	return feistel_decrypt(&cflb->feistel, value);
}

/* The same, for Skip32 from the memo if it has it. A full set gives way at a place that the value's hash says. */
static __always_inline __u32 cflb_selector(const struct cflb *cflb, struct cflb_memo *memo, __u32 value)
{
	__u32 hash = mix(value, 0), place = hash >> 30, selector;
	__u64 *set = memo->sets[hash & (MEMO_SETS - 1)];

	if (!value || cflb->cipher != CIPHER_SKIP32)
		return cflb_invert(cflb, value);
	for (__u32 way = 0; way < MEMO_WAYS; way++) {
		__u64 entry = set[way];

		if (entry >> 32 == value)
			return entry;
		if (!entry)
			place = way;
	}
	selector = cflb_invert(cflb, value);
	set[place & (MEMO_WAYS - 1)] = (__u64)value << 32 | selector;
	return selector;
}

/* The digit of a selector at a position, its shift undone (equations 2, 5 and 6). Divisors of a prepared structure are
 * not 0. */
static __always_inline __u32 cflb_digit(const struct cflb *cflb, __u32 selector, __u32 position, __u32 hash)
{
	__u32 power = cflb->powers[position & (CFLB_DIGITS - 1)];
	__u32 base = cflb->base ? cflb->base : 1;
	__u32 digit = selector / (power ? power : 1) % base;
	__u32 shift = pick(cflb->rules == RULES_EVEN ? mix(hash, position) : hash, base);

	return digit >= shift ? digit - shift : digit + base - shift;
}

/* The selector's decision, if there is one. */
static __always_inline void cflb_steer(const struct cflb *cflb, __u32 selector, __u32 hash, __u8 ttl, __u32 count,
				       struct cflb_decision *decision)
{
	__u32 position = ttl % (cflb->length ? cflb->length : 1);
	__u32 digit;

	if (cflb->rules == RULES_EVEN && selector >= cflb->selectors) {
		decision->reason = REASON_NO_SELECTOR;
		return;
	}
	digit = cflb_digit(cflb, selector, position, hash);
	decision->position = position;
	decision->digit = digit;
	decision->next_hop = digit;
	decision->reason = digit < count ? REASON_CONTROLLED : REASON_DIGIT_TOO_HIGH;
}

/* The decision of router number `router` for a packet with `count` next hops, at least 1 (equation 7, algorithm 1). */
static __always_inline struct cflb_decision cflb_decide(const struct cflb *cflb, struct cflb_memo *memo, __u32 router,
							const struct cflb_fields *fields, __u32 count)
{
	struct cflb_decision decision = { .reason = REASON_ALONE };
	__u32 hash, value;

	if (count <= 1)
		return decision;
	hash = cflb_hash(cflb, fields);
	if (cflb_read(cflb, fields, &value))
		cflb_steer(cflb, cflb_selector(cflb, memo, value), hash, fields->ttl, count, &decision);
	else
		decision.reason = REASON_NO_FIELD;
	if (decision.reason != REASON_CONTROLLED)
		decision.next_hop = pick(murmur_end(murmur_word(murmur_word(hash, value), router), 2), count);
	return decision;
}

/* The port of a packet; `decision` says why. */
static __always_inline __u16 cflb_forward(const struct cflb *cflb, struct cflb_memo *memo, __u32 router,
					  const struct cflb_fields *fields, const struct next_hops *hops,
					  struct scheme_counters *counts, struct cflb_decision *decision)
{
	*decision = cflb_decide(cflb, memo, router, fields, hops->count);
	if (decision->reason == REASON_CONTROLLED)
		counts->controlled++;
	else if (decision->reason != REASON_ALONE)
		counts->hashed++;
	return next_hop_at(hops, decision->next_hop);
}
