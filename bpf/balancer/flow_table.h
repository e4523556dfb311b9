/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The flow table: 5-tuple to target.
 *
 * Buckets of four. A flow whose bucket is full goes to the emptier of two buckets in an extra area that all buckets
 * share (RomanRoads, section IV, has a list of extra buckets; two choices need no list and fill the area more evenly).
 * A word for each main bucket says when one of its flows was last written there: most packets without an entry need not
 * look.
 *
 * entry.h has the protocol by which processors share entries. Two of them that store one flow at the same moment may
 * store it twice: both copies say the same, and the second expires. */
#pragma once

#include "balancer/decision.h"

/* Priority of a new entry: which live entries it may evict when its buckets are full (see rank_of). */
enum insertion_priority {
	STATELESS, /* the hash gives the same target */
	STATEFUL, /* no hash gives the target: takes the places of joins that open, and of flows whose target the hash gives, too */
};

static __always_inline __u32 flow_timeout(__u8 state)
{
	switch (state & FLOW_STATE_MASK) {
	case FLOW_CLOSING_STATEFUL:
		return state & FLOW_TOLD && settings.refresh ? settings.refresh + settings.closing_timeout
							     : settings.flow_timeout;
	case FLOW_ESTABLISHED:
		return settings.flow_timeout;
	case FLOW_CLOSING:
		return settings.closing_timeout;
	case FLOW_UDP:
		return settings.udp_timeout;
	default:
		return settings.syn_timeout;
	}
}

static __always_inline bool flow_live(const struct flow_snapshot *flow, __u32 now)
{
	return flow->seen && flow->seen != SEEN_BUSY && within(now, flow->seen, flow_timeout(flow->state));
}

/* True if a flow's refresh interval has ended since its entry was last written. Each flow's intervals start at a tick
 * of their own, taken from its hash. */
static __always_inline bool interval_is_over(__u32 hash, __u32 seen, __u32 now)
{
	__u32 every = settings.refresh, phase = hash >> 8;

	return every && (seen + phase) / every != (now + phase) / every;
}

static __always_inline bool is_closing(const struct flow_snapshot *flow)
{
	__u8 state = flow->state & FLOW_STATE_MASK;

	return state == FLOW_CLOSING || state == FLOW_CLOSING_STATEFUL;
}

/* A handshake in progress: its SYN may be repeated, at last without options. */
static __always_inline bool half_open(const struct flow_snapshot *flow)
{
	__u8 state = flow->state & FLOW_STATE_MASK;

	return state == FLOW_NEW || state == FLOW_LEARNING;
}

/* One of which nothing but SYNs was seen. */
static __always_inline bool is_syn_alone(const struct flow_snapshot *flow)
{
	return half_open(flow) && !(flow->state & FLOW_GOES_ON);
}

/* True if the entry says nothing but what a SYN did, which anybody can send. */
static __always_inline bool rests_on_syn(const struct flow_snapshot *flow)
{
	return is_syn_alone(flow) || (flow->state & FLOW_STATE_MASK) == FLOW_JOINING;
}

static __always_inline struct flow_bucket *flow_bucket(__u32 index)
{
	return bpf_map_lookup_elem(&flows, &index);
}

static __always_inline __u32 main_bucket(__u64 hash)
{
	return (__u32)hash & (FLOW_BUCKETS - 1);
}

/* The buckets of an entry: its own, and two extra ones. */
static __always_inline __u32 bucket_choice(__u64 hash, int choice)
{
	__u32 half = choice == 1 ? (__u32)(hash >> 32) : (__u32)((hash * HASH_MULTIPLIER) >> 32);

	return choice ? FLOW_BUCKETS + (__u32)(((__u64)half * FLOW_EXTRA) >> 32) : main_bucket(hash);
}

static __always_inline void find_in(__u32 index, struct packet_context *context)
{
	const struct flow_key *key = &context->key;
	struct flow_bucket *bucket = flow_bucket(index);

	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
		struct flow *flow = &bucket->flows[i];

		if (is_flow_of(flow, read_flow_identity(flow), key) && read_flow(flow, key, &context->flow) &&
		    flow_live(&context->flow, context->now)) {
			context->bucket = index;
			context->slot = i;
			context->known = true;
			return;
		}
	}
}

