/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The token table: which backend holds the connection of a token. Built as the flow table is.
 *
 * Keys that were seen once make a provisional entry: anybody can send an ACK with keys in it. It is confirmed when its
 * connection goes on, and only then outlives `provisional_timeout`. No entry is ever overwritten with another backend while
 * it lives. */
#pragma once

#include "balancer/claim.h"
#include "balancer/context.h"
#include "balancer/targets.h"

static __always_inline bool token_live(const struct token_entry *entry, __u32 now)
{
	__u32 timeout = entry->state == TOKEN_CONFIRMED ? settings.token_timeout : settings.provisional_timeout;

	return entry->seen && entry->seen != SEEN_BUSY && within(now, entry->seen, timeout);
}

static __always_inline struct token_bucket *token_bucket(__u32 index)
{
	return bpf_map_lookup_elem(&tokens, &index);
}

/* The place `choice` for a token: 0 its bucket, 1 and 2 its extra buckets. */
static __always_inline struct token_bucket *token_place_bucket(__u64 hash, int choice)
{
	__u32 half = choice == 1 ? (__u32)(hash >> 32) : (__u32)((hash * HASH_MULTIPLIER) >> 32);

	if (!choice)
		return token_bucket((__u32)hash & (TOKEN_BUCKETS - 1));
	return token_bucket(TOKEN_BUCKETS + (__u32)(((__u64)half * TOKEN_EXTRA) >> 32));
}

static __always_inline struct token_entry *find_token(const struct job *job, __u32 token)
{
	__u64 hash = hash_token(settings.seed, token, job->key.vip);

	for (int choice = 0; choice < 3; choice++) {
		struct token_bucket *bucket = token_place_bucket(hash, choice);

		for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
			struct token_entry *entry = &bucket->tokens[i];

			if (entry->token == token && entry->vip == job->key.vip &&
			    token_live(entry, job->now))
				return entry;
		}
	}
	return NULL;
}

/* A free entry, or else the provisional one that was silent for longest; NULL: all are confirmed. */
static __always_inline struct token_entry *token_place(const struct job *job, __u32 token)
{
	__u64 hash = hash_token(settings.seed, token, job->key.vip);
	struct token_entry *oldest = NULL;

	for (int choice = 0; choice < 3; choice++) {
		struct token_bucket *bucket = token_place_bucket(hash, choice);

		for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
			struct token_entry *entry = &bucket->tokens[i];

			if (entry->seen == SEEN_BUSY)
				continue;
			if (!token_live(entry, job->now))
				return entry;
			if (entry->state == TOKEN_CONFIRMED)
				continue;
			if (!oldest || job->now - entry->seen > job->now - oldest->seen)
				oldest = entry;
		}
	}
	if (oldest)
		count(job, TOKEN_EVICTED);
	return oldest;
}

static __always_inline void renew_token(const struct job *job, struct token_entry *entry, enum token_state state)
{
	if (state == TOKEN_CONFIRMED) {
		count(job, entry->state == TOKEN_CONFIRMED ? TOKEN_REFRESHED : TOKEN_CONFIRMS);
		entry->state = TOKEN_CONFIRMED;
		entry->joins = 0;
	}
	entry->seen = job->now;
}

/* Remembers that the connection of `token` is with `target`. False: the token is taken, or there is no room. */
__noinline int learn_token(const struct job *job, __u32 token, __u32 target, enum token_state state)
{
	struct token_entry *entry;
	__u32 was;

	if (DRY_RUN || !job)
		return true;
	entry = find_token(job, token);
	if (entry && entry->target == target) {
		renew_token(job, entry, state);
		return true;
	}
	if (entry && target_up(entry->target)) {
		count(job, TOKEN_COLLISION);
		return false;
	}
	if (!entry)
		entry = token_place(job, token);
	if (!entry) {
		count(job, TOKEN_FULL);
		return false;
	}
	was = entry->seen;
	if (was == SEEN_BUSY || !claim(&entry->seen, was))
		return false;
	entry->token = token;
	entry->vip = job->key.vip;
	entry->target = target;
	entry->state = state;
	entry->joins = 0;
	barrier();
	entry->seen = job->now;
	count(job, TOKEN_ADDED);
	return true;
}
