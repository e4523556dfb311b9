/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The targets of fragmented packets, for their later fragments.
 *
 * A host that sends nothing but first fragments can fill any table. So there are two tables: one for flows that are in
 * the flow table and have gone on for a while, which strangers cannot write to, and one for all others. In each, the
 * packets of one source share FRAGMENTS_OF_SOURCE places, which the source's address chooses: it displaces its own, and
 * those of the few other sources there.
 *
 * A place is one word, which is read and written at once. Its tag is 32 bits of a keyed hash: a fragment is taken for
 * one of another packet with a probability of 2^-32 for each place that is looked at, and reaches a backend that does
 * not expect it. */
#pragma once

#include "balancer/decision.h"
#include "common/atomic.h"

#define FRAGMENTS_OF_SOURCE 64
#define BUCKETS_OF_SOURCE (FRAGMENTS_OF_SOURCE / FRAGMENT_WAYS)
#define SALT_OF_SOURCE 0x66726167 /* "frag": makes it another hash than the flow table's */

union fragment {
	struct {
		__u32 tag;
		__u16 seen; /* the lower bits of a tick */
		__u16 target;
	};
	__u64 word; /* 0: free */
};

enum fragment_table {
	FRAGMENTS_OF_STRANGERS,
	FRAGMENTS_OF_FLOWS, /* settled ones */
};

/* Of a packet, in each table. */
struct fragment_place {
	__u32 bucket;
	__u32 tag;
};

static __always_inline __u32 hash_host(const struct address *address)
{
	if (is_ipv4(address))
		return hash_be64(address->low);
	return hash_address(settings.seed, hash_be64(address->high), hash_be64(address->low));
}

static __always_inline struct fragment_place fragment_place(const struct fragment_key *key)
{
	__u32 source = hash_host(&key->source);
	__u32 hosts = hash_core(settings.seed, source, hash_host(&key->destination)) >> 32;
	__u64 packet = hash_spread(hash_core(settings.seed, hosts, key->id ^ key->protocol << 16));
	__u32 region = hash_spread(hash_core(settings.seed, source, SALT_OF_SOURCE));
	__u32 first = region * BUCKETS_OF_SOURCE & (FRAGMENT_BUCKETS - 1);

	return (struct fragment_place){ .bucket = first + packet % BUCKETS_OF_SOURCE, .tag = packet >> 32 };
}

static __always_inline struct fragment_bucket *fragment_bucket(enum fragment_table table, const struct fragment_place *place)
{
	__u32 index = table * FRAGMENT_BUCKETS + place->bucket;

	return bpf_map_lookup_elem(&fragments, &index);
}

static __always_inline __u16 age_of(union fragment fragment, const struct packet_context *context)
{
	return (__u16)context->now - fragment.seen;
}

static __always_inline void fragment_key_of(const struct packet_context *context, struct fragment_key *key)
{
	key->source = context->packet.source;
	key->destination = context->packet.destination;
	key->id = context->packet.fragment_id;
	/* Of IPv6 only the last header before the part that is cut up names one, and it is not always the
	 * transport's. */
	key->protocol = context->packet.v6 ? IPV6_FRAGMENT : context->packet.protocol;
}

/* Stores the packet's target. */
static __always_inline void store_fragment(__u32 target, enum fragment_table table, struct decision *decision)
{
	if (target == NO_TARGET)
		return;
	decision->fragment = (struct fragment_write){ .target = target, .table = table };
	decision->writes |= WRITES_FRAGMENT;
}

/* In the packet's own place, or in a free one, or in that of the oldest. */
__noinline int write_fragment(const struct packet_context *context, const struct fragment_write *write)
{
	struct fragment_bucket *bucket;
	struct fragment_place place;
	struct fragment_key key;
	union fragment stored;
	__u32 chosen = 0, most = 0;

	if (!context || !write)
		return 0;
	fragment_key_of(context, &key);
	place = fragment_place(&key);
	bucket = fragment_bucket(write->table == FRAGMENTS_OF_FLOWS ? FRAGMENTS_OF_FLOWS : FRAGMENTS_OF_STRANGERS, &place);
	if (!bucket)
		return 0;
	stored = (union fragment){ .tag = place.tag, .seen = context->now, .target = write->target };
	for (__u32 i = 0; i < FRAGMENT_WAYS; i++) {
		union fragment there = { .word = READ_ONCE(bucket->fragments[i]) };
		__u32 worth = !there.word ? 0x10000 : there.tag == place.tag ? 0x20000 : age_of(there, context);

		if (worth > most) {
			most = worth;
			chosen = i;
		}
	}
	WRITE_ONCE(bucket->fragments[chosen & (FRAGMENT_WAYS - 1)], stored.word);
	return 0;
}

/* Hosts wait for fragments about as long as for the answer to a SYN. */
static __always_inline bool fragment_live(union fragment fragment, const struct packet_context *context)
{
	__u32 timeout = settings.syn_timeout < 0x7fff ? settings.syn_timeout : 0x7fff;

	return fragment.word && age_of(fragment, context) < timeout;
}

static __always_inline __u32 target_in(const struct packet_context *context, const struct fragment_place *place,
				       enum fragment_table table)
{
	struct fragment_bucket *bucket = fragment_bucket(table, place);

	for (int i = 0; i < FRAGMENT_WAYS && bucket; i++) {
		union fragment there = { .word = READ_ONCE(bucket->fragments[i]) };

		if (there.tag == place->tag && fragment_live(there, context))
			return there.target;
	}
	return NO_TARGET;
}

/* The target of a packet whose first fragment was stored a short time ago; NO_TARGET: none. */
static __always_inline __u32 find_fragment(const struct packet_context *context, const struct fragment_key *key)
{
	struct fragment_place place = fragment_place(key);
	__u32 target = target_in(context, &place, FRAGMENTS_OF_FLOWS);

	return target == NO_TARGET ? target_in(context, &place, FRAGMENTS_OF_STRANGERS) : target;
}