static __always_inline __u32 *overflow_of(const struct packet_context *context)
{
	__u32 index = main_bucket(context->hash);

	return bpf_map_lookup_elem(&overflows, &index);
}

/* The time for which an entry lives at most. */
static __always_inline __u32 longest_timeout(void)
{
	__u32 longest = settings.flow_timeout, told = settings.refresh + settings.closing_timeout;

	longest = longest > settings.udp_timeout ? longest : settings.udp_timeout;
	longest = longest > settings.syn_timeout ? longest : settings.syn_timeout;
	return longest > told ? longest : told;
}

/* True if the flow's main bucket was ever full: its places are filled in order, and none is emptied. */
static __always_inline bool was_full(const struct packet_context *context)
{
	struct flow_bucket *bucket = flow_bucket(main_bucket(context->hash));

	return bucket && read_flow_status(&bucket->flows[BUCKET_ENTRIES - 1]).seen;
}

/* True if the packet's flow may have its entry in an extra bucket. A look there costs two cache misses, and two of the
 * TLB. */
static __always_inline bool may_have_overflowed(const struct packet_context *context)
{
	const __u32 *place = was_full(context) ? overflow_of(context) : NULL;
	__u32 written = place ? READ_ONCE(*place) : 0;

	return written && within(context->now, written, longest_timeout());
}

/* Before an entry is written to this bucket. */
static __always_inline void note_overflow(const struct packet_context *context, __u32 bucket)
{
	__u32 *written = bucket < FLOW_BUCKETS ? NULL : overflow_of(context);

	if (written && READ_ONCE(*written) != context->now)
		WRITE_ONCE(*written, context->now);
}

/* Looks up the packet's flow, and copies its entry into the context. True: there is one. */
__noinline int find_flow(struct packet_context *context)
{
	if (!context)
		return false;
	context->known = false;
	context->replaces = false;
	find_in(main_bucket(context->hash), context);
	if (context->known || !may_have_overflowed(context))
		return context->known;
#pragma clang loop unroll(disable)
	for (int choice = 1; choice < BUCKET_CHOICES && !context->known; choice++)
		find_in(bucket_choice(context->hash, choice), context);
	return context->known;
}

/* The flow that find_flow found; NULL: none. */
static __always_inline const struct flow_snapshot *known_flow(const struct packet_context *context)
{
	return context->known ? &context->flow : NULL;
}

static __always_inline struct flow *flow_at(__u32 index, __u32 slot)
{
	struct flow_bucket *bucket = flow_bucket(index);

	return bucket ? &bucket->flows[slot & (BUCKET_ENTRIES - 1)] : NULL;
}

/* The entry that find_flow found; NULL: none. */
static __always_inline struct flow *known_entry(const struct packet_context *context)
{
	return context->known ? flow_at(context->bucket, context->slot) : NULL;
}

/* ---- what is decided ---- */

/* Changes the state, epoch or time of the known flow, unless its entry has changed since find_flow. */
static __always_inline void change_flow(const struct flow_snapshot *changed, struct decision *decision)
{
	decision->flow = (struct flow_write){ .value = *changed, .change = CHANGES_STATUS };
	decision->writes |= WRITES_FLOW;
}

/* Changes the token of the known flow, too. */
static __always_inline void change_flow_token(const struct flow_snapshot *changed, struct decision *decision)
{
	decision->flow = (struct flow_write){ .value = *changed, .change = CHANGES_TOKEN };
	decision->writes |= WRITES_FLOW;
}

/* Of a packet that opens a flow: of its sequence number what has room in the entry. */
static __always_inline __u8 opening_number(const struct packet_context *context)
{
	return context->sequence >> 24;
}

/* True if entries in this state have the number of the packet with which their flow opened, in place of an epoch. */
static __always_inline bool has_opening_number(const struct packet_context *context, __u8 state)
{
	if ((state & FLOW_STATE_MASK) == FLOW_JOINING)
		return state & FLOW_NUMBERED;
	state &= FLOW_STATE_MASK;
	return context->packet.protocol == IPPROTO_TCP && (state == FLOW_NEW || state == FLOW_LEARNING);
}

/* A backend that still has an older connection of this address and port answers a SYN with an acknowledgement of that
 * one. The client, which waits for another answer, resets it (RFC 9293, 3.10.7.3): a reset without an acknowledgement,
 * whose number is the older connection's. It must reach the SYN's backend, or no SYN opens anything there. */
