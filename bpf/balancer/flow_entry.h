/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* One entry of the flow table: read whole, changed, replaced (entry.h). */
#pragma once

#include <stddef.h>

#include "balancer/entry.h"
#include "balancer/maps.h"

/* Of an entry, all but its key, as they were at one moment. */
struct flow_snapshot {
	union {
		struct {
			__u16 target;
			__u8 state; /* enum flow_state and FLOW_* flags */
			__u8 epoch;
			__u32 seen;
		};
		__u64 status;
	};
	__u32 token;
};

_Static_assert(offsetof(struct flow, target) == 24 && offsetof(struct flow, seen) == 28 && sizeof(struct flow) == 32,
	       "the status word is the last one");

/* The word before it. */
union flow_identity {
	struct {
		__be16 port;
		__u16 vip;
		__u32 token;
	};
	__u64 word;
};

_Static_assert(offsetof(struct flow, port) == 16 && offsetof(struct flow, token) == 20, "one word");

static __always_inline shared_word *flow_status(struct flow *flow)
{
	return (shared_word *)&flow->target;
}

static __always_inline struct flow_snapshot read_flow_status(struct flow *flow)
{
	return (struct flow_snapshot){ .status = READ_ONCE(*flow_status(flow)) };
}

static __always_inline union flow_identity read_flow_identity(const struct flow *flow)
{
	return (union flow_identity){ .word = READ_ONCE(*(const shared_word *)&flow->port) };
}

static __always_inline void write_flow_identity(struct flow *flow, union flow_identity identity)
{
	WRITE_ONCE(*(shared_word *)&flow->port, identity.word);
}

static __always_inline bool is_flow_of(const struct flow *flow, union flow_identity identity, const struct flow_key *key)
{
	return READ_ONCE(flow->client.low) == key->client.low && READ_ONCE(flow->client.high) == key->client.high &&
	       identity.port == key->port && identity.vip == key->vip;
}

/* The result of reading an entry. */
enum reading {
	READ_ANOTHERS, /* the entry is another flow's */
	READ_WHOLE,
	READ_TORN, /* another processor writes it, or did so meanwhile */
};

/* Reads an entry that was the key's a moment ago. The identity is read twice, too: an entry that was another flow's
 * meanwhile, and is this one's again within the same tick, has the status that it had. */
static __always_inline enum reading try_to_read_flow(struct flow *flow, const struct flow_key *key, struct flow_snapshot *out)
{
	union flow_identity identity;
	bool same;

	*out = read_flow_status(flow);
	if (out->seen == SEEN_BUSY)
		return READ_TORN;
	order_reads();
	identity = read_flow_identity(flow);
	same = is_flow_of(flow, identity, key);
	order_reads();
	if (read_flow_identity(flow).word != identity.word || READ_ONCE(*flow_status(flow)) != out->status)
		return READ_TORN;
	out->token = identity.token;
	return same ? READ_WHOLE : READ_ANOTHERS;
}

/* The same, again where it was torn. False: it is claimed, or another flow's by now. */
static __always_inline bool read_flow(struct flow *flow, const struct flow_key *key, struct flow_snapshot *out)
{
#pragma clang loop unroll(disable)
	for (int try = 0; try < READ_TRIES; try++) {
		enum reading found = try_to_read_flow(flow, key, out);

		if (found != READ_TORN)
			return found == READ_WHOLE;
	}
	return false;
}

/* Replaces an entry that was read as `was`. False: it has changed since. */
static __always_inline bool replace_flow(struct flow *flow, const struct flow_snapshot *was, const struct flow_key *key,
					 const struct flow_snapshot *value)
{
	union flow_identity identity = { .port = key->port, .vip = key->vip, .token = value->token };

	if (!claim(flow_status(flow), was->status))
		return false;
	WRITE_ONCE(flow->client.high, key->client.high);
	WRITE_ONCE(flow->client.low, key->client.low);
	write_flow_identity(flow, identity);
	publish(flow_status(flow), value->status);
	return true;
}
