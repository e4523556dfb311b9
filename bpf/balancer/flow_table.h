/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The flow table: 5-tuple to target.
 *
 * Buckets of four. A flow whose bucket is full goes to the emptier of two buckets in an extra area that all buckets
 * share (RomanRoads, section IV, has a list of extra buckets; two choices need no list and fill the area more evenly).
 *
 * Writers claim an entry by an exchange on `seen`; readers take an entry that is being written for absent. Two processors that
 * store one flow at the same moment may store it twice: both copies say the same, and the second expires. */
#pragma once

#include "balancer/claim.h"
#include "balancer/context.h"
#include "balancer/targets.h"

/* What a new entry is worth when there is no room. */
enum worth {
	BY_HASH,   /* the hash says the same: may take free and provisional places */
	BY_MEMORY, /* only this entry knows: may also take the place of an established flow that the hash explains */
};

static __always_inline bool gives_way(__u8 state, enum worth worth)
{
	state &= FLOW_STATE_MASK;
	return state == FLOW_NEW || state == FLOW_LEARNING || (state == FLOW_JOINING && worth == BY_MEMORY);
}

static __always_inline __u32 flow_timeout(__u8 state)
{
	switch (state & FLOW_STATE_MASK) {
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

static __always_inline bool flow_live(const struct flow *flow, __u32 now)
{
	__u32 seen = flow->seen;

	return seen && seen != SEEN_BUSY && within(now, seen, flow_timeout(flow->state));
}

/* A flow that nobody else may take over: alive, and heard of lately. */
static __always_inline bool in_use(const struct flow *flow, const struct job *job)
{
	return (flow->state & FLOW_STATE_MASK) == FLOW_ESTABLISHED && within(job->now, flow->seen, settings.syn_timeout);
}

static __always_inline struct flow_bucket *flow_bucket(__u32 index)
{
	return bpf_map_lookup_elem(&flows, &index);
}

#define BUCKET_CHOICES 3

static __always_inline __u32 main_bucket(__u64 hash)
{
	return (__u32)hash & (FLOW_BUCKETS - 1);
}

/* The buckets of a flow: its own, and two extra ones. */
static __always_inline __u32 bucket_choice(__u64 hash, int choice)
{
	__u32 half = choice == 1 ? (__u32)(hash >> 32) : (__u32)((hash * HASH_MULTIPLIER) >> 32);

	return choice ? FLOW_BUCKETS + (__u32)(((__u64)half * FLOW_EXTRA) >> 32) : main_bucket(hash);
}

static __always_inline void find_in(__u32 index, struct job *job)
{
	const struct flow_key *key = &job->key;
	struct flow_bucket *bucket = flow_bucket(index);

	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
		struct flow *flow = &bucket->flows[i];

		if (flow->client.low == key->client.low && flow->client.high == key->client.high &&
		    flow->port == key->port && flow->vip == key->vip && flow_live(flow, job->now)) {
			job->bucket = index;
			job->slot = i;
			job->known = true;
			return;
		}
	}
}

/* Looks for the flow under way, and notes where its entry is. */
static __always_inline void find_flow(struct job *job)
{
	job->known = false;
	for (int choice = 0; choice < BUCKET_CHOICES && !job->known; choice++)
		find_in(bucket_choice(job->hash, choice), job);
}

/* The entry that find_flow found; NULL: none. */
static __always_inline struct flow *known_flow(const struct job *job)
{
	struct flow_bucket *bucket = job->known ? flow_bucket(job->bucket) : NULL;

	return bucket ? &bucket->flows[job->slot & (BUCKET_ENTRIES - 1)] : NULL;
}

/* How many entries of a bucket are free, and one of them. */
static __always_inline int free_in(struct flow_bucket *bucket, __u32 now, struct flow **place)
{
	int free = 0;

#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES; i++) {
		struct flow *flow = &bucket->flows[i];

		if (flow->seen == SEEN_BUSY || flow_live(flow, now))
			continue;
		*place = flow;
		free++;
	}
	return free;
}

/* A free entry in the flow's bucket, else in the emptier one of its extra buckets. */
static __always_inline struct flow *free_place(const struct job *job)
{
	struct flow *place = NULL;
	int most = 0;

#pragma clang loop unroll(disable)
	for (int choice = 0; choice < BUCKET_CHOICES; choice++) {
		struct flow_bucket *bucket = flow_bucket(bucket_choice(job->hash, choice));
		struct flow *found = NULL;
		int free = bucket ? free_in(bucket, job->now, &found) : 0;

		if (free > most) {
			most = free;
			place = found;
		}
		if (choice == 0 && most)
			break;
	}
	return place;
}

/* Of the entries that just opened the one that was silent for longest. A join gives way to a join alone. */
static __always_inline struct flow *opened_in(struct flow_bucket *bucket, const struct job *job, enum worth worth)
{
	struct flow *oldest = NULL;

#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
		struct flow *flow = &bucket->flows[i];

		if (flow->seen == SEEN_BUSY || !gives_way(flow->state, worth))
			continue;
		if (!oldest || job->now - flow->seen > job->now - oldest->seen)
			oldest = flow;
	}
	return oldest;
}

/* One of the entries that say no more than the hash does. */
static __always_inline struct flow *explained_in(struct flow_bucket *bucket, const struct job *job)
{
	struct flow *explained = NULL;

#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
		struct flow *flow = &bucket->flows[i];

		if (flow->seen != SEEN_BUSY && !flow->token && flow->vip == job->key.vip &&
		    hashed_target(job, &flow->client, flow->port) == flow->target)
			explained = flow;
	}
	return explained;
}

/* An entry that may give way to the flow: one that just opened, else, for a flow that only its entry will know, one of the flow's own
 * bucket that says no more than the hash does. */
static __always_inline struct flow *taken_place(const struct job *job, enum worth worth)
{
#pragma clang loop unroll(disable)
	for (int choice = 0; choice < BUCKET_CHOICES; choice++) {
		struct flow *opened = opened_in(flow_bucket(bucket_choice(job->hash, choice)), job, worth);

		if (opened)
			return opened;
	}
	return worth == BY_MEMORY ? explained_in(flow_bucket(main_bucket(job->hash)), job) : NULL;
}

/* A place for the flow under way; NULL: there is none. */
static __always_inline struct flow *flow_place(const struct job *job, enum worth worth)
{
	struct flow *place = free_place(job);

	if (place)
		return place;
	place = taken_place(job, worth);
	if (place)
		count(job, FLOW_EVICTED);
	return place;
}

struct flow_value {
	__u32 token;
	__u16 target;
	__u8 state;
};

/* Stores the flow under way, over what was known of it. */
__noinline int store_flow(const struct job *job, const struct flow_value *value, enum worth worth)
{
	struct flow *flow;
	__u32 was;

	if (DRY_RUN || !job || !value)
		return 0;
	flow = known_flow(job);
	if (!flow)
		flow = flow_place(job, worth);
	if (!flow) {
		count(job, FLOW_FULL);
		return 0;
	}
	was = flow->seen;
	if (was == SEEN_BUSY || !claim(&flow->seen, was))
		return 0;
	flow->client = job->key.client;
	flow->port = job->key.port;
	flow->vip = job->key.vip;
	flow->token = value->token;
	flow->target = value->target;
	flow->state = value->state;
	flow->epoch = settings.epoch;
	barrier();
	flow->seen = job->now;
	count(job, FLOW_ADDED);
	return 1;
}