static __always_inline bool may_answer_challenge(const struct packet_context *context)
{
	return (context->packet.tcp_flags & (TCP_RST | TCP_ACK)) == TCP_RST;
}

/* True if the packet starts at most 16 MiB, rounded up to the next multiple, behind the one with which the flow
 * opened, or answers a challenge to that. */
static __always_inline bool follows_opening(const struct packet_context *context)
{
	return (__u8)(opening_number(context) - context->flow.epoch) <= 1 || may_answer_challenge(context);
}

/* True if the known flow has just opened here, and the packet is not of that connection: its SYN was forged, or came
 * again with another number. */
static __always_inline bool is_of_another(const struct packet_context *context)
{
	return context->known && has_opening_number(context, context->flow.state) && !follows_opening(context);
}

/* An opening that another balancer told of may be forged: a packet that does not follow its SYN is of a flow that is
 * not known here, and which takes the place of that entry. */
static __always_inline void leave_out_unseen(struct packet_context *context)
{
	bool unseen = context->known && (context->flow.state & (FLOW_STATE_MASK | FLOW_UNSEEN)) == (FLOW_LEARNING | FLOW_UNSEEN);

	if (!unseen || context->packet.tcp_flags & TCP_SYN || follows_opening(context))
		return;
	context->known = false;
	context->replaces = true;
}

struct flow_value {
	__u32 token;
	__u16 target;
	__u8 state;
};

/* Stores the packet's flow, in place of its old entry if there is one. */
static __always_inline void store_flow(const struct packet_context *context, const struct flow_value *value,
				       enum insertion_priority priority, struct decision *decision)
{
	struct flow_snapshot *stored = &decision->flow.value;

	stored->target = value->target;
	stored->state = value->state;
	stored->epoch = has_opening_number(context, value->state) ? opening_number(context) : settings.epoch;
	stored->seen = context->now;
	stored->token = value->token;
	decision->flow.change = priority == STATEFUL ? STORES_STATEFUL : STORES_STATELESS;
	decision->writes |= WRITES_FLOW;
}

/* Its handshake is in progress, or one datagram was seen. */
static __always_inline bool is_opening(__u8 state)
{
	state &= FLOW_STATE_MASK;
	return state == FLOW_NEW || state == FLOW_LEARNING || state == FLOW_JOINING;
}

/* True if the flow is fresh in its new state: its first packets came just now. Anybody can send two or three in a row,
 * but for joins, of which each token has so many. */
static __always_inline bool is_fresh(const struct packet_context *context, __u8 state)
{
	const struct flow_snapshot *flow = &context->flow;

	state &= FLOW_STATE_MASK;
	if (state != FLOW_ESTABLISHED && state != FLOW_UDP)
		return false;
	if (half_open(flow))
		return context->named == flow->target || own_hashed_target(context) == flow->target;
	return flow->state & FLOW_FRESH && within(context->now, flow->seen, TOUCH);
}

/* The known flow's new state, with the marks that outlive the change: it is fresh still, a candidate stays one. */
static __always_inline __u8 marked(const struct packet_context *context, __u8 state)
{
	state = (state & ~FLOW_FRESH) | (context->flow.state & FLOW_CONTESTED);
	return is_fresh(context, state) ? state | FLOW_FRESH : state;
}

/* The flow's new state, at a packet with which it is registered as ring and tables are now. */
static __always_inline void refresh_flow(const struct packet_context *context, __u8 state, struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	changed.state = marked(context, state);
	changed.seen = context->now;
	changed.epoch = settings.epoch;
	change_flow(&changed, decision);
}

/* The flow's new state, at a packet that leaves registration to later ones. */
static __always_inline void move_flow(const struct packet_context *context, __u8 state, struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	changed.state = marked(context, state);
	changed.seen = context->now;
	change_flow(&changed, decision);
}

/* A datagram of the known flow, whose entry says so once in a while. */
static __always_inline void touch_flow(const struct packet_context *context, struct decision *decision)
{
	const struct flow_snapshot *flow = &context->flow;

	if ((flow->state & ~FLOW_FRESH) != FLOW_UDP || flow->epoch != settings.epoch || context->now - flow->seen >= TOUCH)
		refresh_flow(context, FLOW_UDP, decision);
}

/* ---- writing ---- */

/* The order in which entries give way. */
enum rank {
	STAYS,
	REDUNDANT, /* the hash gives its target, too */
	CLOSES,
	OPENS,     /* also fresh ones */
	HALF_OPEN, /* and for longer than a handshake takes */
	CLOSED,    /* for longer than `closing_timeout` */
	FREE,
};
#define HANDSHAKE 30 /* ticks (0.5 s) */
#define CROWDED 4    /* ticks: for so long a table is taken for full behind a flow that found no free place */

/* An entry that may be replaced, and how it was when it was chosen. It has no pointer, so that global functions can
 * take it. */
struct flow_place {
	struct flow_snapshot was;
	__u32 bucket;
	__u32 slot;
	__u32 free; /* entries of this bucket, this one included */
	__u32 rank; /* enum rank; STAYS: no entry */
};

static __always_inline void choose(struct flow_place *place, __u32 bucket, __u32 slot, const struct flow_snapshot *was,
				   enum rank rank)
{
	place->was = *was;
	place->bucket = bucket;
	place->slot = slot;
	place->rank = rank;
}

/* The first free entry of the flow's own bucket, if there is one. */
static __always_inline void free_own_place(const struct packet_context *context, struct flow_place *place)
{
	__u32 index = main_bucket(context->hash);
	struct flow_bucket *bucket = flow_bucket(index);

#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
		struct flow_snapshot was = read_flow_status(&bucket->flows[i]);

		if (was.seen == SEEN_BUSY || flow_live(&was, context->now))
			continue;
		choose(place, index, i, &was, FREE);
		return;
	}
}

/* The first free entry of a bucket that has more of them than the place's. */
__noinline int free_in(__u32 index, const struct packet_context *context, struct flow_place *place)
{
	struct flow_bucket *bucket = flow_bucket(index);
	struct flow_place found = {};

	if (!bucket || !context || !place)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES; i++) {
		struct flow_snapshot was = read_flow_status(&bucket->flows[i]);

		if (was.seen == SEEN_BUSY || flow_live(&was, context->now))
			continue;
		if (!found.free)
			choose(&found, index, i, &was, FREE);
		found.free++;
	}
	if (found.free > place->free)
		*place = found;
	return 0;
}

/* A free entry in the emptier one of the flow's extra buckets. */
static __always_inline void free_extra_place(const struct packet_context *context, struct flow_place *place)
{
#pragma clang loop unroll(disable)
	for (int choice = 1; choice < BUCKET_CHOICES; choice++)
		free_in(bucket_choice(context->hash, choice), context, place);
}

/* A join that opens gives way to a stateful entry alone. A fresh flow does while the tables are those that gave it its
 * target. */
static __always_inline enum rank rank_of(const struct flow_snapshot *flow, __u32 now, enum insertion_priority priority)
{
	if (flow->seen == SEEN_BUSY)
		return STAYS;
	if (is_closing(flow))
		return within(now, flow->seen, settings.closing_timeout) ? CLOSES : CLOSED;
	if (flow->state & FLOW_FRESH)
		return flow->epoch == settings.epoch ? OPENS : STAYS;
	if (!half_open(flow) && !((flow->state & FLOW_STATE_MASK) == FLOW_JOINING && priority == STATEFUL))
		return STAYS;
	return within(now, flow->seen, HANDSHAKE) ? OPENS : HALF_OPEN;
}

/* Of the entries that give way first the one that was silent for longest. */
__noinline int weakest_in(__u32 index, const struct packet_context *context, __u32 priority, struct flow_place *place)
{
	struct flow_bucket *bucket = flow_bucket(index);

	if (!bucket || !context || !place)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES; i++) {
		struct flow_snapshot was = read_flow_status(&bucket->flows[i]);
		enum rank rank = rank_of(&was, context->now, priority);

		if (rank > place->rank ||
		    (rank != STAYS && rank == place->rank && context->now - was.seen > context->now - place->was.seen))
			choose(place, index, i, &was, rank);
	}
	return 0;
}

/* One of the entries of the flow's own bucket whose target the hash gives, too. Its key may be another's by now: then
 * the claim on it fails. */
__noinline int redundant_in(const struct packet_context *context, struct flow_place *place)
{
	struct flow_bucket *bucket;
	__u32 index;

	if (!context || !place)
		return 0;
	index = main_bucket(context->hash);
	bucket = flow_bucket(index);
#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
		struct flow *flow = &bucket->flows[i];
		struct flow_snapshot was = read_flow_status(flow);
		union flow_identity identity;
		struct address client;

		order_reads();
		identity = read_flow_identity(flow);
		client.high = READ_ONCE(flow->client.high);
		client.low = READ_ONCE(flow->client.low);
		if (was.seen != SEEN_BUSY && !identity.token && identity.vip == context->key.vip &&
		    hashed_target(context, &client, identity.port) == was.target)
			choose(place, index, i, &was, REDUNDANT);
	}
	return 0;
}

/* An entry that may give way to the flow: one that has closed, one that opens, or one that closes; else, for a stateful
 * entry, one of the flow's own bucket whose target the hash gives, too. */
static __always_inline void find_victim(const struct packet_context *context, enum insertion_priority priority,
					struct flow_place *place)
{
#pragma clang loop unroll(disable)
	for (int choice = 0; choice < BUCKET_CHOICES && place->rank < CLOSED; choice++)
		weakest_in(bucket_choice(context->hash, choice), context, priority, place);
	if (place->rank == STAYS && priority == STATEFUL)
		redundant_in(context, place);
}

/* True if a handshake in the flow's own bucket gives way because it takes too long, in a table that lately had no free
 * place: looking for one in the extra buckets costs two cache misses, and two of the TLB. Not for stateful flows: joins
 * would give way to them. */
static __always_inline bool gives_way_at_once(const struct packet_context *context, const struct target_signs *signs,
					      enum insertion_priority priority, struct flow_place *place)
{
	if (priority == STATEFUL || !signs || !signs->crowded || !within(context->now, signs->crowded, CROWDED) ||
	    context->hash >> 60 == 0)
		return false;
	weakest_in(main_bucket(context->hash), context, priority, place);
	return place->rank >= HALF_OPEN;
}

/* An entry for the packet's flow; none: there is no room. */
static __always_inline void insertion_place(const struct packet_context *context, enum insertion_priority priority,
					    struct flow_place *place)
{
	__u32 index = NO_TARGET;
	struct target_signs *signs;

	free_own_place(context, place);
	if (place->rank == FREE)
		return;
	signs = bpf_map_lookup_elem(&target_signs, &index);
	if (!gives_way_at_once(context, signs, priority, place)) {
		free_extra_place(context, place);
		if (place->rank == FREE)
			return;
		if (signs && signs->crowded != context->now)
			WRITE_ONCE(signs->crowded, context->now);
		find_victim(context, priority, place);
	}
	if (place->rank != STAYS && place->rank != CLOSED)
		count(context, FLOW_EVICTED);
}

static __always_inline void insert_flow(const struct packet_context *context, const struct flow_snapshot *value,
					enum insertion_priority priority)
{
	struct flow_place place = {};
	struct flow *flow;

	if (context->known || context->replaces)
		choose(&place, context->bucket, context->slot, &context->flow, FREE);
	else
		insertion_place(context, priority, &place);
	flow = place.rank == STAYS ? NULL : flow_at(place.bucket, place.slot);
	note_overflow(context, place.bucket);
	if (!flow)
		count(context, FLOW_FULL);
	else if (replace_flow(flow, &place.was, &context->key, value))
		count(context, FLOW_ADDED);
}

/* Writes the entry as it was decided. Where another processor has changed it since, that is lost: the next packet finds
 * it as it is then. */
__noinline int write_flow(const struct packet_context *context, const struct flow_write *write)
{
	struct flow *known;

	if (!context || !write)
		return 0;
	if (write->change >= STORES_STATELESS) {
		insert_flow(context, &write->value, write->change == STORES_STATEFUL ? STATEFUL : STATELESS);
		return 0;
	}
	known = known_entry(context);
	note_overflow(context, context->bucket);
	if (known && write->change == CHANGES_TOKEN)
		replace_flow(known, &context->flow, &context->key, &write->value);
	else if (known)
		compare_exchange(flow_status(known), context->flow.status, write->value.status);
	return 0;
}
